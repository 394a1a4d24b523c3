/** Nodes that left and come back: for a minute all servers remember that they are to forget them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertHeld, write } from './keys.ts';
import { OperatorWorld } from './world.ts';

const MINUTE = 60_000;

const isSized = (world: OperatorWorld, primaries: number) => () => {
  const { phase, currentOperation, ...status } = world.status('c');
  const isAtRest = phase === 'Running' && currentOperation === undefined;
  return isAtRest && status.primaries === primaries && status.replicas === primaries;
};

test('who left with a volume and comes back at once is a member for good', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { primaries: 4, storage: { size: '1Gi' } });
  await world.until('the cluster runs', isSized(world, 4));
  const keys = await write(world, 100);
  await world.patch('c', { spec: { primaries: 3 } });
  await world.until('it has shrunk', () => isSized(world, 3)() && world.set('c')?.spec?.replicas === 6, 900_000);
  await world.patch('c', { spec: { primaries: 4 } });
  await world.until('it has grown', isSized(world, 4), 900_000);
  const before = (await world.reasons()).length;
  for (let passed = 0; passed < 2 * MINUTE; passed += 5_000) {
    await world.pass(5_000);
    assert.ok(
      isSized(world, 4)(),
      JSON.stringify(world.status('c').conditions?.filter(({ status }) => status === 'True')),
    );
  }
  assert.deepEqual((await world.reasons()).slice(before), []);
  assertHeld(world, keys);
});

/** As if they had died between the moment in which all others were told to forget them and their own reset. */
function forgetByAll(world: OperatorWorld, pods: readonly string[]): void {
  const gone = pods.map((pod) => world.serverOf(pod));
  const rest = world.servers.filter(({ endpoint }) => gone.every((one) => one.endpoint !== endpoint));
  for (const server of rest) {
    for (const { id } of gone) world.model.execute(server.endpoint, ['CLUSTER', 'FORGET', id]);
  }
}

test('a replica that all forgot, and that believes to be a member, becomes one again', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' } });
  await world.until('the cluster runs', isSized(world, 3));
  const keys = await write(world, 100);
  const replica = world.status('c').members?.find(({ role }) => role === 'replica')?.pod ?? '';
  forgetByAll(world, [replica]);
  await world.until('it is noticed', () => world.status('c').phase !== 'Running');
  await world.until('it is mended', isSized(world, 3), 10 * MINUTE);
  await world.pass(2 * MINUTE);
  assert.ok(isSized(world, 3)());
  assertHeld(world, keys);
});

test('a primary without slots that all forgot, and that believes to be a member, becomes one again', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' }, rebalance: { mode: 'off' } });
  await world.until('the cluster runs', isSized(world, 3));
  await world.patch('c', { spec: { primaries: 4 } });
  await world.until('it has a new primary', () => world.status('c').primaries === 4, 10 * MINUTE);
  await world.until('it is at rest', () => world.status('c').phase === 'Running', 10 * MINUTE);
  const empty = world.status('c').members?.find(({ role, slots }) => role === 'primary' && !slots)?.pod ?? '';
  forgetByAll(world, [empty]);
  await world.until('it is noticed', () => world.status('c').phase !== 'Running');
  const isBack = () => world.status('c').phase === 'Running' && world.status('c').primaries === 4;
  await world.until('it is mended', isBack, 10 * MINUTE);
  await world.pass(2 * MINUTE);
  assert.ok(isBack());
});

test('two primaries without slots that all others forgot, and that know each other, become members again', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' }, rebalance: { mode: 'off' } });
  await world.until('the cluster runs', isSized(world, 3));
  await world.patch('c', { spec: { primaries: 5 } });
  await world.until('it has new primaries', () => world.status('c').primaries === 5, 10 * MINUTE);
  await world.until('it is at rest', () => world.status('c').phase === 'Running', 10 * MINUTE);
  const empty = (world.status('c').members ?? [])
    .filter(({ role, slots }) => role === 'primary' && !slots)
    .map(({ pod }) => pod);
  assert.equal(empty.length, 2);
  forgetByAll(world, empty);
  await world.until('it is noticed', () => world.status('c').phase !== 'Running');
  const isBack = () => world.status('c').phase === 'Running' && world.status('c').primaries === 5;
  await world.until('it is mended', isBack, 10 * MINUTE);
  await world.pass(2 * MINUTE);
  assert.ok(isBack());
});
