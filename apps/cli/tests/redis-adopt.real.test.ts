/** docs/adopt-redis.md with real servers: clusters that somebody made are given agents and declared, while clients write all the time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RedisClusterStatus } from '@reeve/redis';
import {
  addressOf,
  cliAccessArguments,
  clusterCli,
  invariants,
  makeCertificates,
  parseNodes,
  runProgram,
  type Server,
  startCluster,
  startServers,
  startTraffic,
  until,
  waitUntilAgreed,
} from '@reeve/rig';
import { PASSWORD } from '../src/agent/site-testing.ts';
import { ExternalSite, isRunning } from './external-site.ts';

const ZONES = ['a', 'b', 'c'];
const SLOTS = 16_384;
const passwordSecret = { name: 'access', key: 'password' };

/** What a server would not be any more if somebody had restarted, reconfigured or moved it. */
async function selfOf(server: Server): Promise<object> {
  const [, runId] = /run_id:(\w+)/.exec(String(await server.call('INFO', 'server'))) ?? [];
  const config = String(await server.call('CONFIG', 'GET', '*'));
  const nodes = parseNodes(String(await server.call('CLUSTER', 'NODES')));
  const lines = nodes.map(({ id, host, port, role, primaryId, epoch, slotText }) =>
    [id, host, port, role, primaryId, epoch, slotText].join(' '),
  );
  return { pid: server.pid, runId, config, lines: lines.sort() };
}

const selvesOf = ({ servers }: ExternalSite) => Promise.all([...servers.values()].map(selfOf));

/** The topology as it is found: primaries before their replicas, each with the zone that it is said to live in. */
async function zonesOf(servers: readonly Server[]): Promise<readonly string[]> {
  const lines = parseNodes(String(await servers[0]?.call('CLUSTER', 'NODES')));
  const primaries = lines.filter(({ role }) => role === 'primary').map(({ id }) => id);
  return servers.map(({ endpoint }) => {
    const own = lines.find(({ port }) => port === endpoint.port);
    assert.ok(own);
    const shard = primaries.indexOf(own.role === 'primary' ? own.id : own.primaryId);
    return ZONES[(shard + (own.role === 'primary' ? 0 : 1)) % ZONES.length] ?? '';
  });
}

const isSeen = (count: number) => (status: RedisClusterStatus) =>
  status.slots === SLOTS && status.members?.length === count;

test('a cluster that valkey-cli made is adopted under traffic: nothing is restarted, nothing is done, nothing is lost', async (t) => {
  const site = ExternalSite.of(t);
  const [servers] = await Promise.all([
    startServers(6, { product: 'valkey', password: PASSWORD, appendOnly: true }),
    site.machine.up(),
  ]);
  t.after(() => Promise.all(servers.map((server) => server.stop())));
  const addresses = servers.map(({ endpoint }) => addressOf(endpoint));
  const create = ['--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes'];
  const access = { password: PASSWORD };
  const made = await runProgram(await clusterCli('valkey'), [...create, ...cliAccessArguments(access)], 120_000);
  assert.equal(made.code, 0, `${made.stdout}${made.stderr}`);
  await waitUntilAgreed(servers);
  const traffic = await startTraffic(
    servers.map(({ endpoint }) => endpoint),
    { access, keys: 500 },
  );
  t.after(() => traffic.abandon());
  for (const [at, server] of servers.entries()) site.servers.set(`h-${at}`, server);
  const before = await selvesOf(site);

  const zones = await zonesOf(servers);
  await Promise.all(servers.map((server, at) => site.enroll(`h-${at}`, server)));
  for (const [at, zone] of zones.entries()) {
    site.startAgent(`h-${at}`, '--annotate', `zone=${zone}`, '--annotate', `host=h-${at}`);
  }
  const size = { primaries: 3, replicasPerPrimary: 1 };
  await site.declare({ members: 'external', ...size, access: { passwordSecret }, paused: true });
  const looked = await site.until('it is seen', isSeen(6));
  assert.equal(looked.phase, 'Paused');
  assert.deepEqual([looked.primaries, looked.replicas], [3, 3]);
  const ids = await Promise.all(servers.map((server) => server.call('CLUSTER', 'MYID')));
  assert.deepEqual(
    looked.members?.map(({ pod, id }) => [pod, id]),
    ids.map((id, at) => [`h-${at}`, id]),
  );

  await site.patch({ paused: null });
  const running = await site.until(
    'it is managed',
    (status) => isRunning(status) && isSeen(6)(status) && status.waitingFor?.length === 0,
  );
  const amiss = running.conditions?.filter(
    ({ type, status }) => !/^(?:Available|Ready|Valid|Declared)$/.test(type) && status === 'True',
  );
  assert.deepEqual(amiss, []);
  const planned = await site.reeve('plan', 'rediscluster/cache');
  assert.match(planned.stdout, /^RedisCluster cache: nothing is begun next\n/, planned.stderr);
  const { writes: written } = traffic;
  await until('clients go on', () => traffic.writes > written + 10_000, { timeoutMs: 60_000 });
  const { operations, currentOperation } = await site.status();
  assert.deepEqual([operations, currentOperation], [[], undefined]);
  assert.deepEqual(await selvesOf(site), before);

  const { acknowledged, writes, errors, regressions } = await traffic.stop();
  t.diagnostic(`${writes} writes`);
  assert.deepEqual([errors, regressions], [[], []]);
  assert.deepEqual(await invariants(site.endpoints(), { replicasPerPrimary: 1, acknowledged, access }), []);
});

test('a cluster with TLS is adopted: with a secret of another authority it says so, with the right one it is managed', async (t) => {
  const site = ExternalSite.of(t);
  const [tls, other] = [await makeCertificates(), await makeCertificates()];
  const [cluster] = await Promise.all([
    startCluster({ product: 'valkey', primaries: 3, tls, password: PASSWORD }),
    site.machine.up(),
  ]);
  t.after(() => cluster.stop());
  const traffic = await startTraffic(cluster.endpoints, { access: cluster.access, keys: 500 });
  t.after(() => traffic.abandon());
  const files = ['--tls', '--cacert', tls.caFile, '--cert', tls.certFile, '--key', tls.keyFile];
  await Promise.all(cluster.servers.map((server, at) => site.enroll(`h-${at}`, server)));
  for (const name of site.servers.keys()) site.startAgent(name, ...files, '--annotate', `host=${name}`);
  const before = await selvesOf(site);

  await site.secret('tls', { 'ca.crt': other.ca, 'tls.crt': tls.cert, 'tls.key': tls.key });
  const access = { passwordSecret, tls: { secretName: 'tls' } };
  const declared = { members: 'external', primaries: 3, replicasPerPrimary: 0, access, rebalance: { mode: 'off' } };
  await site.declare({ ...declared, paused: true });
  const said = ({ waitingFor = [] }: RedisClusterStatus) =>
    waitingFor.find(({ reason }) => reason === 'ServersSilent')?.message;
  const refused = await site.until('it is not believed', (status) => /TLS/.test(said(status) ?? ''));
  t.diagnostic(said(refused) ?? '');

  await site.secret('tls', { 'ca.crt': tls.ca, 'tls.crt': tls.cert, 'tls.key': tls.key });
  const looked = await site.until('what the secret has now is used', isSeen(3));
  assert.deepEqual([looked.primaries, looked.replicas, looked.phase], [3, 0, 'Paused']);
  await site.patch({ paused: null });
  await site.until('it is managed', isRunning);
  assert.deepEqual(await selvesOf(site), before);
  await site.task('move', { reshard: { slots: 50, to: 'h-1' } });
  await site.until('it is told', (status) => isRunning(status) && status.operations?.[0]?.kind === 'reshard');

  const { acknowledged, errors } = await traffic.stop();
  assert.deepEqual(errors, []);
  assert.deepEqual(await invariants(site.endpoints(), { acknowledged, access: cluster.access }), []);
  assert.ok(!site.said.includes(PASSWORD), 'no password is in what agents say');
});
