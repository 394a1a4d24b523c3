/** A cluster of servers that somebody runs: looked at by the operator, changed by their agents only. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { countSlots, parseSlots, SLOT_COUNT } from '../../src/api/slots.ts';
import { redisClusters } from '../../src/api/kinds.ts';
import { ExternalWorld } from './external-world.ts';
import { NAMESPACE } from './world.ts';

const external = { members: 'external' } as const;
/** What only looks. */
const LOOKS =
  /^(?:INFO|CLUSTER (?:NODES|INFO|SHARDS|COUNTKEYSINSLOT|GETSLOTMIGRATIONS|SLOT-STATS)|COMMAND \w+|CONFIG GET|FUNCTION LIST)$/;

const isRunning = ({ operator }: ExternalWorld) => {
  const { phase, currentOperation } = operator.status('c');
  return phase === 'Running' && currentOperation === undefined;
};
/** Nothing is under way and all is served; a new primary may lack its replica. */
const isServed = ({ operator }: ExternalWorld) => {
  const { phase, currentOperation } = operator.status('c');
  return (phase === 'Running' || phase === 'Degraded') && currentOperation === undefined;
};
const condition = ({ operator }: ExternalWorld, type: string) =>
  operator.status('c').conditions?.find((one) => one.type === type)?.status;
const member = ({ operator }: ExternalWorld, name: string) =>
  operator.status('c').members?.find(({ pod }) => pod === name);
const slotsOf = (world: ExternalWorld, name: string) => countSlots(parseSlots(member(world, name)?.slots ?? '') ?? []);

async function created(t: TestContext): Promise<ExternalWorld> {
  const world = await ExternalWorld.start(t);
  await world.operator.create('c', external);
  await world.enrollAll('c', 6);
  await world.operator.until('the cluster runs', () => isRunning(world));
  return world;
}

async function done(world: ExternalWorld, name: string, spec: object): Promise<void> {
  await world.operator.task(name, { cluster: 'c', ...spec });
  await world.operator.until(
    `${name} has ended`,
    () => /Succeeded|Failed/.test(world.operator.taskStatus(name)?.phase ?? ''),
    600_000,
  );
  assert.deepEqual(
    [world.operator.taskStatus(name)?.phase, world.operator.taskStatus(name)?.message],
    ['Succeeded', undefined],
  );
}

test('enough empty members that name a cluster become one, through their agents, apart by what these were told', async (t) => {
  const world = await ExternalWorld.start(t);
  const { operator } = world;
  await operator.create('c', external);
  await world.enrollAll('c', 5);
  await world.enroll('another', 'h-9');
  await operator.until(
    'it says what is missing',
    () => operator.status('c').waitingFor?.some(({ message }) => message.startsWith('5 of 6 members')) ?? false,
  );
  await operator.pass(30_000);
  assert.equal(operator.status('c').phase, 'Pending');
  await world.enroll('c', 'h-6');
  await operator.until('the cluster runs', () => isRunning(world));
  const { primaries, replicas, slots, members = [] } = operator.status('c');
  assert.deepEqual([primaries, replicas, slots], [3, 3, SLOT_COUNT]);
  const zone = (name: string) => Number(name.split('-').at(-1)) % 3;
  for (const { pod, of } of members) if (of !== undefined) assert.notEqual(zone(pod), zone(of), `${pod} of ${of}`);
  assert.deepEqual(
    [...operator.asked].filter((label) => !LOOKS.test(label)),
    [],
    'the manager itself only looks',
  );
  assert.equal(operator.set('c'), undefined);
  assert.equal(operator.secret('c-auth'), undefined);
  assert.deepEqual(world.orders, []);
  assert.equal(condition(world, 'AgentLost'), 'False');
  assert.equal(world.server('h-9').peers.size, 1, 'the member of another cluster is left alone');
});

test('with creation by hand enough empty members wait for the approval of their plan', async (t) => {
  const world = await ExternalWorld.start(t);
  const { operator } = world;
  await operator.create('c', { ...external, creation: 'manual' });
  await world.enrollAll('c', 6);
  await operator.until('it is proposed', () => operator.status('c').proposal?.kind === 'create');
  const isUntouched = () => world.servers.every(({ peers }) => peers.size === 1) && world.orders.length === 0;
  await operator.pass(60_000);
  assert.deepEqual(
    [isUntouched(), operator.status('c').phase, operator.status('c').configured],
    [true, 'Pending', false],
  );
  const approve = (digest: string) =>
    operator.patch('c', { metadata: { annotations: { 'redis.reeve.dev/approve': digest } } });
  await approve('v1-0000000000000000');
  await operator.pass(60_000);
  assert.ok(isUntouched(), 'of another plan');
  const { digest = '' } = operator.status('c').proposal ?? {};
  await approve(digest);
  await operator.until('the cluster runs', () => isRunning(world));
  assert.deepEqual([operator.status('c').primaries, operator.status('c').replicas], [3, 3]);
  assert.deepEqual(
    operator.status('c').operations?.map(({ kind, outcome, approval }) => [kind, outcome, approval]),
    [['create', 'done', digest]],
  );
});

test('members join and leave by tasks, and only by them', async (t) => {
  const world = await created(t);
  const { operator } = world;
  const keys = await world.write(100);
  await world.enroll('c', 'h-7');
  await world.enroll('c', 'h-8');
  await operator.pass(60_000);
  assert.equal(world.server('h-7').peers.size, 1, 'nobody is taken in unasked');
  await done(world, 'add-primary', { addNode: { member: 'h-7', as: 'primary' } });
  await operator.until('it has its share', () => isServed(world) && slotsOf(world, 'h-7') > 3_900, 600_000);
  await done(world, 'add-replica', { addNode: { member: 'h-8', of: 'h-7' } });
  await operator.until('it follows', () => isRunning(world) && member(world, 'h-8')?.of === 'h-7');
  world.assertHeld(keys);
  await done(world, 'out', { deleteNode: { node: 'h-7' } });
  await done(world, 'out-too', { deleteNode: { node: 'h-8' } });
  await operator.until('they are out', () => isRunning(world) && operator.status('c').members?.length === 6);
  await operator.pass(60_000);
  assert.equal(world.server('h-7').peers.size, 1, 'nobody comes back unasked');
  assert.deepEqual([operator.status('c').primaries, operator.status('c').replicas], [3, 3]);
  world.assertHeld(keys);
  assert.deepEqual(world.orders, []);
  await operator.task('nobody', { cluster: 'c', addNode: { member: 'h-77' } });
  await operator.until('it fails', () => operator.taskStatus('nobody')?.phase === 'Failed');
  assert.equal(operator.taskStatus('nobody')?.code, 'MEMBER_UNKNOWN');
});

test('an agent that is silent for three turns is lost, its server is not; what needs it waits, and goes on when it is back', async (t) => {
  const world = await created(t);
  const { operator } = world;
  world.killAgent('h-1');
  await operator.pass(15_000);
  assert.equal(condition(world, 'AgentLost'), 'False', 'it may have renewed its lease ten seconds before');
  await operator.until('it is lost', () => condition(world, 'AgentLost') === 'True', 60_000);
  assert.ok((await operator.reasons()).includes('AgentLost'));
  assert.equal(operator.status('c').phase, 'Running');
  assert.equal(condition(world, 'Ready'), 'True');
  await operator.stopManager();
  operator.startManager();
  for (let turn = 0; turn < 20; turn++) {
    await operator.pass(1_000);
    assert.equal(condition(world, 'AgentLost'), 'True', 'the next operator does not take back what it cannot know');
  }
  world.startAgent('h-1');
  await operator.until('it is back', () => condition(world, 'AgentLost') === 'False', 60_000);
  const replica = operator.status('c').members?.find(({ role }) => role === 'replica')?.pod ?? '';
  world.killAgent(replica);
  await operator.until('it is lost', () => condition(world, 'AgentLost') === 'True', 60_000);
  await operator.task('over', { cluster: 'c', failover: { to: replica } });
  await operator.until('nobody can do it', () => operator.taskStatus('over')?.phase === 'Failed', 300_000);
  assert.equal(operator.taskStatus('over')?.code, 'AGENT_MISSING');
  world.startAgent(replica);
  await operator.until('it is back', () => condition(world, 'AgentLost') === 'False', 60_000);
  await done(world, 'over-again', { failover: { to: replica } });
});

test('that an agent is lost is told when its three turns are over, not with the look after that', async (t) => {
  const world = await created(t);
  const { operator } = world;
  for (const name of ['h-1', 'h-2', 'h-3']) {
    await operator.pass(3_250);
    world.killAgent(name);
    await operator.until('it is lost', () => condition(world, 'AgentLost') === 'True', 60_000);
    const silentMs = operator.clock.now() - world.renewedAt(name);
    assert.ok(silentMs <= 31_000, `${name} was silent for ${silentMs} ms`);
    world.startAgent(name);
    await operator.until('it is back', () => condition(world, 'AgentLost') === 'False', 60_000);
  }
});

test('a slot that is opened is looked at when an agent tells of it, not with the next look', async (t) => {
  const world = await created(t);
  const { operator } = world;
  await operator.pass(30_000);
  const looked = () => Date.parse(operator.status('c').observedAt ?? '');
  await operator.until('it was just looked at', () => operator.clock.now() - looked() < 1_000, 120_000);
  const ownerOf = (slot: number) =>
    world.servers.find((server) => server.isPrimary && server.ownerOf(slot) === server.self);
  const [owner, other] = [ownerOf(0), ownerOf(SLOT_COUNT - 1)];
  operator.model.execute(owner?.endpoint ?? '', ['CLUSTER', 'SETSLOT', '0', 'MIGRATING', other?.id ?? '']);
  await operator.until('it is told', () => condition(world, 'SlotOpen') === 'True', 5_000);
});

test('states are stored with the time of their collection; who falls silent keeps the last one', async (t) => {
  const world = await created(t);
  const { operator } = world;
  await operator.pass(90_000);
  const collected = Date.parse(operator.status('c').observedAt ?? '');
  assert.ok(operator.clock.now() - collected <= 75_000, 'a quiet cluster is told to be so once a minute');
  assert.ok(operator.status('c').members?.every(({ silent, collectedAt }) => !silent && collectedAt === undefined));
  const before = member(world, 'h-2');
  const died = operator.clock.now();
  world.killServer('h-2');
  await operator.until('it is silent', () => member(world, 'h-2')?.silent === true);
  await operator.pass(120_000);
  const after = member(world, 'h-2');
  assert.deepEqual([after?.id, after?.role], [before?.id, before?.role]);
  assert.ok(Date.parse(after?.collectedAt ?? '') <= died, `${after?.collectedAt}`);
  assert.ok(Date.parse(operator.status('c').observedAt ?? '') > died + 30_000);
  assert.equal(condition(world, 'AgentLost'), 'False', 'its agent lives');
  world.restartServer('h-2');
  await operator.until('it is back', () => isRunning(world) && member(world, 'h-2')?.silent === undefined);
});

test('a node that died for good is taken out by its member’s name', async (t) => {
  const world = await created(t);
  const { operator } = world;
  const keys = await world.write(50);
  const dead = operator.status('c').members?.find(({ role }) => role === 'primary')?.pod ?? '';
  const id = member(world, dead)?.id;
  world.killServer(dead);
  await operator.until(
    'another one has its slots',
    () => operator.status('c').slots === SLOT_COUNT && member(world, dead)?.silent === true,
  );
  await operator.pass(30_000);
  await done(world, 'out', { deleteNode: { node: dead } });
  await world.revoke(dead);
  await operator.until('it is forgotten', () => !operator.status('c').members?.some((one) => one.id === id));
  await world.enroll('c', 'h-7');
  await done(world, 'in', { addNode: { member: 'h-7' } });
  await operator.until('it is whole', () => isRunning(world) && operator.status('c').replicas === 3);
  world.assertHeld(keys);
});

test('a replica that takes long to fill is waited for', async (t) => {
  const world = await created(t);
  const { operator } = world;
  await world.enroll('c', 'h-7');
  await operator.pass(15_000);
  await operator.task('in', { cluster: 'c', addNode: { member: 'h-7' } });
  const { replication } = world.server('h-7');
  await operator.until('it is being filled', () => replication.link === 'syncing');
  const began = operator.clock.now();
  replication.syncedAt = began + 400_000;
  const hasEnded = () => /Succeeded|Failed/.test(operator.taskStatus('in')?.phase ?? '');
  await operator.until('the task has ended', hasEnded, 600_000);
  assert.equal(operator.taskStatus('in')?.phase, 'Succeeded', JSON.stringify(operator.taskStatus('in')));
  assert.ok(operator.clock.now() - began >= 400_000);
});

/** An operator that died when it had ordered something of an agent that was dead already: nobody knew yet. */
async function diedWithAnOrder(t: TestContext): Promise<ExternalWorld> {
  const world = await created(t);
  const { operator } = world;
  await world.enroll('c', 'h-7');
  await operator.pass(15_000);
  world.killAgent('h-7');
  await operator.task('in', { cluster: 'c', addNode: { member: 'h-7' } });
  await operator.until('it has an order', () => world.ordersOf('h-7').length > 0, 25_000);
  operator.diesAfter = 0;
  await operator.until('the operator has died', () => operator.deaths === 1);
  return world;
}

test('what an operator ordered before it died is taken back by the next one, which waits for an agent that is lost meanwhile', async (t) => {
  const world = await diedWithAnOrder(t);
  const { operator } = world;
  await operator.until('the agent is lost', () => condition(world, 'AgentLost') === 'True', 120_000);
  await operator.pass(60_000);
  assert.equal(operator.taskStatus('in')?.phase, 'Running');
  assert.equal(world.ordersOf('h-7').length, 1);
  world.startAgent('h-7');
  await operator.until('it is in', () => operator.taskStatus('in')?.phase === 'Succeeded');
  await operator.until('it runs', () => isRunning(world) && operator.status('c').members?.length === 7);
  assert.deepEqual(world.orders, []);
});

test('what an operator ordered before it died is taken back while the cluster is paused, too: nothing of it is done any more', async (t) => {
  const world = await diedWithAnOrder(t);
  const { operator } = world;
  await operator.patch('c', { spec: { paused: true } });
  await operator.until('it is taken back', () => world.ordersOf('h-7').every(({ cancel }) => cancel === true), 60_000);
  const reasons = () => operator.status('c').waitingFor?.map(({ reason }) => reason) ?? [];
  await operator.until('it is told', () => reasons().includes('OrdersOpen'), 60_000);
  world.startAgent('h-7');
  await operator.until('nothing is ordered', () => world.orders.length === 0, 60_000);
  await operator.until('nothing is waited for', () => !reasons().includes('OrdersOpen'), 60_000);
  await operator.pass(30_000);
  assert.equal(operator.status('c').phase, 'Paused');
  assert.equal(world.server('h-7').peers.size, 1, 'nobody took it in');
  await operator.patch('c', { spec: { paused: false } });
  await operator.until('it is in', () => operator.taskStatus('in')?.phase === 'Succeeded', 600_000);
});

test('deleting the resource leaves servers and members as they are; declared again, paused at first, the cluster is adopted', async (t) => {
  const world = await created(t);
  const { operator } = world;
  const keys = await world.write(50);
  await operator.api.client.resource(redisClusters, NAMESPACE).delete('c');
  await operator.until('it is gone', () => operator.cluster('c') === undefined);
  await operator.pass(20_000);
  world.assertHeld(keys);
  await operator.create('c', { ...external, paused: true });
  await operator.until('it is seen', () => operator.status('c').slots === SLOT_COUNT);
  assert.equal(operator.status('c').phase, 'Paused');
  await operator.patch('c', { spec: { paused: false } });
  await operator.until('it runs', () => isRunning(world));
  await operator.pass(30_000);
  assert.deepEqual([operator.status('c').configured, operator.status('c').operations], [true, []]);
  world.assertHeld(keys);
});

test('the operator dies at its effects, one after the other, while members come and go', async (t) => {
  const live = async (world: ExternalWorld) => {
    const { operator } = world;
    await operator.create('c', external);
    await world.enrollAll('c', 6);
    await operator.until('the cluster runs', () => isRunning(world));
    const keys = await world.write(50);
    await world.enroll('c', 'h-7');
    await operator.task('in', { cluster: 'c', addNode: { member: 'h-7', as: 'primary' } });
    await operator.until('it has its share', () => isServed(world) && slotsOf(world, 'h-7') > 3_900, 900_000);
    await operator.task('out', { cluster: 'c', deleteNode: { node: 'h-7' } });
    await operator.until('it is out', () => operator.taskStatus('out')?.phase === 'Succeeded', 900_000);
    await operator.until('it runs', () => isRunning(world) && operator.status('c').members?.length === 6);
    world.assertHeld(keys);
    assert.deepEqual([operator.status('c').primaries, operator.status('c').replicas], [3, 3]);
  };
  const calm = await ExternalWorld.start(t);
  await live(calm);
  const { effects } = calm.operator;
  const every = Math.ceil(effects / 24);
  let deaths = 0;
  for (let after = 5; after < effects; after += every) {
    const world = await ExternalWorld.start(t);
    world.operator.diesAfter = after;
    await live(world);
    deaths += world.operator.deaths;
  }
  t.diagnostic(`${effects} effects, ${deaths} deaths`);
  assert.ok(deaths >= 20, `${deaths} deaths`);
});
