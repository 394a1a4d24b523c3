/** Replicas that came to lie beside their primary, in its zone: no failover helps, so two of them change places. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertHeld, write } from './keys.ts';
import { OperatorWorld } from './world.ts';
import { putTogether, sharing } from './zones.ts';

const MINUTE = 60_000;

const isPlaced = (world: OperatorWorld) => () => {
  const { phase, currentOperation } = world.status('c');
  return phase === 'Running' && currentOperation === undefined && sharing(world, 'c').length === 0;
};

test('replicas change places until none is in the zone of its primary, and nothing is lost', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', {});
  await world.until('the cluster runs', isPlaced(world));
  const keys = await write(world, 100);
  await putTogether(world, 'c');
  await world.until('it is told', () => world.status('c').phase === 'Degraded', MINUTE);
  await world.until('they are apart', isPlaced(world), 5 * MINUTE);
  const done = world.status('c').operations?.filter(({ kind, outcome }) => kind === 'spread' && outcome === 'done');
  assert.ok((done?.length ?? 0) > 0);
  const { primaries, replicas } = world.status('c');
  assert.deepEqual({ primaries, replicas }, { primaries: 3, replicas: 3 });
  assertHeld(world, keys);
});

test('a primary that dies with the operator when a replica is about to leave it keeps that copy, and nothing is lost', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', {});
  await world.until('the cluster runs', isPlaced(world));
  const keys = await write(world, 100);
  await putTogether(world, 'c');
  world.deathComes = 'after';
  world.diesWith = ({ path, body = '' }) => path.includes('/c/status') && /"kind":"spread"/.test(body);
  await world.until('it dies with the goal written', () => world.deaths === 1, MINUTE);
  world.diesWith = () => false;
  const { kind, goal } = world.status('c').currentOperation ?? {};
  assert.equal(kind, 'spread');
  const [first] = (goal as { readonly moves: readonly { readonly from: string }[] }).moves;
  const pod = world.status('c').members?.find(({ id }) => id === first?.from)?.pod ?? '';
  // Without a volume: it comes back as somebody new, who has nothing.
  world.model.kill(world.serverOf(pod));
  await world.deletePod(pod);
  await world.until('they are apart', isPlaced(world), 10 * MINUTE);
  assertHeld(world, keys);
});

test('with `rebalance: off` they stay where a person put them, and that is told', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { rebalance: { mode: 'off' } });
  await world.until('the cluster runs', isPlaced(world));
  await putTogether(world, 'c');
  await world.pass(3 * MINUTE);
  assert.ok(sharing(world, 'c').length > 0);
  const placement = world.status('c').conditions?.find(({ type }) => type === 'Placement');
  assert.equal(placement?.status, 'True');
});
