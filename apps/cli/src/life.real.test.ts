/** The life of a cluster through the real program: with TLS, an ACL user and a password file, killed and interrupted on the way. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  type Certificates,
  makeCertificates,
  parseNodes,
  type Server,
  serverCheck,
  startServer,
  startServers,
  tagForSlot,
  until,
} from '@reeve/rig';
import { address, type Ran, reeve, start } from '../tests/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-life-'));
const state = join(folder, 'state');
const password = 'not-to-be-seen';
const users = ['user default off', `user admin on >${password} ~* &* +@all`];

let tls: Certificates;
let servers: readonly Server[] = [];
let spare: Server;
let secrets: readonly string[] = [];

before(async () => {
  tls = await makeCertificates();
  const options = { product: 'valkey' as const, tls, users, username: 'admin', password };
  servers = await startServers(6, options);
  spare = await startServer(options);
  const file = join(folder, 'password');
  writeFileSync(file, `${password}\n`, { mode: 0o600 });
  secrets = [
    '--user',
    'admin',
    '--password-file',
    file,
    '--cacert',
    tls.caFile,
    '--cert',
    tls.certFile,
    '--key',
    tls.keyFile,
  ];
});

after(async () => {
  await Promise.all([...servers, ...(spare ? [spare] : [])].map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
});

/** Slot by slot: there is time to do something meanwhile. */
const SLOWLY = ['--engine', 'windowed'];

const run = (...args: readonly string[]) => reeve(state, 'redis', ...args, ...secrets);
const entry = () => address(servers[0] as Server);

function done(ran: Ran): Ran {
  assert.equal(ran.code, 0, `${ran.out}\n${ran.err}`);
  assert.doesNotMatch(ran.out + ran.err, new RegExp(password));
  return ran;
}

/** The slots of each server, in the order of ours. */
async function slotCounts(): Promise<readonly number[]> {
  const { out } = done(await run('status', entry(), '--json'));
  const { shards } = JSON.parse(out) as { shards: { slotCount: number; primary: { address: string } }[] };
  const counts = new Map(shards.map(({ primary, slotCount }) => [primary.address, slotCount]));
  return [...servers, spare].map((server) => counts.get(address(server)) ?? 0);
}

test('create 3+3 by TLS with an ACL user; our check and the server’s own agree that it is sound', async () => {
  done(await run('create', ...servers.map(address), '--replicas', '1', '--yes'));
  done(await run('check', entry(), '--replicas', '1', '--keys'));
  const { code, output } = await serverCheck('valkey', (servers[0] as Server).endpoint, {
    ...(servers[0] as Server).access,
    files: tls,
  });
  assert.equal(code, 0, output);
});

test('without the client certificate or with a wrong authority the reason is told', async () => {
  const { code, err } = await reeve(state, 'redis', 'status', entry(), '--tls', '--user', 'admin');
  assert.equal(code, 1);
  assert.match(err, /\[REDIS_TLS\]/);
});

test('watch starts, shows a failover that happens meanwhile, and ends with Ctrl-C', async () => {
  let shown = '';
  const watching = start(state, ['redis', 'watch', entry(), '--interval', '0.1', ...secrets], (text) => {
    shown += text;
  });
  try {
    await until('it looks on', () => shown.includes('watching 6 nodes, cluster_state ok'));
    const replica = address(await aReplica());
    done(await run('failover', entry(), '--node', replica, '--yes'));
    const change = new RegExp(
      `^\\S+Z ${replica.replaceAll('.', '\\.')} \\([0-9a-f]{8}\\) role replica → primary$`,
      'm',
    );
    await until('it shows the change', () => change.test(shown));
  } finally {
    watching.child.kill('SIGINT');
  }
  const ended = await watching.ended;
  assert.equal(ended.code, 0, ended.out + ended.err);
  assert.doesNotMatch(shown, new RegExp(password));
});

async function aReplica(): Promise<Server> {
  for (const server of servers) {
    if (String(await server.call('INFO', 'replication')).includes('role:slave')) return server;
  }
  return assert.fail('no server is a replica');
}

test('add-node, rebalance and failover', async () => {
  done(await run('add-node', entry(), '--node', address(spare), '--yes'));
  assert.equal((await slotCounts()).at(-1), 0);
  done(await run('rebalance', entry(), '--use-empty', '--fast', '--yes'));
  assert.equal((await slotCounts()).at(-1), 4096);
  const { out } = done(await run('status', entry(), '--json'));
  const { shards } = JSON.parse(out) as { shards: { replicas: { id: string }[] }[] };
  const replica = shards.flatMap(({ replicas }) => replicas)[0]?.id ?? '';
  done(await run('failover', entry(), '--node', replica.slice(0, 10), '--yes'));
});

/** Starts a line that moves slots, and does something to the program once it moves. */
async function disturbed(line: readonly string[], journal: string, signal: NodeJS.Signals): Promise<Ran> {
  const args = ['redis', ...line, '--yes', '--journal', journal, ...secrets];
  let sent = false;
  const running = start(state, args, (text) => {
    if (sent || !/^ {2}move \d+ slots/m.test(text)) return;
    sent = true;
    running.child.kill(signal);
  });
  return running.ended;
}

/** With what was before it. One that was through before the signal came is no good: another one. */
async function disturbedReshard(
  name: string,
  signal: NodeJS.Signals,
): Promise<{ ran: Ran; journal: string; before: readonly number[] }> {
  const { out } = done(await run('status', entry(), '--json'));
  const { shards } = JSON.parse(out) as { shards: { primary: { id: string } }[] };
  const to = shards[0]?.primary.id ?? '';
  for (let attempt = 1; ; attempt++) {
    const journal = join(folder, `${name}-${attempt}.json`);
    const before = await slotCounts();
    const line = ['reshard', entry(), '--to', to, '--slots', '120', ...SLOWLY];
    const ran = await disturbed(line, journal, signal);
    if (ran.code !== 0 || attempt === 5) return { ran, journal, before };
  }
}

test('a del-node that was killed is taken back with --rollback; done, it is not', async () => {
  const [first, second] = [join(folder, 'deletion.json'), join(folder, 'deleted.json')];
  const line = ['del-node', entry(), '--node', address(spare), ...SLOWLY];
  const before = await slotCounts();
  assert.equal((await disturbed(line, first, 'SIGKILL')).signal, 'SIGKILL');
  done(await run('del-node', '--rollback', first, '--yes'));
  assert.deepEqual(await slotCounts(), before);
  done(await run(...line.slice(0, 4), '--fast', '--yes', '--journal', second));
  const late = await run('del-node', '--rollback', second, '--yes');
  assert.equal(late.code, 3, late.out + late.err);
  assert.match(late.out, /6 of 6 nodes have forgotten .*\[ROLLBACK_IMPOSSIBLE\]/);
  done(await run('check', entry(), '--replicas', '1'));
});

test('Ctrl-C in the middle of a reshard ends with 130, and --resume needs nothing but the journal', async () => {
  const { ran, journal } = await disturbedReshard('interrupted', 'SIGINT');
  assert.equal(ran.code, 130, ran.out + ran.err);
  assert.match(ran.out, new RegExp(`Go on with: reeve redis reshard --resume ${journal}`), ran.err);
  done(await run('reshard', '--resume', journal));
  done(await run('check', entry()));
});

test('kill -9 in the middle of a reshard: --rollback brings everything back', async () => {
  const { ran, journal, before } = await disturbedReshard('killed', 'SIGKILL');
  assert.equal(ran.signal, 'SIGKILL');
  const { out, err, code } = await run('reshard', '--rollback', journal, '--yes', '--fast');
  assert.equal(code, 0, out + err);
  assert.deepEqual(await slotCounts(), before);
  done(await run('check', entry(), '--keys'));
});

test('kill -9 while the servers move slots by themselves: --rollback waits for them, and brings the slots back', async () => {
  const before = await slotCounts();
  const source = servers[before.findIndex((count) => count > 0)] as Server;
  const own = parseNodes(String(await source.call('CLUSTER', 'NODES'))).find((line) => line.myself);
  const first = own?.slots[0]?.[0] ?? 0;
  const keys = Array.from({ length: 100 }, (_, index) => `key:${index}:{${tagForSlot(first)}}`);
  for (const key of keys) await source.call('SET', key, key);
  // Each key takes the snapshot 250 ms: the migration still runs when the next program has started and looked around.
  await source.call('CONFIG', 'SET', 'rdb-key-save-delay', 250_000);
  const target = servers[before.findLastIndex((count) => count > 0)] as Server;
  const journal = join(folder, 'atomic.json');
  const line = ['reshard', entry(), '--from', address(source), '--to', address(target), '--slots', '300', '--fast'];
  const jobs = async () => ((await source.call('CLUSTER', 'GETSLOTMIGRATIONS')) as unknown[]).length;
  const jobsBefore = await jobs();
  const running = start(state, ['redis', ...line, '--yes', '--journal', journal, ...secrets]);
  await until('the servers have begun', async () => (await jobs()) > jobsBefore, { everyMs: 5 });
  running.child.kill('SIGKILL');
  await running.ended;
  const { err } = done(await run('reshard', '--rollback', journal, '--yes'));
  assert.match(err, /waiting: the server moves slots/);
  assert.deepEqual(await slotCounts(), before);
  for (const key of keys) assert.equal(await source.call('GET', key), key);
  done(await run('check', entry(), '--keys'));
});
