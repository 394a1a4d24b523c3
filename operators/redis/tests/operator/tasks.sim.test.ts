/** Tasks: what they ask for, that deleting one cancels it, and what is not done although one asks for it. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { RedisCluster } from '../../src/api/cluster.ts';
import { SLOT_COUNT } from '../../src/api/slots.ts';
import { assertHeld, write } from './keys.ts';
import { OperatorWorld } from './world.ts';

/** Slots stay where tasks put them. */
const byHand = { rebalance: { mode: 'off' } } as const;
/** Whatever moves a slot. */
const MOVES = /^(?:MIGRATE|CLUSTER (?:MIGRATESLOTS|SETSLOT))$/;

const isRunning = (world: OperatorWorld) => () =>
  world.status('c').phase === 'Running' && world.status('c').currentOperation === undefined;
const primaries = (world: OperatorWorld) =>
  (world.status('c').members ?? []).filter(({ role }) => role === 'primary').map(({ pod }) => pod);
/** As the server itself says. */
const slotsOf = (world: OperatorWorld, pod: string) => {
  const server = world.serverOf(pod);
  return Array.from({ length: SLOT_COUNT }, (_, slot) => server.ownerOf(slot)).filter((owner) => owner === server.self)
    .length;
};
const shares = (world: OperatorWorld) => primaries(world).map((pod) => slotsOf(world, pod));
const hasEnded = (world: OperatorWorld, name: string) => () =>
  /Succeeded|Failed/.test(world.taskStatus(name)?.phase ?? '');

async function running(t: TestContext, spec: Partial<RedisCluster['spec']> = {}): Promise<OperatorWorld> {
  const world = await OperatorWorld.start(t);
  await world.create('c', { ...byHand, ...spec });
  await world.until('the cluster runs', isRunning(world));
  return world;
}

async function ended(world: OperatorWorld, name: string, spec: object): Promise<readonly (string | undefined)[]> {
  await world.task(name, { cluster: 'c', ...spec });
  await world.until(`${name} has ended`, hasEnded(world, name), 900_000);
  const { phase, code } = world.taskStatus(name) ?? {};
  return [phase, code];
}

/** A task whose operation has begun and does not come to its first move. */
async function held(world: OperatorWorld): Promise<void> {
  const [to, from] = primaries(world);
  world.denies = (label) => MOVES.test(label);
  await world.task('move', { cluster: 'c', reshard: { slots: 10, to, from: [from] } });
  await world.until('it has begun', () => world.status('c').currentOperation?.kind === 'reshard');
  await world.until('its task says so', () => world.taskStatus('move')?.phase === 'Running');
}

test('a task that is deleted while it runs is cancelled, and the next one comes to its turn', async (t) => {
  const world = await running(t);
  const before = shares(world);
  await held(world);
  await world.task('next', { cluster: 'c', check: {} });
  await world.deleteTask('move');
  await world.until('nothing runs', () => world.status('c').currentOperation === undefined, 10_000);
  const [last] = world.status('c').operations ?? [];
  assert.deepEqual([last?.kind, last?.outcome, last?.message], ['reshard', 'cancelled', 'task move was deleted']);
  world.denies = () => false;
  await world.until('the next is done', () => world.taskStatus('next')?.phase === 'Succeeded');
  await world.pass(60_000);
  assert.deepEqual(shares(world), before, 'nothing of it is done later');
});

test('a task that is deleted while no operator runs is not gone on with by the next one', async (t) => {
  const world = await running(t);
  const before = shares(world);
  await held(world);
  await world.stopManager();
  assert.equal(world.status('c').currentOperation?.kind, 'reshard', 'the goal is kept');
  await world.deleteTask('move');
  world.denies = () => false;
  world.startManager();
  await world.until('nothing is to be done any more', () => world.status('c').currentOperation === undefined);
  assert.equal(world.status('c').operations?.[0]?.outcome, 'cancelled');
  await world.pass(60_000);
  assert.deepEqual(shares(world), before);
});

test('an operator that ends in the middle of a task leaves it to the next one: nobody deleted it', async (t) => {
  const world = await running(t);
  const [to = ''] = primaries(world);
  const before = slotsOf(world, to);
  await held(world);
  await world.stopManager();
  world.denies = () => false;
  world.startManager();
  await world.until('it is done', () => world.taskStatus('move')?.phase === 'Succeeded');
  assert.equal(slotsOf(world, to), before + 10);
});

test('a rebalance by weights gives each primary its part, unless too few would be left with slots', async (t) => {
  const world = await running(t);
  const keys = await write(world, 100);
  const [heavy = '', light = '', other = ''] = primaries(world);
  assert.deepEqual(await ended(world, 'weighted', { rebalance: { weights: { [heavy]: 2 } } }), [
    'Succeeded',
    undefined,
  ]);
  assert.deepEqual(
    [heavy, light, other].map((pod) => slotsOf(world, pod)),
    [8192, 4096, 4096],
  );
  assertHeld(world, keys);
  const emptied = await ended(world, 'emptied', { rebalance: { weights: { [light]: 0 } } });
  assert.deepEqual(emptied, ['Failed', 'TOO_FEW_PRIMARIES']);
  assert.deepEqual(await ended(world, 'nobody', { rebalance: { weights: { 'c-77': 2 } } }), ['Failed', 'UNKNOWN_NODE']);
});

test('a rebalance by keys or bytes evens out these, and leaves slots uneven', async (t) => {
  for (const by of ['keys', 'bytes']) {
    const world = await running(t);
    const [full = '', ...rest] = primaries(world);
    const { model } = world;
    const server = world.serverOf(full);
    // All in slots of one primary.
    let written = 0;
    for (let at = 0; written < 90; at++) {
      try {
        model.execute(server.endpoint, ['SET', `key:${at}`, 'x'.repeat(100)]);
        written++;
      } catch {
        // The slot is another's.
      }
    }
    await world.pass(3_000);
    assert.deepEqual(await ended(world, by, { rebalance: { by } }), ['Succeeded', undefined], by);
    const held = [full, ...rest].map((pod) => world.serverOf(pod).database(0).size);
    assert.equal(
      held.reduce((sum, count) => sum + count),
      90,
      by,
    );
    for (const count of held) assert.ok(Math.abs(count - 30) <= 3, `by ${by}: ${held.join()}`);
    assert.ok(slotsOf(world, full) < 5_461 - 50, 'slots went with them');
  }
});

test('a forced failover is refused while the primary lives', async (t) => {
  const world = await running(t);
  const replica = world.status('c').members?.find(({ role }) => role === 'replica')?.pod ?? '';
  const forced = await ended(world, 'forced', { failover: { to: replica, force: true } });
  assert.deepEqual(forced, ['Failed', 'PRIMARY_ALIVE']);
  assert.equal(world.serverOf(replica).isPrimary, false);
  const failed = world.api.find<{
    readonly status?: { readonly conditions?: readonly { readonly type: string; readonly reason: string }[] };
  }>('redistasks.redis.reeve.dev', 'ns', 'forced');
  assert.deepEqual(
    failed?.status?.conditions?.map(({ type, reason }) => [type, reason]),
    [['Failed', 'PrimaryAlive']],
  );
  assert.deepEqual(await ended(world, 'graceful', { failover: { to: replica } }), ['Succeeded', undefined]);
  assert.equal(world.serverOf(replica).isPrimary, true);
});

test('paused in its middle an operation stands still with its goal, and goes on after that', async (t) => {
  const world = await running(t);
  const [to = ''] = primaries(world);
  const before = slotsOf(world, to);
  await held(world);
  const { id, goal } = world.status('c').currentOperation ?? {};
  await world.patch('c', { spec: { paused: true } });
  await world.until('it is paused', () => world.status('c').phase === 'Paused');
  world.denies = () => false;
  world.asked.clear();
  await world.pass(60_000);
  assert.ok(world.asked.size > 0, 'it is looked at all the same');
  assert.deepEqual(
    [...world.asked].filter((label) => MOVES.test(label)),
    [],
  );
  assert.deepEqual([world.status('c').currentOperation?.id, world.status('c').currentOperation?.goal], [id, goal]);
  assert.equal(world.taskStatus('move')?.phase, 'Running');
  assert.equal(slotsOf(world, to), before);
  await world.stopManager();
  world.startManager();
  await world.pass(30_000);
  assert.equal(slotsOf(world, to), before, 'the next operator honours it, too');
  await world.patch('c', { spec: { paused: false } });
  await world.until('it is done', () => world.taskStatus('move')?.phase === 'Succeeded');
  assert.equal(slotsOf(world, to), before + 10);
  const [last] = world.status('c').operations ?? [];
  assert.deepEqual([last?.id, last?.outcome], [id, 'done']);
});

test('how far an operation is, is told while it runs and not after it', async (t) => {
  const world = await running(t);
  await held(world);
  await world.until('why the next command is run', () =>
    (world.status('c').progress ?? '').startsWith('the goal wants'),
  );
  await world.until('how far that is', () => world.status('c').progress === '0 of 10 slots');
  world.denies = () => false;
  await world.until('it is done', () => world.taskStatus('move')?.phase === 'Succeeded');
  await world.until('it is over', isRunning(world));
  assert.equal(world.status('c').progress, undefined);
});

test('with fix: off damage is told and left, until a person asks for its mending', async (t) => {
  const world = await running(t, { fix: 'off' });
  const ownerOf = (slot: number) =>
    world.servers.find((server) => server.isPrimary && server.ownerOf(slot) === server.self);
  const [owner, other] = [ownerOf(0), ownerOf(SLOT_COUNT - 1)];
  world.model.execute(owner?.endpoint ?? '', ['CLUSTER', 'SETSLOT', '0', 'MIGRATING', other?.id ?? '']);
  const isOpen = () => owner?.migrating.has(0) ?? false;
  const waits = () => world.status('c').waitingFor?.map(({ reason }) => reason) ?? [];
  await world.until('it is told', () => waits().includes('FixIsOff'));
  await world.pass(120_000);
  assert.ok(isOpen());
  const slotOpen = () => world.status('c').conditions?.find(({ type }) => type === 'SlotOpen')?.status;
  assert.deepEqual([world.status('c').phase, slotOpen(), world.status('c').proposal], ['Degraded', 'True', undefined]);
  assert.deepEqual(
    world.status('c').operations?.filter(({ kind }) => kind === 'fix'),
    [],
  );
  assert.deepEqual(await ended(world, 'mend', { fix: {} }), ['Succeeded', undefined]);
  await world.until('it runs', isRunning(world));
  assert.ok(!isOpen());
  assert.deepEqual([slotOpen(), waits()], ['False', []]);
});
