/** Upgrades of clusters of other shapes than one replica for each primary. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RedisCluster } from '../../src/api/cluster.ts';
import { assertHeld, write } from './keys.ts';
import { OperatorWorld } from './world.ts';

const imageOf = ({ spec }: OperatorWorld['pods'][number]) => spec?.containers?.[0]?.image;
const isRunning = (world: OperatorWorld) => () =>
  world.status('c').phase === 'Running' && world.status('c').currentOperation === undefined;

/** Upgrades it. Which pods were deleted, in their order, with the roles of their servers and how many ran in that moment. */
async function upgraded(world: OperatorWorld): Promise<readonly { pod: string; role: string; running: number }[]> {
  const deleted: { pod: string; role: string; running: number }[] = [];
  world.failsOn = ({ method, path }) => {
    const [, pod] = (method === 'DELETE' && /\/pods\/(c-\d+)/.exec(path)) || [];
    if (pod !== undefined) {
      const role = world.serverOf(pod).isPrimary ? 'primary' : 'replica';
      deleted.push({ pod, role, running: world.servers.length });
    }
    return false;
  };
  await world.task('up', { cluster: 'c', upgrade: { version: '9.2.0' } });
  const hasEnded = () => /Succeeded|Failed/.test(world.taskStatus('up')?.phase ?? '');
  await world.until('the upgrade has ended', hasEnded, 1_800_000);
  const { phase, message } = world.taskStatus('up') ?? {};
  assert.deepEqual([phase, message], ['Succeeded', `${world.pods.length} pods run valkey:9.2.0`]);
  assert.ok(world.pods.every((pod) => imageOf(pod) === 'valkey:9.2.0'));
  await world.until('the cluster runs', isRunning(world), 600_000);
  return deleted;
}

async function created(t: Parameters<typeof OperatorWorld.start>[0], spec: Partial<RedisCluster['spec']>) {
  const world = await OperatorWorld.start(t);
  await world.create('c', { version: '9.1.1', ...spec });
  await world.until('the cluster runs', isRunning(world), 600_000);
  return { world, keys: await write(world, 60) };
}

const names = (world: OperatorWorld) => world.pods.map(({ metadata }) => metadata?.name).sort();

for (const storage of [{ storage: { size: '1Gi' } }, {}]) {
  const kind = 'storage' in storage ? 'with volumes' : 'without volumes';
  test(`with two replicas for each primary, ${kind}, each pod is made anew once, and nobody as a primary`, async (t) => {
    const { world, keys } = await created(t, { replicasPerPrimary: 2, ...storage });
    const deleted = await upgraded(world);
    assert.deepEqual(deleted.map(({ pod }) => pod).sort(), names(world));
    assert.ok(
      deleted.every(({ role, running }) => role === 'replica' && running === 9),
      JSON.stringify(deleted),
    );
    assert.deepEqual([world.status('c').primaries, world.status('c').replicas], [3, 6]);
    assertHeld(world, keys);
  });
}

test("a version that a task has set is the operator's, not that of people who apply", async (t) => {
  const { world } = await created(t, {});
  await world.task('up', { cluster: 'c', upgrade: { version: '9.2.0' } });
  await world.until('the version is set', () => world.cluster('c')?.spec.version === '9.2.0', 600_000);
  const { managedFields } = (world.cluster('c') as RedisCluster).metadata as unknown as {
    managedFields: readonly { manager: string; operation: string; fieldsV1: object }[];
  };
  const managers = managedFields
    .filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes('"f:version"'))
    .map(({ manager, operation }) => `${operation} ${manager}`);
  assert.deepEqual(managers, ['Update redis']);
});

test('without replicas, with volumes, primaries are restarted one after the other, and hold what they held', async (t) => {
  const { world, keys } = await created(t, { replicasPerPrimary: 0, storage: { size: '1Gi' } });
  const held = () => world.status('c').members?.map(({ pod, id, slots }) => [pod, id, slots]);
  const before = held();
  const deleted = await upgraded(world);
  assert.deepEqual(deleted.map(({ pod }) => pod).sort(), names(world));
  assert.ok(
    deleted.every(({ running }) => running === 3),
    'the next one when the last is back',
  );
  assert.deepEqual(held(), before);
  assertHeld(world, keys);
});

test('a task that mends the cluster passes the upgrade that waits for it; others come after that, and say so', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { version: '9.1.1' });
  await world.until('the cluster runs', isRunning(world), 600_000);
  const places = names(world).map((name) => name ?? '');
  for (const pod of places) world.kubelet.held.add(pod);
  await world.task('up', { cluster: 'c', upgrade: { version: '9.2.0' } });
  await world.until('a replica is away', () => world.servers.length < 6);
  const there = new Set(world.servers.map((server) => world.kubelet.podOf(server)));
  const away = world.status('c').members?.find(({ pod }) => !there.has(pod));
  await world.deletePod(away?.of ?? '');
  await world.pass(60_000);
  world.kubelet.held.clear();
  await world.task('even', { cluster: 'c', rebalance: {} });
  await world.pass(120_000);
  assert.equal(world.taskStatus('up')?.phase, 'Running');
  assert.match(world.taskStatus('even')?.waitingFor ?? '', /^its turn after task up: /);
  assert.ok(world.status('c').waitingFor?.some(({ reason }) => reason === 'CheckNotClean'));
  await world.task('mend', { cluster: 'c', fix: { allowUnreachable: true } });
  for (const name of ['mend', 'up', 'even'])
    await world.until(
      `${name} has ended`,
      () => /Succeeded|Failed/.test(world.taskStatus(name)?.phase ?? ''),
      1_800_000,
    );
  for (const name of ['mend', 'up', 'even']) assert.equal(world.taskStatus(name)?.phase, 'Succeeded', name);
  assert.ok(world.pods.every((pod) => imageOf(pod) === 'valkey:9.2.0'));
});

test('a primary that an upgrade restarts alone is not given up by a fix that passes the upgrade', async (t) => {
  const { world, keys } = await created(t, { replicasPerPrimary: 0, storage: { size: '1Gi' } });
  world.kubelet.held.add('c-2');
  await world.task('up', { cluster: 'c', upgrade: { version: '9.2.0' } });
  await world.until('a primary is away', () => world.servers.length < 3);
  await world.task('mend', { cluster: 'c', fix: { allowUnreachable: true } });
  await world.pass(60_000);
  assert.match(world.taskStatus('mend')?.waitingFor ?? '', /^its turn after task up: /);
  world.kubelet.held.clear();
  for (const name of ['mend', 'up'])
    await world.until(`${name} has ended`, () => /Succeeded|Failed/.test(world.taskStatus(name)?.phase ?? ''), 900_000);
  await world.until('the cluster runs', isRunning(world), 600_000);
  assertHeld(world, keys);
});
