import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Clock } from '@reeve/runtime';
import type { RedisPort } from '../api/port.ts';
import type { ClusterView } from '../api/view.ts';
import { type ObserveOptions, observeCluster } from './observe.ts';
import { VALKEY_INFO } from './samples.ts';
import { type ScriptedServer, scriptedPort, serverWith, valkeyAnswers } from './scripted.ts';

const clock: Clock = { now: () => 4711, sleep: async () => undefined };
const id = (letter: string) => letter.repeat(40);
const A = id('a');
const B = id('b');
const C = id('c');

/** A node table: `letter@port` or `letter@port flags`, the first being the reporter. */
function table(self: string, ...others: readonly string[]): string {
  const line = (text: string, myself: boolean) => {
    const [who = '', flags = 'master'] = text.split(' ');
    const [letter = '', port = ''] = who.split('@');
    const address = port === '' ? ':0@0' : `10.0.0.1:${port}@1${port}`;
    return `${id(letter)} ${address} ${myself ? 'myself,' : ''}${flags} - 0 0 1 connected`;
  };
  return [line(self, true), ...others.map((other) => line(other, false))].join('\n');
}

function server(nodes: string, runId = nodes.slice(0, 40)): ScriptedServer {
  return serverWith({ ...valkeyAnswers(nodes), INFO: VALKEY_INFO.replace(/run_id:\w+/, `run_id:${runId}`) });
}

function observe(port: RedisPort, ports: readonly number[], options: ObserveOptions = {}): Promise<ClusterView> {
  return observeCluster(
    port,
    { clock },
    ports.map((number) => ({ host: '10.0.0.1', port: number })),
    options,
  );
}

function nodeOf(view: ClusterView, nodeId: string) {
  const node = view.nodes.find((candidate) => candidate.id === nodeId);
  assert.ok(node, `no node ${nodeId}`);
  return node;
}

function whyUnknown(view: ClusterView, nodeId: string): string {
  const { report } = nodeOf(view, nodeId);
  return report.known ? 'known' : report.why;
}

test('one seed leads to all members, each asked once', async () => {
  const port = scriptedPort({
    '10.0.0.1:1': server(table('a@1', 'b@2')),
    '10.0.0.1:2': server(table('b@2', 'a@1', 'c@3')),
    '10.0.0.1:3': server(table('c@3', 'a@1', 'b@2')),
  });
  const view = await observe(port, [1]);
  assert.deepEqual(
    view.nodes.map((node) => [node.id, node.endpoint.port, node.report.known]),
    [
      [A, 1, true],
      [B, 2, true],
      [C, 3, true],
    ],
  );
  assert.deepEqual(view.silent, []);
  assert.equal(view.observedAt, 4711);
  assert.equal(port.log.filter((line) => line.endsWith('CLUSTER NODES')).length, 3);
});

test('what each says of the others is kept, also where they differ', async () => {
  const port = scriptedPort({
    '10.0.0.1:1': server(table('a@1', 'b@2 master,fail', 'c@3')),
    '10.0.0.1:2': server(table('b@2', 'a@1', 'c@3')),
    '10.0.0.1:3': server(table('c@3', 'a@1', 'b@2')),
  });
  const view = await observe(port, [1]);
  assert.deepEqual(
    nodeOf(view, B).heard.map(({ by, line }) => [by, line.flags]),
    [
      [[A], ['master', 'fail']],
      [[C], ['master']],
    ],
  );
});

test('whatever tables say, each line is heard once, from all who have it', async () => {
  const letters = ['a', 'b', 'c', 'd'] as const;
  const anyLine = fc.record({
    about: fc.constantFrom(0, 1, 2, 3),
    flags: fc.constantFrom('master', 'master', 'master', 'master,fail', 'slave', 'handshake'),
  });
  // Also what no server prints: the same node twice, alike or not, and the owner of the table among the others.
  const anyTables = fc.array(fc.array(anyLine, { maxLength: 6 }), { minLength: 4, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(anyTables, async (tables) => {
      const rows = tables.map((lines) => lines.map(({ about, flags }) => `${letters[about]}@${about + 1} ${flags}`));
      const port = scriptedPort(
        Object.fromEntries(
          letters.map((letter, by) => [
            `10.0.0.1:${by + 1}`,
            server(table(`${letter}@${by + 1}`, ...(rows[by] ?? [])), `run${by}`),
          ]),
        ),
      );
      const view = await observe(port, [1, 2, 3, 4]);
      assert.equal(view.nodes.length, 4);
      for (const [about, { heard }] of view.nodes.entries()) {
        const expected = letters.flatMap((letter, by) => {
          const flags = by === about ? undefined : tables[by]?.find((line) => line.about === about)?.flags;
          return flags === undefined || flags === 'handshake' ? [] : [`${id(letter)} ${flags}`];
        });
        const said = heard.flatMap(({ by, line }) => by.map((one) => `${one} ${line.flags.join()}`));
        assert.deepEqual(said.sort(), expected);
        assert.equal(new Set(heard.map(({ line }) => line)).size, heard.length);
        const first = heard.map(({ by }) => by[0] ?? '');
        assert.deepEqual(first, first.toSorted());
      }
    }),
    { numRuns: 300 },
  );
});

test('a line that one has twice does not stand for one that another lacks', async () => {
  const tables = (a: readonly string[]) => ({
    '10.0.0.1:1': server(table('a@1', ...a)),
    '10.0.0.1:2': server(table('b@2', 'a@1')),
    '10.0.0.1:3': server(table('c@3', 'a@1', 'b@2', 'd@4')),
  });
  const whoSays = (view: ClusterView, node: string) => nodeOf(view, node).heard.map(({ by }) => by);
  // By count three say it, and there are three.
  const twice = await observe(scriptedPort(tables(['b@2', 'c@3', 'd@4', 'd@4'])), [1, 2, 3]);
  assert.deepEqual(whoSays(twice, id('d')), [[A, C]]);
  // By count two say it of the first, and two others there are.
  const ofItself = { ...tables(['a@1', 'b@2', 'c@3']), '10.0.0.1:2': server(table('b@2', 'c@3')) };
  const itself = await observe(scriptedPort(ofItself), [1, 2, 3]);
  assert.deepEqual(whoSays(itself, A), [[C]]);
});

test('a table is believed also if the rest of its node could not be read', async () => {
  const broken = serverWith(valkeyAnswers(table('a@1', 'c@3').replace('myself,', '')));
  const port = scriptedPort({
    '10.0.0.1:1': broken,
    '10.0.0.1:2': server(table('b@2', 'c@3')),
    '10.0.0.1:3': server(table('c@3', 'b@2')),
  });
  const view = await observe(port, [1, 2]);
  assert.equal(nodeOf(view, C).report.known, true, 'who was in a table that led nowhere is asked all the same');
});

test('without discovery only the given addresses are asked', async () => {
  const port = scriptedPort({ '10.0.0.1:1': server(table('a@1', 'b@2')), '10.0.0.1:2': server(table('b@2', 'a@1')) });
  const view = await observe(port, [1], { discover: false });
  assert.equal(whyUnknown(view, B), '10.0.0.1:2 was not asked');
  assert.ok(!port.log.some((line) => line.startsWith('10.0.0.1:2')));
});

test('annotations: the host is the address unless told otherwise', async () => {
  const port = scriptedPort({ '10.0.0.1:1': server(table('a@1', 'b@2')), '10.0.0.1:2': server(table('b@2', 'a@1')) });
  const annotations: ObserveOptions['annotations'] = ({ port: number }) =>
    number === 1 ? { zone: 'west' } : { host: 'rack-7' };
  const view = await observe(port, [1], { annotations });
  assert.deepEqual(nodeOf(view, A).annotations, { host: '10.0.0.1', zone: 'west' });
  assert.deepEqual(nodeOf(view, B).annotations, { host: 'rack-7' });
});

describe('who does not answer', () => {
  test('a member is known of and unknown', async () => {
    const port = scriptedPort({ '10.0.0.1:1': server(table('a@1', 'b@2')) });
    const view = await observe(port, [1]);
    assert.equal(whyUnknown(view, B), 'no connection to 10.0.0.1:2');
    assert.deepEqual(nodeOf(view, B).endpoint, { host: '10.0.0.1', port: 2 });
    assert.deepEqual(view.silent, []);
  });

  test('an address of which nobody says who is there is silent, with the code', async () => {
    const off = new Error('ERR This instance has cluster support disabled');
    const port = scriptedPort({
      '10.0.0.1:1': server(table('a@1')),
      '10.0.0.1:8': serverWith({ ...valkeyAnswers(''), 'CLUSTER NODES': off }),
    });
    const view = await observe(port, [1, 9], { alsoAsk: [{ host: '10.0.0.1', port: 8 }] });
    assert.deepEqual(
      view.silent.map(({ endpoint, code }) => [endpoint.port, code]),
      [
        [8, 'CLUSTER_DISABLED'],
        [9, 'REDIS_UNREACHABLE'],
      ],
    );
    assert.deepEqual(
      view.nodes.map((node) => node.id),
      [A],
    );
  });

  test('a node without an address cannot be asked, and is said so', async () => {
    const view = await observe(scriptedPort({ '10.0.0.1:1': server(table('a@1', 'b@ slave,fail,noaddr')) }), [1]);
    assert.equal(whyUnknown(view, B), 'no node knows its address');
    assert.deepEqual(nodeOf(view, B).endpoint, { host: '', port: 0 });
  });

  test('nobody answers: an empty view and the reasons', async () => {
    const view = await observe(scriptedPort({}), [1, 2]);
    assert.deepEqual(view.nodes, []);
    assert.equal(view.silent.length, 2);
  });
});

test('the made-up id of a handshake is no node and its address is not followed', async () => {
  const port = scriptedPort({
    '10.0.0.1:1': server(table('a@1', 'd@2 handshake')),
    '10.0.0.1:2': server(table('b@2')),
  });
  const view = await observe(port, [1]);
  assert.deepEqual(
    view.nodes.map((node) => node.id),
    [A],
  );
  assert.equal(
    port.log.some((line) => line.startsWith('10.0.0.1:2')),
    false,
  );
  // The reporter's own table keeps it: a check tells that a handshake is under way.
  const { report } = nodeOf(view, A);
  assert.deepEqual(report.known && report.value.others.map((line) => line.flags), [['handshake']]);
});

describe('addresses and identities', () => {
  test('one server under two addresses is one node, at the address by which the others know it', async () => {
    const a = server(table('a@1', 'b@2'));
    const port = scriptedPort({ '10.0.0.1:1': a, '10.0.0.1:11': a, '10.0.0.1:2': server(table('b@2', 'a@1')) });
    const view = await observe(port, [11]);
    assert.equal(view.nodes.length, 2);
    assert.deepEqual(nodeOf(view, A).endpoint, { host: '10.0.0.1', port: 1 });
    assert.equal(nodeOf(view, A).report.known, true);
    assert.deepEqual(view.silent, []);
  });

  test('two servers with one id: what the node thinks is unknown, and both are named', async () => {
    const nodes = table('a@1', 'b@2');
    const port = scriptedPort({
      '10.0.0.1:1': server(nodes, 'first'),
      '10.0.0.1:11': server(nodes, 'second'),
      '10.0.0.1:2': server(table('b@2', 'a@1')),
    });
    const view = await observe(port, [1, 11]);
    assert.match(whyUnknown(view, A), /several servers answer with this id: at 10.0.0.1:1 and 10.0.0.1:11/);
    assert.deepEqual(
      view.silent.map(({ endpoint, code }) => [endpoint.port, code]),
      [
        [1, 'REDIS_ID_TWICE'],
        [11, 'REDIS_ID_TWICE'],
      ],
    );
    // Nobody can say whose lines those are.
    assert.deepEqual(nodeOf(view, B).heard, []);
  });

  test('another node answers where a member should be', async () => {
    const port = scriptedPort({
      '10.0.0.1:1': server(table('a@1', 'b@2')),
      '10.0.0.1:2': server(table('c@2')),
    });
    const view = await observe(port, [1]);
    assert.equal(whyUnknown(view, B), `at 10.0.0.1:2 another node answers: ${C}`);
    assert.deepEqual(nodeOf(view, C).endpoint, { host: '10.0.0.1', port: 2 });
    assert.equal(nodeOf(view, C).report.known, true);
  });

  test('a node that moved is found where it answers, and the others are heard', async () => {
    const port = scriptedPort({
      '10.0.0.1:1': server(table('a@1', 'b@2')),
      '10.0.0.1:22': server(table('b@22', 'a@1')),
    });
    const view = await observe(port, [1, 22]);
    assert.deepEqual(nodeOf(view, B).endpoint, { host: '10.0.0.1', port: 22 });
    assert.equal(nodeOf(view, B).report.known, true);
    assert.equal(nodeOf(view, B).heard[0]?.line.port, 2);
    assert.deepEqual(view.silent, [], 'the old address is accounted for by the node itself');
  });

  test('the address that most name comes first', async () => {
    const port = scriptedPort({
      '10.0.0.1:1': server(table('a@1', 'c@3', 'd@8')),
      '10.0.0.1:2': server(table('b@2', 'c@4', 'd@9')),
      '10.0.0.1:5': server(table('e@5', 'c@4', 'd@9')),
    });
    const view = await observe(port, [1, 2, 5]);
    assert.deepEqual(nodeOf(view, C).endpoint, { host: '10.0.0.1', port: 4 });
    assert.equal(whyUnknown(view, C), 'no connection to 10.0.0.1:4; no connection to 10.0.0.1:3');
  });
});

test('hundreds of nodes: tables that say the same are held once', async () => {
  const count = 300;
  const name = (n: number) => n.toString(16).padStart(40, '0');
  const text = (reporter: number) =>
    Array.from({ length: count }, (_, n) => {
      const flags = n === reporter ? 'myself,master' : 'master';
      return `${name(n)} 10.0.0.1:${n + 1}@${n + 20001} ${flags} - 0 ${reporter}${n} ${n} connected ${n * 50}-${n * 50 + 49}`;
    }).join('\n');
  const port = scriptedPort(
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`10.0.0.1:${n + 1}`, server(text(n), `run${n}`)])),
  );
  const view = await observe(port, [1]);
  assert.equal(view.nodes.length, count);
  for (const node of view.nodes) {
    const others = view.nodes.map(({ id: other }) => other).filter((other) => other !== node.id);
    assert.deepEqual(
      node.heard.map(({ by }) => by),
      [others],
    );
  }
});
