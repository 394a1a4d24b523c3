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
