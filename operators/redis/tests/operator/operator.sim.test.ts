import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSlots, SLOT_COUNT, countSlots } from '../../src/api/slots.ts';
import { assertHeld, write } from './keys.ts';
import { OperatorWorld } from './world.ts';

const isRunning =
  (world: OperatorWorld, name = 'c') =>
  () =>
    world.status(name).phase === 'Running' && world.status(name).currentOperation === undefined;

test('a declared cluster is created: every slot served, shards over zones, passwords in its secret', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c');
  await world.until('the cluster runs', isRunning(world));
  const status = world.status('c');
  assert.equal(status.primaries, 3);
  assert.equal(status.replicas, 3);
  assert.equal(status.slots, SLOT_COUNT);
  assert.equal(status.configured, true);
  assert.deepEqual(status.waitingFor, []);
  const slots = (status.members ?? []).reduce(
    (sum, { slots: text }) => sum + countSlots(parseSlots(text ?? '') ?? []),
    0,
  );
  assert.equal(slots, SLOT_COUNT);
  const zone = (pod: string) => Number(pod.split('-').at(-1)) % 3;
  for (const { pod, of } of status.members ?? [])
    if (of !== undefined) assert.notEqual(zone(pod), zone(of), `${pod} of ${of}`);
  assert.ok(world.secret('c-auth')?.password);
  assert.deepEqual(
    status.operations?.map(({ kind, outcome }) => [kind, outcome]),
    [['create', 'done']],
  );
  assert.ok((await world.reasons()).includes('OperationBegun'));
});

test('an operator that ends leaves no connection open, also in the middle of an operation: its process could not end', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c');
  await world.until('it is being created', () => world.status('c').currentOperation !== undefined);
  assert.equal(world.connections.size, 1);
  await world.stopManager();
  assert.equal(world.connections.size, 0);
  world.startManager();
  await world.until('the cluster runs', isRunning(world));
  assert.equal(world.connections.size, 1);
  await world.stopManager();
  assert.equal(world.connections.size, 0);
});

test('a pod that is lost without a volume is replaced: its node is forgotten, the new one becomes a replica', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c');
  await world.until('the cluster runs', isRunning(world));
  const keys = await write(world, 100);
  const primary = world.status('c').members?.find(({ role }) => role === 'primary');
  assert.ok(primary);
  await world.deletePod(primary.pod);
  // Each finding is a condition, an event and a metric.
  const codes = () =>
    [
      ...world
        .metrics()
        .matchAll(
          /^reeve_redis_findings\{namespace="ns",cluster="c",code="(\w+)",severity="(?:broken|degraded)"\} [1-9]/gm,
        ),
    ].map(([, code]) => code);
  await world.until('the check tells', () =>
    codes().some((code) => code === 'NODE_UNREACHABLE' || code === 'NODE_FAILED'),
  );
  assert.ok((await world.reasons()).some((reason) => reason === 'NodeUnreachable' || reason === 'NodeFailed'));
  await world.until('the cluster runs again', isRunning(world));
  assert.deepEqual(codes(), []);
  const status = world.status('c');
  assert.equal(status.primaries, 3);
  assert.equal(status.replicas, 3);
  assert.ok(!status.members?.some(({ id }) => id === primary.id));
  assertHeld(world, keys);
});

test('with volumes all pods may be lost at once, and come back elsewhere', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' } });
  await world.until('the cluster runs', isRunning(world));
  const keys = await write(world, 100);
  const before = world.status('c').members?.map(({ pod, id }) => [pod, id]);
  for (const [pod] of before ?? []) await world.deletePod(pod ?? '');
  await world.until('it is not well', () => world.status('c').phase !== 'Running');
  await world.until('the cluster runs again', isRunning(world));
  assert.deepEqual(
    world.status('c').members?.map(({ pod, id }) => [pod, id]),
    before,
  );
  assertHeld(world, keys);
});

test('it grows and shrinks, keys and all', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c');
  await world.until('the cluster runs', isRunning(world));
  const keys = await write(world, 200);
  await world.patch('c', { spec: { primaries: 5 } });
  const shares = () =>
    world
      .status('c')
      .members?.flatMap(({ slots }) => (slots === undefined ? [] : [countSlots(parseSlots(slots) ?? [])])) ?? [];
  const isEven = () =>
    shares().length === 5 && shares().every((share) => Math.abs(share - SLOT_COUNT / 5) <= (SLOT_COUNT / 5) * 0.05);
  await world.until('it has grown', () => isRunning(world)() && isEven() && world.status('c').replicas === 5, 900_000);
  // Nobody was taken in by mistake and put out again: whoever waits beside the cluster is none of a growing one's business.
  const done = world.status('c').operations?.map(({ kind, outcome }) => `${kind} ${outcome}`) ?? [];
  assert.deepEqual(
    done.filter((one) => !/^(create|add-node|rebalance) done$/.test(one)),
    [],
  );
  assert.equal(world.status('c').replicas, 5);
  assertHeld(world, keys);
  await world.patch('c', { spec: { primaries: 3 } });
  await world.until('it has shrunk', () => isRunning(world)() && world.set('c')?.spec?.replicas === 6, 900_000);
  assert.equal(world.status('c').primaries, 3);
  assert.equal(world.status('c').replicas, 3);
  assertHeld(world, keys);
});

test('what was a cluster is not created anew by itself when all of it is gone', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c');
  await world.until('the cluster runs', isRunning(world));
  for (const { pod } of world.status('c').members ?? []) await world.deletePod(pod);
  await world.until('it asks a person', () => world.status('c').proposal !== undefined);
  assert.match(
    world
      .status('c')
      .waitingFor?.map(({ message }) => message)
      .join() ?? '',
    /approve/,
  );
  const digest = world.status('c').proposal?.digest ?? '';
  await world.patch('c', { metadata: { annotations: { 'redis.reeve.dev/approve': digest } } });
  await world.until('the approved plan is carried out', isRunning(world));
  assert.equal(world.status('c').slots, SLOT_COUNT);
});

test('creation by hand waits for its approval; paused, nothing is begun', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { creation: 'manual' });
  await world.until('it proposes', () => world.status('c').proposal?.kind === 'create');
  assert.ok((world.status('c').proposal?.steps.length ?? 0) > 0);
  await world.patch('c', {
    spec: { paused: true },
    metadata: { annotations: { 'redis.reeve.dev/approve': world.status('c').proposal?.digest ?? '' } },
  });
  await world.until('it is paused', () => world.status('c').phase === 'Paused');
  const paused = (await world.plan('c')).waitingFor.filter(({ reason }) => reason === 'Paused');
  assert.equal(paused.length, 1);
  assert.deepEqual(world.status('c').waitingFor, paused, 'the status says it as the plan does');
  assert.ok(
    world.servers.every((server) => server.peers.size === 1),
    'nobody was introduced to anybody',
  );
  await world.patch('c', { spec: { paused: false } });
  await world.until('it runs', isRunning(world));
  assert.deepEqual(world.status('c').waitingFor, []);
});

test('a spec that cannot be acted on is called so, and nothing is begun until it is put right', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { config: { 'Not A Directive': 'x' } });
  await world.until('it is told', () => world.status('c').phase === 'Invalid');
  const valid = world.status('c').conditions?.find(({ type }) => type === 'Valid');
  assert.deepEqual([valid?.status, valid?.reason], ['False', 'ConfigInvalid']);
  assert.deepEqual(
    world.status('c').waitingFor?.map(({ reason, subjects }) => [reason, subjects]),
    [['SpecInvalid', ['Not A Directive']]],
  );
  await world.pass(30_000);
  assert.equal(world.set('c'), undefined);
  await world.patch('c', { spec: { config: { 'Not A Directive': null } } });
  await world.until('it runs', isRunning(world));
});

test('a new template reaches every pod, one after the other, and no primary is restarted as one', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' } });
  await world.until('the cluster runs', isRunning(world));
  const keys = await write(world, 100);
  const uids = () => new Set(world.servers.map(({ runId }) => runId));
  const before = uids();
  await world.patch('c', { spec: { config: { 'maxmemory-policy': 'allkeys-lru' } } });
  await world.until(
    'every server was started anew',
    () => isRunning(world)() && [...uids()].every((id) => !before.has(id)),
    900_000,
  );
  const kinds = world.status('c').operations?.map(({ kind }) => kind) ?? [];
  assert.ok(kinds.filter((kind) => kind === 'failover').length >= 3, kinds.join());
  assertHeld(world, keys);
});

test('a task is carried out, and a bad one says why', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { rebalance: { mode: 'off' } });
  await world.until('the cluster runs', isRunning(world));
  const to = world.status('c').members?.find(({ role }) => role === 'primary')?.pod ?? '';
  await world.task('move', { cluster: 'c', reshard: { slots: 300, to } });
  await world.until('the task is done', () => world.taskStatus('move')?.phase === 'Succeeded');
  const slots = world.status('c').members?.find(({ pod }) => pod === to)?.slots ?? '';
  await world.until(
    'the status says so',
    () => countSlots(parseSlots(world.status('c').members?.find(({ pod }) => pod === to)?.slots ?? '') ?? []) > 5_700,
  );
  assert.ok(slots.length > 0);
  await world.task('nowhere', { cluster: 'c', failover: { to: 'c-77' } });
  await world.until('it fails', () => world.taskStatus('nowhere')?.phase === 'Failed');
  assert.equal(world.taskStatus('nowhere')?.code, 'UNKNOWN_NODE');
  await world.task('look', { cluster: 'c', check: {} });
  await world.until('it is checked', () => world.taskStatus('look')?.phase === 'Succeeded');
});

test('the operator may end at any time: the next one goes on with what was begun', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c');
  await world.until('creation has begun', () => world.status('c').currentOperation?.kind === 'create');
  await world.stopManager();
  world.startManager();
  await world.until('the cluster runs', isRunning(world));
  const keys = await write(world, 100);
  await world.patch('c', { spec: { primaries: 4 } });
  for (const kind of ['add-node', 'rebalance']) {
    await world.until(`${kind} has begun`, () => world.status('c').currentOperation?.kind === kind, 900_000);
    await world.stopManager();
    world.startManager();
  }
  await world.until('it has grown', () => isRunning(world)() && world.status('c').primaries === 4, 900_000);
  assertHeld(world, keys);
});

test('it comes down to primaries alone, wherever these are', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c');
  await world.until('the cluster runs', isRunning(world));
  const keys = await write(world, 100);
  // Primaries in pods that are to go: their replicas in pods that stay take over, or others take their place.
  for (const pod of ['c-3', 'c-4']) {
    await world.task(`to-${pod}`, { cluster: 'c', failover: { to: pod } });
    await world.until('it has ended', () => /Succeeded|Failed/.test(world.taskStatus(`to-${pod}`)?.phase ?? ''));
  }
  await world.patch('c', { spec: { replicasPerPrimary: 0 } });
  await world.until('it is small', () => isRunning(world)() && world.set('c')?.spec?.replicas === 3, 900_000);
  assert.equal(world.status('c').primaries, 3);
  assertHeld(world, keys);
});

test('a failover that a task asked for is not undone by spreading, until members come or go', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c');
  await world.until('the cluster runs', isRunning(world));
  const replica = world.status('c').members?.find(({ role }) => role === 'replica');
  assert.ok(replica);
  const { pod, id } = replica;
  await world.task('over', { cluster: 'c', failover: { to: pod } });
  await world.until('it is done', () => world.taskStatus('over')?.phase === 'Succeeded');
  await world.until('it is remembered', () => world.status('c').chosenPrimaries?.includes(id) ?? false);
  await world.pass(60_000);
  await world.until('others make room for it', isRunning(world));
  assert.ok(world.serverOf(pod).isPrimary);
  await world.stopManager();
  world.startManager();
  await world.pass(60_000);
  assert.ok(world.serverOf(pod).isPrimary, 'the next operator knows, too');
  await world.patch('c', { spec: { replicasPerPrimary: 2 } });
  await world.until('places are dealt anew', () => isRunning(world)() && world.status('c').replicas === 6, 900_000);
  assert.equal(world.status('c').chosenPrimaries, undefined);
});

test('a password that is lost is not replaced by another: its servers know the old one only', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c');
  await world.until('the cluster runs', isRunning(world));
  await world.deleteSecret('c-auth');
  await world.until(
    'it says so',
    () => world.status('c').waitingFor?.some(({ reason }) => reason === 'SecretLost') ?? false,
  );
  assert.equal(world.secret('c-auth'), undefined);
});

test('the operator dies at its effects, one after the other, while it creates, grows and shrinks', async (t) => {
  const calm = await OperatorWorld.start(t);
  const live = async (world: OperatorWorld) => {
    await world.create('c');
    await world.until('the cluster runs', isRunning(world));
    const keys = await write(world, 50);
    await world.patch('c', { spec: { primaries: 4 } });
    await world.until('it has grown', () => isRunning(world)() && world.status('c').replicas === 4, 900_000);
    await world.patch('c', { spec: { primaries: 3 } });
    await world.until('it has shrunk', () => isRunning(world)() && world.set('c')?.spec?.replicas === 6, 900_000);
    assertHeld(world, keys);
    assert.equal(world.status('c').primaries, 3);
    assert.equal(world.status('c').replicas, 3);
  };
  await live(calm);
  const every = Math.ceil(calm.effects / 24);
  let deaths = 0;
  for (let after = 3; after < calm.effects; after += every) {
    const world = await OperatorWorld.start(t);
    world.diesAfter = after;
    world.deathComes = deaths % 2 === 0 ? 'before' : 'after';
    await live(world);
    deaths += world.deaths;
  }
  t.diagnostic(`${calm.effects} effects, ${deaths} deaths`);
  assert.ok(deaths >= 20, `${deaths} deaths`);
});
