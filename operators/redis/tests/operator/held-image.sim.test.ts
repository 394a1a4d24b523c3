/** Images that a running cluster must not be given, asked for by an edit of its spec: told, held back, and no pod is touched. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { assertHeld, write } from './keys.ts';
import { OperatorWorld } from './world.ts';

const isRunning = (world: OperatorWorld) => () =>
  world.status('c').phase === 'Running' && world.status('c').currentOperation === undefined;
const imagesOf = (world: OperatorWorld) => [
  ...new Set(world.pods.map(({ spec }) => spec?.containers?.[0]?.image ?? '')),
];
const declared = (world: OperatorWorld) => world.status('c').conditions?.find(({ type }) => type === 'Declared');
const wait = (world: OperatorWorld) => world.status('c').waitingFor?.find(({ reason }) => reason === 'ImageHeld');
const setImage = (world: OperatorWorld) =>
  JSON.stringify(world.set('c')?.spec?.template).match(/"image":"([^"]+)"/)?.[1];

async function running(t: TestContext, spec: object) {
  const world = await OperatorWorld.start(t);
  await world.create('c', spec);
  await world.until('the cluster runs', isRunning(world));
  return { world, keys: await write(world, 100), pods: world.podUids };
}

test('another product is held back and said so; no pod is touched, and the rest of the spec is followed', async (t) => {
  const { world, keys, pods } = await running(t, {});
  await world.patch('c', { spec: { product: 'redis' } });
  await world.until('it says so', () => declared(world)?.status === 'False');
  await world.pass(120_000);
  assert.deepEqual(
    [declared(world)?.reason, setImage(world), imagesOf(world)],
    ['MixedProducts', 'valkey', ['valkey']],
  );
  assert.match(declared(world)?.message ?? '', /c-\d runs valkey, and redis is another product/);
  assert.match(wait(world)?.message ?? '', /pods stay with valkey\. c-\d runs valkey/);
  assert.deepEqual(world.podUids, pods);
  assert.equal(world.status('c').phase, 'Running');
  const planned = await world.plan('c');
  assert.equal(planned.next, undefined);
  assert.ok(planned.waitingFor.some(({ reason }) => reason === 'ImageHeld'));
  assert.ok(
    planned.objects.every(({ change }) => change === 'none'),
    JSON.stringify(planned.objects),
  );

  await world.patch('c', { spec: { replicasPerPrimary: 2 } });
  await world.until('others join, of what runs', () => world.status('c').replicas === 6 && isRunning(world)(), 900_000);
  assert.deepEqual(imagesOf(world), ['valkey']);
  await world.patch('c', { spec: { product: null, replicasPerPrimary: 1 } });
  await world.until(
    'all is as asked for',
    () => declared(world)?.status === 'True' && world.pods.length === 6,
    900_000,
  );
  assert.equal(wait(world), undefined);
  assertHeld(world, keys);
});

test('an older version is held back, and taken once it is not older', async (t) => {
  const { world, keys, pods } = await running(t, { version: '9.1' });
  await world.patch('c', { spec: { version: '8.1' } });
  await world.until('it says so', () => declared(world)?.status === 'False');
  await world.pass(60_000);
  assert.deepEqual([declared(world)?.reason, imagesOf(world)], ['UpgradeOlder', ['valkey:9.1']]);
  assert.deepEqual(world.podUids, pods);
  await world.patch('c', { spec: { version: '9.2.0' } });
  await world.until(
    'every pod runs the new one',
    () => isRunning(world)() && world.pods.length === 6 && imagesOf(world).join() === 'valkey:9.2.0',
    900_000,
  );
  assert.equal(declared(world)?.status, 'True');
  assertHeld(world, keys);
});
