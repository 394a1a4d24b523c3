/** Pods that are made anew without volumes: each new server takes the place of the one that was there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../src/api/kinds.ts';
import { assertHeld, write } from './keys.ts';
import { OperatorWorld } from './world.ts';

const imageOf = ({ spec }: Pod) => spec?.containers?.[0]?.image;
const isRunning = (world: OperatorWorld) => {
  const { phase, currentOperation } = world.status('c');
  return phase === 'Running' && currentOperation === undefined;
};

test('after a rolling change no shard is in one zone, and nobody was sent from one shard to another', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c');
  await world.until('the cluster runs', () => isRunning(world));
  const keys = await write(world, 100);
  await world.patch('c', { spec: { image: 'valkey:9.1' } });
  await world.until(
    'every pod runs the new one, and all is well',
    () => isRunning(world) && world.pods.length === 6 && world.pods.every((pod) => imageOf(pod) === 'valkey:9.1'),
    900_000,
  );
  const { conditions = [], operations = [] } = world.status('c');
  assert.notEqual(conditions.find(({ type }) => type === 'Placement')?.status, 'True');
  assert.deepEqual(
    operations.filter(({ kind, why }) => kind === 'delete-node' && /too (many|few)|to spare/.test(why)),
    [],
  );
  assertHeld(world, keys);
});

test('until the last pod is new, also between two of them, the phase says that it changes', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' } });
  await world.until('the cluster runs', () => world.status('c').phase === 'Running');
  const before = new Set(world.servers.map(({ runId }) => runId));
  await world.patch('c', { spec: { config: { 'maxmemory-policy': 'allkeys-lru' } } });
  const old = () => world.servers.filter(({ runId }) => before.has(runId)).length;
  await world.until('some are new', () => old() < 6);
  const seen = new Set<string>();
  while (old() > 0) {
    const { phase = '', currentOperation, waitingFor = [] } = world.status('c');
    seen.add(phase);
    if (phase === 'Changing' && currentOperation === undefined)
      assert.ok(waitingFor.some(({ reason, subjects }) => reason === 'PodsOld' && subjects.length > 0));
    await world.pass(250);
  }
  assert.ok(!seen.has('Running'), [...seen].join());
  assert.ok(seen.has('Changing'), [...seen].join());
  await world.until('it runs', () => world.status('c').phase === 'Running');
});

/** What it says for two minutes in which no pod is made anew. */
async function standing(world: OperatorWorld, reason: string) {
  await world.patch('c', { spec: { version: '9.2.0' } });
  const waits = () => world.status('c').waitingFor ?? [];
  await world.until(`it says ${reason}`, () => waits().some((one) => one.reason === reason), 120_000);
  const before = world.servers.map(({ runId }) => runId).sort();
  await world.pass(120_000);
  assert.deepEqual(world.servers.map(({ runId }) => runId).sort(), before);
  assert.ok(waits().some((one) => one.reason === 'PodsOld'));
  return waits().find((one) => one.reason === reason);
}

test('pods that would lose their keys stay as they are, and an edited spec is told why', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { version: '9.1.1', replicasPerPrimary: 0 });
  await world.until('the cluster runs', () => isRunning(world), 600_000);
  const keys = await write(world, 30);
  const why = await standing(world, 'UpgradeLosesData');
  assert.deepEqual([...(why?.subjects ?? [])].sort(), ['c-0', 'c-1', 'c-2']);
  assert.match(why?.message ?? '', /replicasPerPrimary/);
  await world.patch('c', { spec: { replicasPerPrimary: 1 } });
  const isNew = () => world.pods.length === 6 && world.pods.every((pod) => imageOf(pod) === 'valkey:9.2.0');
  await world.until('what it asks for helps', () => isNew() && isRunning(world), 900_000);
  assertHeld(world, keys);
});

test('a new pod that does not become ready while its server answers holds the others up, and is named', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { version: '9.1.1', storage: { size: '1Gi' } });
  await world.until('the cluster runs', () => isRunning(world), 600_000);
  world.kubelet.told = (pod, status) =>
    imageOf(pod) === 'valkey:9.2.0' ? { ...status, conditions: [{ type: 'Ready', status: 'False' }] } : status;
  const why = await standing(world, 'PodNotReady');
  const fresh = world.pods.filter((pod) => imageOf(pod) === 'valkey:9.2.0').map(({ metadata }) => metadata?.name);
  assert.deepEqual(why?.subjects, fresh);
  assert.equal(fresh.length, 1);
});
