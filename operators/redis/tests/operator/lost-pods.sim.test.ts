/** Primary and replica of a shard that go down together: what can still be had of it, and who is left in the tables of the others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertHeld, write } from './keys.ts';
import { OperatorWorld } from './world.ts';

const MINUTE = 60_000;

const isRunning = (world: OperatorWorld) => () =>
  world.status('c').phase === 'Running' && world.status('c').currentOperation === undefined;

/** Pairs of a primary and a replica of it, by their pods. */
function pairs(world: OperatorWorld): readonly { readonly primary: string; readonly replica: string }[] {
  const members = world.status('c').members ?? [];
  return members.flatMap(({ role, pod, of }) =>
    role === 'replica' && pod && of ? [{ primary: of, replica: pod }] : [],
  );
}

test('a shard is not given up, whatever a person says, while its replica reads its file; read again, that one takes over', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' } });
  await world.until('the cluster runs', isRunning(world), 10 * MINUTE);
  const keys = await write(world, 90);
  const [pair] = pairs(world);
  assert.ok(pair);
  const replica = world.serverOf(pair.replica);
  world.model.kill(replica);
  // The host of the primary is lost: its pod has nowhere to go.
  world.kubelet.held.add(pair.primary);
  await world.deletePod(pair.primary);
  await world.pass(MINUTE);
  world.model.restart(replica, { loadingMs: MINUTE });
  await world.pass(10_000);
  const refusal = () =>
    world.status('c').conditions?.find(({ type, status }) => type === 'Refused' && status === 'True');
  assert.match(refusal()?.message ?? '', /wait until it can be read/);
  assert.doesNotMatch(refusal()?.message ?? '', /no living replica/);
  await world.task('fix', { cluster: 'c', fix: { allowUnreachable: true } });
  await world.until('a person is told, too', () => world.taskStatus('fix')?.phase === 'Failed', MINUTE);
  assert.match(world.taskStatus('fix')?.message ?? '', /wait until it can be read/);
  await world.until('it is read again', () => refusal() === undefined, 2 * MINUTE);
  // By now it calls its data too old to be elected: it is a person who lets it take over, and nothing is lost.
  await world.task('again', { cluster: 'c', fix: { allowUnreachable: true } });
  await world.until('it has taken over', () => replica.isPrimary, 5 * MINUTE);
  await world.pass(10_000);
  assertHeld(world, keys);
});

for (const [order, isFirst] of [
  ['before', (primary: string, replica: string) => primary < replica],
  ['after', (primary: string, replica: string) => replica < primary],
] as const) {
  test(`a dead primary that a dead replica follows is forgotten, also if its id comes ${order} that of the replica`, async (t) => {
    const world = await OperatorWorld.start(t);
    await world.create('c', { replicasPerPrimary: 2 });
    await world.until('the cluster runs', isRunning(world), 10 * MINUTE);
    const keys = await write(world, 60);
    const id = (pod: string) => world.serverOf(pod).id;
    const pair = pairs(world).find(({ primary, replica }) => isFirst(id(primary), id(replica)));
    assert.ok(pair);
    const dead = [id(pair.primary), id(pair.replica)];
    await Promise.all([world.deletePod(pair.primary), world.deletePod(pair.replica)]);
    await world.until('it is noticed', () => world.status('c').phase !== 'Running');
    await world.until('it is whole again', isRunning(world), 3 * MINUTE);
    for (const server of world.servers) {
      const table = String(world.model.execute(server.endpoint, ['CLUSTER', 'NODES']));
      for (const gone of dead) assert.ok(!table.includes(gone), table);
    }
    assert.deepEqual(
      world.status('c').operations?.filter(({ outcome }) => outcome !== 'done'),
      [],
    );
    assertHeld(world, keys);
  });
}
