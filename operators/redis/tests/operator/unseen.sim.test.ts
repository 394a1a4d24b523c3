/** Servers that nobody can ask: what is said of them is that it is not known, and why. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secrets } from '../../src/api/kinds.ts';
import { ExternalWorld } from './external-world.ts';
import { NAMESPACE, OperatorWorld } from './world.ts';

const condition = (world: OperatorWorld, type: string) =>
  world.status('c').conditions?.find((one) => one.type === type);
const told = async (world: OperatorWorld, reason: string) =>
  (await world.events()).filter((one) => one.reason === reason).map(({ note }) => note);
const metrics = (world: OperatorWorld) =>
  world
    .metrics()
    .split('\n')
    .filter((line) => /^reeve_redis_(?:slots_served|members|findings)/.test(line));

for (const isPaused of [false, true]) {
  test(`a lost password: nothing is known of the servers, and nothing is said of them${isPaused ? ', also while paused' : ''}`, async (t) => {
    const world = await OperatorWorld.start(t);
    await world.create('c', { storage: { size: '1Gi' }, fix: 'off' });
    await world.until('the cluster runs', () => world.status('c').phase === 'Running');
    const replica = world.status('c').members?.find(({ role }) => role === 'replica')?.pod ?? '';
    world.kubelet.held.add(replica);
    const server = world.serverOf(replica);
    world.model.kill(server);
    await world.until('something is found', () => condition(world, 'NodeFailed')?.status === 'True');
    assert.ok(metrics(world).some((line) => line.endsWith(' 16384')));
    const [{ primaries, replicas, slots }, data] = [world.status('c'), world.secret('c-auth')];
    if (isPaused) await world.patch('c', { spec: { paused: true } });
    if (isPaused) await world.until('it is paused', () => world.status('c').phase === 'Paused');
    await world.deleteSecret('c-auth');
    await world.until('it is not known', () => condition(world, 'Available')?.status === 'Unknown');
    await world.stopManager();
    world.startManager();
    await world.pass(30_000);
    for (const type of ['Available', 'Ready', 'NodeFailed']) assert.equal(condition(world, type)?.status, 'Unknown');
    const reason = isPaused ? 'NoWayIn' : 'SecretLost';
    assert.equal(condition(world, 'Available')?.reason, reason);
    assert.match(condition(world, 'NodeFailed')?.message ?? '', /^servers are not asked; last seen: (?!servers)/);
    assert.deepEqual([slots, primaries], [world.status('c').slots, world.status('c').primaries]);
    assert.equal(world.status('c').replicas, replicas);
    assert.deepEqual(metrics(world), []);
    assert.equal((await told(world, reason)).length, 1);
    await world.api.client
      .resource(secrets, NAMESPACE)
      .create({ metadata: { name: 'c-auth', labels: { 'redis.reeve.dev/cluster': 'c' } }, data } as never);
    await world.until('it is known again', () => condition(world, 'Available')?.status === 'True');
    assert.equal(condition(world, 'NodeFailed')?.status, 'True');
    assert.equal((await told(world, 'NodeFailed')).length, 1, 'it was told before');
    world.kubelet.held.delete(replica);
    world.model.restart(server);
    await world.until('it is over', () => condition(world, 'NodeFailed')?.status === 'False');
  });
}

test('external members that let nobody in are a condition and an event, until they do', async (t) => {
  const world = await ExternalWorld.start(t);
  const { operator } = world;
  const passwordAt = operator.kubelet.passwordAt.bind(operator.kubelet);
  const locked = (address: string) => (address.startsWith('10.1.') ? 'secret' : undefined);
  operator.kubelet.passwordAt = locked;
  await operator.create('c', { members: 'external' });
  await world.enrollAll('c', 6);
  await operator.until('it is told', () => condition(operator, 'ServersSilent')?.status === 'True');
  await operator.pass(60_000);
  assert.equal(condition(operator, 'ServersSilent')?.reason, 'RedisAuth');
  assert.match(condition(operator, 'ServersSilent')?.message ?? '', /^the servers of h-1, .* did not let us in/);
  assert.equal(condition(operator, 'Available')?.status, 'Unknown');
  assert.equal((await told(operator, 'ServersSilent')).length, 1);
  operator.kubelet.passwordAt = passwordAt;
  await operator.until('the cluster runs', () => operator.status('c').phase === 'Running');
  assert.equal(condition(operator, 'ServersSilent')?.status, 'False');
  assert.equal(condition(operator, 'Available')?.status, 'True');
  operator.kubelet.passwordAt = locked;
  await operator.until('it is not known', () => condition(operator, 'Available')?.status === 'Unknown');
  assert.equal(condition(operator, 'Available')?.reason, 'RedisAuth');
  assert.deepEqual(metrics(operator), []);
});

test('servers that were asked and are all silent serve nothing: the cluster is broken, also where its pods run', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' } });
  await world.until('the cluster runs', () => world.status('c').phase === 'Running');
  const servers = world.servers;
  for (const { pod } of world.status('c').members ?? []) world.kubelet.held.add(pod);
  for (const server of servers) world.model.kill(server);
  await world.until('it is told', () => condition(world, 'Available')?.status === 'False');
  await world.pass(30_000);
  assert.deepEqual([world.status('c').phase, world.status('c').slots], ['Broken', 0]);
  assert.equal(condition(world, 'Available')?.reason, 'SlotsNotServed');
  world.kubelet.held.clear();
  for (const server of servers) world.model.restart(server);
  await world.until('it runs again', () => world.status('c').phase === 'Running');
  assert.equal(condition(world, 'Available')?.status, 'True');
});

test('external servers that are all dead serve nothing: the cluster is broken', async (t) => {
  const world = await ExternalWorld.start(t);
  const { operator } = world;
  await operator.create('c', { members: 'external' });
  await world.enrollAll('c', 6);
  await operator.until('the cluster runs', () => operator.status('c').phase === 'Running');
  for (let at = 1; at <= 6; at++) world.killServer(`h-${at}`);
  await operator.until('it is told', () => condition(operator, 'Available')?.status === 'False');
  await operator.pass(30_000);
  assert.equal(operator.status('c').phase, 'Broken');
  assert.deepEqual(
    operator.status('c').waitingFor?.map(({ reason }) => reason),
    ['ServersSilent'],
  );
});
