/** What operations refuse or fail with: a condition until it is over, whatever else goes on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OperatorWorld } from './world.ts';

const condition = (world: OperatorWorld, type: string) =>
  world.status('c').conditions?.find((one) => one.type === type);
const isRunning = (world: OperatorWorld) => () =>
  world.status('c').phase === 'Running' && world.status('c').currentOperation === undefined;

function openSlot(world: OperatorWorld): void {
  const ownerOf = (slot: number) => world.servers.find((server) => server.ownerOf(slot) === server.self);
  const [owner, other] = [ownerOf(0), ownerOf(16_383)];
  assert.ok(owner && other);
  world.model.execute(owner.endpoint, ['CLUSTER', 'SETSLOT', '0', 'MIGRATING', other.id]);
}

test('an operation that failed is a condition through its next tries, through a task, a pause and a new operator, until it is done', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' } });
  await world.until('the cluster runs', isRunning(world));
  assert.equal(condition(world, 'OperationFailed')?.status, 'False');
  world.denies = (label) => label === 'CLUSTER SETSLOT';
  openSlot(world);
  await world.until('it is told', () => condition(world, 'OperationFailed')?.status === 'True');
  const said = condition(world, 'OperationFailed');
  assert.equal(said?.reason, 'RedisReply');
  assert.match(said?.message ?? '', /^fix: REDIS_REPLY: .*NOPERM.*\. The message is the server’s own/);
  const seen = new Set<string>();
  const watch = () => {
    seen.add(condition(world, 'OperationFailed')?.status ?? '');
    return world.status('c').currentOperation?.kind === 'fix';
  };
  await world.until('it is tried again', watch);
  await world.until('that is over', () => !watch());
  const replica = world.status('c').members?.find(({ role }) => role === 'replica')?.pod ?? '';
  await world.task('over', { cluster: 'c', failover: { to: replica } });
  await world.until('a task is done', () => {
    watch();
    return world.taskStatus('over')?.phase === 'Succeeded';
  });
  await world.patch('c', { spec: { paused: true } });
  await world.until('it is paused', () => world.status('c').phase === 'Paused');
  await world.stopManager();
  world.startManager();
  await world.pass(30_000);
  watch();
  assert.deepEqual([...seen], ['True']);
  world.denies = () => false;
  await world.patch('c', { spec: { paused: false } });
  await world.until('it is mended', isRunning(world));
  await world.until('it is over', () => condition(world, 'OperationFailed')?.status === 'False');
});

test('what failed is over when nobody wishes for it any more', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' } });
  await world.until('the cluster runs', isRunning(world));
  world.denies = (label) => label === 'CLUSTER SETSLOT';
  openSlot(world);
  await world.until('it is told', () => condition(world, 'OperationFailed')?.status === 'True');
  const owner = world.servers.find((server) => server.ownerOf(0) === server.self);
  world.model.execute(owner?.endpoint ?? '', ['CLUSTER', 'SETSLOT', '0', 'STABLE']);
  await world.until('it is over', () => condition(world, 'OperationFailed')?.status === 'False', 30_000);
});

test('what was refused is a condition also while another operation runs', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c');
  await world.until('the cluster runs', isRunning(world));
  const lost = world.status('c').members?.find(({ role }) => role === 'primary');
  const replica = world.status('c').members?.find(({ of }) => of === lost?.pod);
  // A shard that is gone: its slots are nobody's, and its keys are where nobody can get them.
  for (const pod of [lost?.pod ?? '', replica?.pod ?? '']) {
    world.kubelet.held.add(pod);
    await world.deletePod(pod);
  }
  await world.until('it is refused', () => condition(world, 'Refused')?.status === 'True');
  const said = condition(world, 'Refused');
  assert.equal(said?.reason, 'PrimariesUnreachable');
  assert.match(said?.message ?? '', /Bring it back/);
  const other = world.status('c').members?.find((one) => one.role === 'replica' && one.of !== lost?.pod)?.pod ?? '';
  await world.task('copy', { cluster: 'c', failover: { to: other } });
  await world.until('a task has begun or ended', () => world.taskStatus('copy')?.phase !== undefined);
  await world.until('it has ended', () => {
    assert.equal(condition(world, 'Refused')?.status, 'True');
    return /Succeeded|Failed/.test(world.taskStatus('copy')?.phase ?? '');
  });
  await world.patch('c', { spec: { paused: true } });
  await world.until('it is paused', () => world.status('c').phase === 'Paused');
  assert.equal(condition(world, 'Refused')?.status, 'True');
});

test('a task that failed says why in its conditions, and in an event of its own and of its cluster', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c');
  await world.until('the cluster runs', isRunning(world));
  await world.task('nowhere', { cluster: 'c', failover: { to: 'c-77' } });
  await world.task('taken', { cluster: 'c', fix: {} });
  await world.task('alone', { cluster: 'd', check: {} });
  await world.until('it has failed', () => world.taskStatus('nowhere')?.phase === 'Failed');
  await world.until('the next one is done', () => world.taskStatus('taken')?.phase === 'Succeeded');
  const said = (name: string) =>
    world.taskStatus(name)?.conditions?.map(({ type, status, reason }) => [type, status, reason]);
  assert.deepEqual(said('nowhere'), [['Failed', 'True', 'UnknownNode']]);
  assert.match(world.taskStatus('nowhere')?.conditions?.[0]?.message ?? '', /c-77.*`reeve redis status` lists the ids/);
  assert.deepEqual(said('taken'), [['Succeeded', 'True', 'Done']]);
  assert.deepEqual(said('alone'), [['Waiting', 'True', 'ClusterAwaited']]);
  await world.until('the last one has failed', () => world.taskStatus('alone')?.phase === 'Failed', 700_000);
  assert.deepEqual(said('alone'), [['Failed', 'True', 'ClusterMissing']]);
  await world.pass(1_000);
  const told = (await world.events())
    .filter(({ reason }) => reason === 'TaskFailed')
    .map(({ regarding, related, note }) => [regarding.kind, regarding.name, related?.name, note?.split(': ').at(-2)]);
  assert.deepEqual(told, [
    ['RedisTask', 'alone', undefined, 'CLUSTER_MISSING'],
    ['RedisCluster', 'c', 'nowhere', 'UNKNOWN_NODE'],
    ['RedisTask', 'nowhere', undefined, 'UNKNOWN_NODE'],
  ]);
});

test('a task whose operation fails while it runs is told in the same way, and is no setback of the cluster', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { rebalance: { mode: 'off' } });
  await world.until('the cluster runs', isRunning(world));
  const [to, from] = (world.status('c').members ?? []).filter(({ role }) => role === 'primary');
  world.denies = (label) => label !== 'CLUSTER GETSLOTMIGRATIONS' && /MIGRATE|SETSLOT/.test(label);
  await world.task('move', { cluster: 'c', reshard: { slots: 10, to: to?.pod ?? '', from: [from?.pod ?? ''] } });
  await world.until('it has failed', () => world.taskStatus('move')?.phase === 'Failed', 600_000);
  const { code = '', conditions } = world.taskStatus('move') ?? {};
  assert.deepEqual(
    conditions?.map(({ type, reason }) => [type, reason.toUpperCase()]),
    [['Failed', code.replaceAll('_', '')]],
  );
  await world.pass(1_000);
  const told = (await world.events()).filter(({ reason }) => reason === 'TaskFailed');
  assert.deepEqual(told.map(({ regarding }) => regarding.kind).sort(), ['RedisCluster', 'RedisTask']);
  assert.equal(condition(world, 'OperationFailed')?.status, 'False');
});
