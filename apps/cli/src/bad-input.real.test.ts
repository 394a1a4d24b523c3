/** Input that must be refused with its reason, changing nothing: the real program on real servers. On the model: tests/bad-input.test.ts. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Cluster, type Server, startCluster, startServer, startServers, until } from '@reeve/rig';
import { disguised } from '../tests/disguise.ts';
import { address, reeve as runReeve } from '../tests/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-cli-'));
const journals = join(folder, 'state', 'reeve');

const reeve = (...args: readonly string[]) => runReeve(join(folder, 'state'), ...args);

/** What a server knows and holds, without what changes by itself: times of pings, links, suspicions. */
async function stateOf(server: Server): Promise<string> {
  const nodes = String(await server.call('CLUSTER', 'NODES'))
    .split('\n')
    .map((line) =>
      line
        .split(' ')
        .filter((_, index) => ![4, 5, 7].includes(index))
        .join(' ')
        .replace(',fail?', ''),
    )
    .sort();
  return `${nodes.join('\n')}\n${String(await server.call('DBSIZE'))}`;
}

/** Refused with 3 (or `code`) and the reason; no server changed, no journal begun. */
async function refused(servers: readonly Server[], args: readonly string[], expected: RegExp, code = 3): Promise<void> {
  const statesBefore = await Promise.all(servers.map(stateOf));
  const ran = await reeve('redis', ...args, '--yes');
  assert.equal(ran.code, code, `${ran.out}\n${ran.err}`);
  assert.match(ran.out + ran.err, expected);
  assert.deepEqual(await Promise.all(servers.map(stateOf)), statesBefore);
  assert.deepEqual(entries(journals), []);
}

function entries(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return []; // not there: no journal was ever begun
  }
}

let empty: readonly Server[] = [];
let one: Cluster;
let other: Cluster;

before(async () => {
  [empty, one, other] = await Promise.all([
    startServers(6, { product: 'valkey' }),
    startCluster({ product: 'valkey', primaries: 3 }),
    startCluster({ product: 'valkey', primaries: 3 }),
  ]);
});

after(async () => {
  await Promise.all([...empty.map((server) => server.stop()), one?.stop(), other?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

test('create with fewer than three primaries is refused', async () => {
  await refused(empty.slice(0, 2), ['create', ...empty.slice(0, 2).map(address)], /\[TOO_FEW_PRIMARIES\]/);
  await refused(
    empty.slice(0, 5),
    ['create', ...empty.slice(0, 5).map(address), '--replicas', '1'],
    /\[TOO_FEW_PRIMARIES\]/,
  );
});

test('create with a server that is not empty is refused', async () => {
  const servers = empty.slice(0, 3) as [Server, Server, Server];
  const [, , third] = servers;
  await third.call('CLUSTER', 'ADDSLOTSRANGE', 0, 16383);
  await until('it takes writes', async () => String(await third.call('CLUSTER', 'INFO')).includes('cluster_state:ok'));
  await third.call('SET', 'precious', 'value');
  await third.call('CLUSTER', 'DELSLOTSRANGE', 0, 16383);
  await refused(servers, ['create', ...servers.map(address)], /\[NODE_NOT_EMPTY\]/);
});

test('a wrong password is refused', async () => {
  const locked = await startServer({ product: 'valkey', password: 'right' });
  try {
    const file = join(folder, 'password');
    writeFileSync(file, 'wrong\n', { mode: 0o600 });
    const ran = await reeve('redis', 'status', address(locked), '--password-file', file);
    assert.equal(ran.code, 1);
    assert.match(ran.err, /\[REDIS_AUTH\]/);
    assert.doesNotMatch(ran.err, /wrong\b(?! password)/i);
    const all = [locked, ...empty.slice(0, 2)];
    await refused(all, ['create', ...all.map(address), '--password-file', file], /\[REDIS_AUTH\]|did not let us in/);
  } finally {
    await locked.stop();
  }
});

test('a node of another cluster is refused by create and by add-node', async () => {
  const stranger = other.servers[0] as Server;
  const fresh = empty.slice(0, 2);
  await refused([...fresh, stranger], ['create', ...[...fresh, stranger].map(address)], /\[NODE_OF_OTHER_CLUSTER\]/);
  const member = one.servers[0] as Server;
  await refused(
    [...one.servers, stranger],
    ['add-node', address(member), '--node', address(stranger)],
    /\[NODE_HAS_SLOTS\]/,
  );
});

test('two clusters that do not know each other are refused as one', async () => {
  const [a, b] = [one.servers[0] as Server, other.servers[0] as Server];
  const all = [...one.servers, ...other.servers];
  await refused(all, ['reshard', address(a), address(b), '--to', address(a), '--slots', '5'], /SPLIT_CLUSTER/);
  await refused(all, ['rebalance', address(a), address(b)], /SPLIT_CLUSTER/);
  await refused(all, ['fix', address(a), address(b)], /SPLIT_CLUSTER/);
});

test('an unsupported version is refused, whatever is asked: also by --resume and --rollback', async () => {
  const [old, ...others] = empty.slice(3) as [Server, Server, Server];
  const version = /valkey_version:(\d+)\./.exec(String(await old.call('INFO', 'server')))?.[1] ?? '';
  // As many digits: the length of the reply stays right.
  const ancient = '7'.padStart(version.length, '0');
  const proxy = await disguised(old, `valkey_version:${version}.`, `valkey_version:${ancient}.`);
  try {
    const servers = [old, ...others];
    const reason = new RegExp(`is valkey ${ancient}\\.[\\d.]+; supported are .*\\[UNSUPPORTED_VERSION\\]`);
    await refused(servers, ['create', proxy.address, ...others.map(address)], reason);
    await refused(servers, ['fix', proxy.address], reason);
    const journal = join(folder, 'old.json');
    const [source, target] = await Promise.all(servers.map((server) => server.call('CLUSTER', 'MYID')));
    const goal = { moves: [{ source, target, slots: '0-9' }], engine: 'auto', pace: 'gentle' };
    const header = {
      version: 1,
      operationId: 'o',
      kind: 'reshard',
      goal,
      digest: 'v1-0',
      seeds: [proxy.endpoint],
      at: 0,
    };
    for (const how of ['--resume', '--rollback']) {
      writeFileSync(journal, `${JSON.stringify(header)}\n`);
      await refused(servers, ['reshard', how, journal], reason);
    }
    assert.ok(proxy.replaced >= 4, 'the servers were asked for their version');
  } finally {
    proxy.close();
  }
});

test('a plan that went stale between approval and run is refused', async () => {
  const [a, b, c] = one.servers as readonly [Server, Server, Server];
  const line = ['reshard', address(a), '--to', address(b), '--slots', '7'];
  const planned = await reeve('redis', ...line, '--dry-run', '--json');
  assert.equal(planned.code, 0, planned.err);
  const { digest } = (JSON.parse(planned.out) as { plan: { digest: string } }).plan;
  // Somebody else moves the slot that the plan takes first.
  const id = String(await c.call('CLUSTER', 'MYID'));
  for (const server of [c, a, b]) await server.call('CLUSTER', 'SETSLOT', 0, 'NODE', id);
  const statesBefore = await Promise.all(one.servers.map(stateOf));
  const ran = await reeve('redis', ...line, '--approve', digest);
  assert.equal(ran.code, 3, ran.out + ran.err);
  assert.match(ran.out, /\[PLAN_STALE\]/);
  assert.deepEqual(await Promise.all(one.servers.map(stateOf)), statesBefore);
  assert.deepEqual(entries(journals), []);
});
