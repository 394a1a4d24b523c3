/** A person's approval counts once: for the plan that was shown, on the occasion on which it was. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { OperatorWorld } from './world.ts';

const isMended = (world: OperatorWorld) => () =>
  world.status('c').phase === 'Running' && world.status('c').currentOperation === undefined;
const fixes = (world: OperatorWorld) =>
  (world.status('c').operations ?? [])
    .filter(({ kind }) => kind === 'fix')
    .map(({ outcome, approval }) => ({ outcome, approval }));
const approve = (world: OperatorWorld, digest: string) =>
  world.patch('c', { metadata: { annotations: { 'redis.reeve.dev/approve': digest } } });

async function running(t: TestContext): Promise<OperatorWorld> {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' }, fix: 'approve' });
  await world.until('the cluster runs', isMended(world));
  return world;
}

/** The same damage each time. */
function damage(world: OperatorWorld): void {
  const ownerOf = (slot: number) => world.servers.find((server) => server.ownerOf(slot) === server.self);
  const [owner, target] = [ownerOf(0), ownerOf(16_383)];
  assert.ok(owner && target);
  world.model.execute(owner.endpoint, ['CLUSTER', 'SETSLOT', '0', 'MIGRATING', target.id]);
}

async function damaged(world: OperatorWorld): Promise<string> {
  damage(world);
  await world.until('it asks a person', () => world.status('c').proposal !== undefined);
  return world.status('c').proposal?.digest ?? '';
}

test('the same damage again is not mended by the approval of the first time, and may be approved again', async (t) => {
  const world = await running(t);
  const first = await damaged(world);
  assert.equal((await world.plan('c')).next?.digest, first);
  await approve(world, first);
  await world.until('it is mended', isMended(world));
  assert.deepEqual(fixes(world), [{ outcome: 'done', approval: first }]);
  assert.equal(world.status('c').approvals, 1);
  const second = await damaged(world);
  assert.notEqual(second, first);
  await world.stopManager();
  world.startManager();
  await world.pass(60_000);
  assert.equal(world.status('c').phase, 'Degraded', 'what is in the annotation was used up');
  assert.equal(world.status('c').proposal?.digest, second, 'and what is proposed has its name for good');
  const refused = world.status('c').conditions?.find(({ type }) => type === 'Refused');
  assert.equal(refused?.status, 'False', 'and is nobody’s mistake');
  const planned = await world.plan('c');
  assert.deepEqual([planned.next?.digest, planned.next?.needsApproval], [second, true]);
  await approve(world, second);
  await world.until('it is mended again', isMended(world));
  assert.deepEqual(fixes(world), [
    { outcome: 'done', approval: second },
    { outcome: 'done', approval: first },
  ]);
});

test('whoever dies while an approval is used up leaves it unused, or a goal that is gone on with', async (t) => {
  for (const death of ['before', 'after'] as const) {
    const world = await running(t);
    const digest = await damaged(world);
    world.deathComes = death;
    // The write of the goal, with which the approval is used up.
    world.diesWith = ({ method, body }) =>
      method !== 'GET' && world.deaths === 0 && String(body).includes('"approval"');
    await approve(world, digest);
    await world.until('it died', () => world.deaths === 1);
    await world.until('it is mended', isMended(world));
    assert.deepEqual(fixes(world), [{ outcome: 'done', approval: digest }], death);
    assert.equal(world.status('c').approvals, 1, death);
    await world.stopManager();
  }
});

test('a new leader whose cache lags does not use up again what its predecessor has used', async (t) => {
  const world = await running(t);
  const digest = await damaged(world);
  await approve(world, digest);
  const before = world.cluster('c');
  assert.equal(before?.status?.currentOperation, undefined);
  assert.equal(before?.metadata?.annotations?.['redis.reeve.dev/approve'], digest);
  await world.until('it is mended', () => world.status('c').approvals === 1 && isMended(world)());
  await world.stopManager();
  world.stale = before;
  world.startManager();
  damage(world);
  await world.pass(60_000);
  assert.equal(fixes(world).length, 1);
  assert.equal(world.status('c').currentOperation, undefined);
  assert.ok(world.lines.some((line) => line.includes('STATUS_STALE')));
  world.stale = undefined;
  await world.patch('c', { metadata: { annotations: { news: 'some' } } });
  await world.until('it asks a person', () => world.status('c').proposal !== undefined);
  assert.equal(fixes(world).length, 1);
});

test('what was approved and failed is asked about again', async (t) => {
  const world = await running(t);
  const first = await damaged(world);
  world.denies = (label) => label === 'CLUSTER SETSLOT';
  await approve(world, first);
  await world.until('it failed', () => fixes(world).length === 1);
  await world.until('it asks again', () => ![undefined, first].includes(world.status('c').proposal?.digest));
  world.denies = () => false;
  await world.pass(60_000);
  assert.equal(fixes(world).length, 1);
  await approve(world, world.status('c').proposal?.digest ?? '');
  await world.until('it is mended', isMended(world));
});
