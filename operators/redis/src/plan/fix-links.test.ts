import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forgetGhosts, forgetLeftovers, repairReplicas } from './fix-links.ts';
import { brief, openAt } from './moves-testing.ts';
import { clusterNodes, idOf, type TestNode, testNode, viewOfNodes } from './testing.ts';

/** `old` was deleted and reset while p0r0 was away, which still knows it. */
function worldWith(remembered: Partial<TestNode>, change: Partial<TestNode> = {}) {
  const ours = ['p0', 'p0r0', 'p1', 'p1r0', 'p2', 'p2r0'];
  const nodes = Object.fromEntries(ours.map((name) => [name, { knows: ours.map(idOf) }]));
  const old = testNode('old', { host: '10.9.0.1', knows: [] });
  const all = clusterNodes({ primaries: 3, replicas: 1, nodes, extra: [old] });
  const line = { ...old, ...remembered };
  const seen = viewOfNodes(
    all.map((node) =>
      node.id === idOf('p0r0') ? { ...node, knows: [...ours.map(idOf), idOf('old')], ...change } : node,
    ),
  );
  // What it remembers need not be what is so.
  const nodesOf = seen.nodes.map((node) =>
    node.id === idOf('p0r0') && node.report.known
      ? {
          ...node,
          report: {
            ...node.report,
            value: {
              ...node.report.value,
              others: node.report.value.others.map((other) =>
                other.id === idOf('old') && line.slots !== ''
                  ? { ...other, slots: [[Number(line.slots), Number(line.slots)]] as const }
                  : other,
              ),
            },
          },
        }
      : node,
  );
  return { ...seen, nodes: nodesOf };
}

test('a node that was reset is forgotten by who still knows it', () => {
  assert.deepEqual(brief(forgetLeftovers(worldWith({}))), ['forget old by p0,p0r0,p1,p1r0,p2,p2r0']);
});

test('but not before everybody has heard that nothing is there: one that is importing hears nothing', () => {
  const importing = { importing: openAt([7], idOf('old')) };
  assert.deepEqual(forgetLeftovers(worldWith({ slots: '7' }, importing)), []);
});

/** `gone` left and got another id while some were away: these have it in their tables still, without an address. */
function haunted(knownTo: readonly string[], change: Partial<TestNode> = {}) {
  const ours = ['p0', 'p0r0', 'p1', 'p1r0', 'p2', 'p2r0'];
  const knows = (name: string) => [...ours, ...(knownTo.includes(name) ? ['gone'] : [])].map(idOf);
  const nodes = Object.fromEntries(ours.map((name) => [name, { knows: knows(name) }]));
  const gone = testNode('gone', { host: '', port: 0, flags: ['noaddr'], unreachable: 'no address', ...change });
  return viewOfNodes(clusterNodes({ primaries: 3, replicas: 1, nodes, extra: [gone] }));
}

test('an id without an address that most have forgotten is forgotten by the rest', () => {
  const all = 'forget gone by p0,p0r0,p1,p1r0,p2,p2r0';
  assert.deepEqual(brief(forgetGhosts(haunted(['p1']))), [all]);
  assert.deepEqual(brief(forgetGhosts(haunted(['p1', 'p2r0']))), [all]);
});

test('but not one that half of them know, that has an address, or that owns slots: it may be a member that has moved', () => {
  assert.deepEqual(forgetGhosts(haunted(['p0', 'p1', 'p2'])), []);
  assert.deepEqual(forgetGhosts(haunted(['p1'], { flags: ['fail'] })), []);
  assert.deepEqual(forgetGhosts(haunted(['p1'], { slots: '7' })), []);
  assert.deepEqual(forgetGhosts(haunted([])), []);
});

test('nor one that somebody follows: that one gets another primary first', () => {
  const ours = ['p0', 'p0r0', 'p1', 'p1r0', 'p2', 'p2r0'];
  const nodes = Object.fromEntries(ours.map((name) => [name, { knows: ours.map(idOf) }]));
  const gone = testNode('gone', { host: '', port: 0, flags: ['noaddr'], unreachable: 'no address' });
  const back = testNode('back', {
    ...{ host: '10.9.0.1', role: 'replica', primaryId: gone.id, knows: [...ours, 'gone', 'back'].map(idOf) },
  });
  const view = viewOfNodes(clusterNodes({ primaries: 3, replicas: 1, nodes, extra: [gone, back] }));
  assert.deepEqual(forgetGhosts(view), []);
  assert.equal(repairReplicas(view, ['host']).length, 1);
});
