/** What goes wrong around the operator itself: caches that lag behind its predecessor, secrets that are lost, clusters that are not there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OperatorWorld } from './world.ts';

const isRunning = (world: OperatorWorld) => () =>
  world.status('c').phase === 'Running' && world.status('c').currentOperation === undefined;

test('a new leader whose cache lags goes on with the goal of its predecessor, and writes nothing over it', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c');
  await world.until('the servers are there', () => world.servers.length === 6);
  const before = world.cluster('c');
  assert.equal(before?.status?.currentOperation, undefined);
  await world.until('creation has begun', () => world.status('c').currentOperation?.kind === 'create');
  const goal = world.status('c').currentOperation?.id;
  await world.stopManager();
  world.stale = before;
  world.startManager();
  const goals = new Set<string | undefined>();
  const end = world.clock.now() + 60_000;
  await world.until('a minute has passed', () => {
    goals.add(world.status('c').currentOperation?.id);
    return world.clock.now() >= end;
  });
  assert.deepEqual([...goals], [goal]);
  assert.ok(world.lines.some((line) => line.includes('STATUS_STALE')));
  // The watch has caught up.
  world.stale = undefined;
  await world.patch('c', { metadata: { annotations: { news: 'some' } } });
  await world.until('the cluster runs', isRunning(world));
  assert.deepEqual(
    world.status('c').operations?.map(({ id, outcome }) => [id, outcome]),
    [[goal, 'done']],
  );
});

test('a new leader whose cache lags does not begin again what its predecessor has ended', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { rebalance: { mode: 'off' } });
  await world.until('the cluster runs', isRunning(world));
  const primaries = (world.status('c').members ?? []).filter(({ role }) => role === 'primary').map(({ pod }) => pod);
  const [to = '', other = ''] = primaries;
  const slots = () => world.status('c').members?.map((member) => [member.pod, member.slots]);
  await world.task('there', { cluster: 'c', reshard: { slots: 100, to, from: [other] } });
  await world.until('it has begun', () => world.status('c').currentOperation?.kind === 'reshard');
  const during = world.cluster('c');
  await world.until('it is done', () => world.taskStatus('there')?.phase === 'Succeeded' && isRunning(world)());
  await world.task('back', { cluster: 'c', reshard: { slots: 100, to: other, from: [to] } });
  await world.until('it is taken back', () => world.taskStatus('back')?.phase === 'Succeeded' && isRunning(world)());
  await world.pass(5_000);
  const after = slots();
  const done = () => world.status('c').operations?.map(({ id, outcome }) => [id, outcome]);
  const history = done();
  await world.stopManager();
  world.stale = during;
  world.startManager();
  await world.pass(30_000);
  assert.equal(world.status('c').currentOperation, undefined);
  assert.deepEqual(done(), history, 'what was done stays written down');
  world.stale = undefined;
  await world.patch('c', { metadata: { annotations: { news: 'some' } } });
  await world.pass(30_000);
  assert.deepEqual(slots(), after);
  assert.deepEqual(done(), history);
});

test('a password that is lost before anything was begun is made anew, and so are the pods that know the old one', async (t) => {
  const world = await OperatorWorld.start(t);
  world.kubelet.held.add('c-5');
  await world.create('c');
  await world.until('five servers are there', () => world.servers.length === 5);
  const old = world.secret('c-auth')?.password;
  assert.ok(old);
  const before = world.servers;
  await world.deleteSecret('c-auth');
  await world.until('there is another password', () => (world.secret('c-auth')?.password ?? old) !== old);
  world.kubelet.held.delete('c-5');
  await world.until('the cluster runs', isRunning(world));
  assert.ok(before.every((server) => !world.servers.includes(server)));
});

test('a password that is lost while the cluster is created is not made anew: servers have begun to hold something', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c');
  await world.until('creation has begun', () => world.status('c').currentOperation?.kind === 'create');
  const before = world.servers;
  await world.deleteSecret('c-auth');
  await world.until(
    'it says so',
    () => world.status('c').waitingFor?.some(({ reason }) => reason === 'SecretLost') ?? false,
  );
  await world.pass(60_000);
  assert.equal(world.secret('c-auth'), undefined);
  assert.deepEqual(world.servers, before);
});

test('pods of an image that does not exist are made anew when another one is asked for', async (t) => {
  const world = await OperatorWorld.start(t);
  for (let ordinal = 0; ordinal < 6; ordinal++) world.kubelet.held.add(`c-${ordinal}`);
  await world.create('c', { image: 'no-such' });
  await world.until('the pods are there', () => (world.set('c')?.spec?.replicas ?? 0) === 6);
  await world.pass(5_000);
  const uids = world.podUids;
  await world.patch('c', { spec: { image: 'valkey' } });
  await world.until('all pods are new', () => world.podUids.every((uid) => !uids.includes(uid)));
  world.kubelet.held.clear();
  await world.until('the cluster runs', isRunning(world));
});

test('a task of a cluster that is not there waits for a while, then fails; if the cluster comes it is carried out', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.task('early', { cluster: 'c', check: {} });
  await world.task('never', { cluster: 'd', check: {} });
  await world.until('they wait', () => world.taskStatus('early')?.phase === 'Waiting');
  assert.match(world.taskStatus('never')?.message ?? '', /no RedisCluster d/);
  await world.create('c');
  await world.until('it is carried out', () => world.taskStatus('early')?.phase === 'Succeeded');
  assert.equal(world.taskStatus('never')?.phase, 'Waiting');
  await world.until('the other one fails', () => world.taskStatus('never')?.phase === 'Failed', 700_000);
  assert.equal(world.taskStatus('never')?.code, 'CLUSTER_MISSING');
});

test('a task that waits for its turn ends with its cluster', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' }, creation: 'manual' });
  await world.task('later', { cluster: 'c', check: {} });
  for (let minutes = 0; minutes < 12; minutes += 4) await world.pass(240_000);
  assert.notEqual(world.taskStatus('later')?.phase, 'Failed', 'its cluster is there');
  await world.delete('c');
  await world.until('it fails', () => world.taskStatus('later')?.phase === 'Failed');
  assert.equal(world.taskStatus('later')?.code, 'CLUSTER_MISSING');
});
