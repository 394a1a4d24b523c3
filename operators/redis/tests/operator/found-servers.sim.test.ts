/** Servers that own a slot or know each other before a cluster was declared: none is made of them behind the back of `creation`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slotOfKey } from '@reeve/simulation/redis';
import { SLOT_COUNT } from '../../src/api/slots.ts';
import { ExternalWorld } from './external-world.ts';
import { OperatorWorld } from './world.ts';

const isRunning = (world: OperatorWorld) => () => {
  const { phase, currentOperation } = world.status('c');
  return phase === 'Running' && currentOperation === undefined;
};
const waits = (world: OperatorWorld) => world.status('c').waitingFor?.map(({ reason }) => reason) ?? [];
const waitOf = (world: OperatorWorld, reason: string) =>
  world.status('c').waitingFor?.find((one) => one.reason === reason);
const shape = (world: OperatorWorld) => {
  const { configured, primaries, replicas, slots } = world.status('c');
  return { configured, primaries, replicas, slots };
};
const done = (world: OperatorWorld) => world.status('c').operations?.map(({ kind, outcome }) => `${kind} ${outcome}`);
const approve = (world: OperatorWorld) =>
  world.patch('c', { metadata: { annotations: { 'redis.reeve.dev/approve': world.status('c').proposal?.digest } } });

test('one member with a slot is no cluster: it gets no others before a person says so', async (t) => {
  const world = await ExternalWorld.start(t);
  const { operator } = world;
  await operator.create('c', { members: 'external' });
  await world.enroll('c', 'h-1');
  operator.model.execute(world.server('h-1').endpoint, ['CLUSTER', 'ADDSLOTS', '0']);
  await operator.until('it is told', () => waits(operator).includes('NotCreated'));
  await operator.pass(60_000);
  assert.deepEqual(shape(operator), { configured: false, primaries: 1, replicas: 0, slots: 1 });
  assert.deepEqual(done(operator), []);
  const { message, subjects } = waitOf(operator, 'NotCreated') ?? {};
  assert.match(message ?? '', /1 of 16384 slots .*h-1\..*enroll.*approve/);
  assert.deepEqual(subjects, ['h-1']);
  assert.ok(waits(operator).includes('MembersMissing'));
  assert.equal(operator.status('c').proposal?.kind, 'fix');
  await approve(operator);
  await operator.until('it is what a person wanted', () => operator.status('c').configured === true);
  assert.equal(operator.status('c').slots, SLOT_COUNT);
});

test('empty members that know each other become what was declared when the others are there, and nothing before', async (t) => {
  const world = await ExternalWorld.start(t);
  const { operator } = world;
  await operator.create('c', { members: 'external', paused: true });
  await world.enrollAll('c', 4);
  operator.model.execute(world.server('h-3').endpoint, ['CLUSTER', 'MEET', '10.1.0.4', '7000']);
  await operator.pass(5_000);
  await operator.patch('c', { spec: { paused: false } });
  await operator.pass(60_000);
  assert.deepEqual(shape(operator), { configured: false, primaries: 2, replicas: 0, slots: 0 });
  assert.deepEqual(waitOf(operator, 'NotCreated')?.subjects, ['h-3', 'h-4']);
  await world.enroll('c', 'h-5');
  await world.enroll('c', 'h-6');
  await operator.until('the cluster runs', isRunning(operator));
  assert.deepEqual(shape(operator), { configured: true, primaries: 3, replicas: 3, slots: SLOT_COUNT });
  assert.deepEqual(done(operator), ['create done']);
});

test('a member that creation refuses, because it knows somebody’s server, is given no slots by a fix either', async (t) => {
  const world = await ExternalWorld.start(t);
  const { operator } = world;
  operator.model.addServer({ host: '10.9.0.1', port: 7000 });
  await operator.create('c', { members: 'external', paused: true });
  await world.enrollAll('c', 6);
  operator.model.execute(world.server('h-3').endpoint, ['CLUSTER', 'MEET', '10.9.0.1', '7000']);
  await operator.pass(20_000);
  await operator.patch('c', { spec: { paused: false } });
  await operator.pass(60_000);
  assert.deepEqual(done(operator), []);
  assert.deepEqual(shape(operator), { configured: false, primaries: 2, replicas: 0, slots: 0 });
  const refused = operator.status('c').conditions?.find(({ type }) => type === 'Refused');
  assert.deepEqual([refused?.status, refused?.reason], ['True', 'NodeOfOtherCluster']);
  operator.model.execute(world.server('h-3').endpoint, ['CLUSTER', 'RESET', 'HARD']);
  await operator.until('what was emptied is taken', isRunning(operator));
  assert.deepEqual(shape(operator), { configured: true, primaries: 3, replicas: 3, slots: SLOT_COUNT });
});

test('a member whose server holds a key is not made part of a cluster: another one is waited for', async (t) => {
  const world = await ExternalWorld.start(t);
  const { operator } = world;
  await operator.create('c', { members: 'external', paused: true });
  await world.enrollAll('c', 6);
  const { endpoint } = world.server('h-3');
  const slot = String(slotOfKey('key'));
  operator.model.execute(endpoint, ['CONFIG', 'SET', 'cluster-require-full-coverage', 'no']);
  operator.model.execute(endpoint, ['CLUSTER', 'ADDSLOTS', slot]);
  await operator.pass(5_000);
  assert.equal(operator.model.execute(endpoint, ['SET', 'key', 'value']), 'OK');
  operator.model.execute(endpoint, ['CLUSTER', 'DELSLOTS', slot]);
  await operator.patch('c', { spec: { paused: false } });
  await operator.until('a member is missing', () => waits(operator).includes('MembersMissing'));
  await operator.pass(60_000);
  assert.ok(world.servers.every(({ peers }) => peers.size === 1));
  await world.enroll('c', 'h-7');
  await operator.until('the cluster runs', isRunning(operator));
  assert.deepEqual(done(operator), ['create done']);
  assert.equal(world.server('h-3').peers.size, 1);
  assert.equal(world.server('h-3').database(0).size, 1, 'and what it holds is left alone');
});

test('a damaged cluster that serves most of its slots is adopted, and mended without a word', async (t) => {
  const world = await ExternalWorld.start(t);
  const { operator } = world;
  await operator.create('c', { members: 'external' });
  await world.enrollAll('c', 6);
  await operator.until('the cluster runs', isRunning(operator));
  const keys = await world.write(50);
  await operator.delete('c');
  await operator.until('it is gone', () => operator.cluster('c') === undefined);
  const owner = world.servers.find((server) => server.ownerOf(1) === server.self);
  // A slot without keys: nobody has it any more.
  for (const server of world.servers) operator.model.execute(server.endpoint, ['CLUSTER', 'DELSLOTS', '1']);
  assert.notEqual(owner?.ownerOf(1), owner?.self);
  await operator.create('c', { members: 'external' });
  await operator.until('it is mended', isRunning(operator));
  assert.deepEqual(done(operator), ['fix done']);
  assert.deepEqual(shape(operator), { configured: true, primaries: 3, replicas: 3, slots: SLOT_COUNT });
  world.assertHeld(keys);
});

test('pods of which one owns a slot, or two know each other, become a cluster when the others are there, well placed', async (t) => {
  for (const tried of ['slot', 'meeting'] as const) {
    const world = await OperatorWorld.start(t);
    for (const pod of ['c-2', 'c-3', 'c-4', 'c-5']) world.kubelet.held.add(pod);
    await world.create('c');
    await world.until('two are there', () => world.servers.length === 2);
    const [one, other] = [world.serverOf('c-0'), world.serverOf('c-1')];
    if (tried === 'slot') world.model.execute(one.endpoint, ['CLUSTER', 'ADDSLOTS', '0']);
    else world.model.execute(one.endpoint, ['CLUSTER', 'MEET', other.host, String(other.port)]);
    await world.pass(60_000);
    assert.deepEqual([world.status('c').configured, done(world)], [false, []], tried);
    world.kubelet.held.clear();
    await world.until('the cluster runs', isRunning(world));
    assert.deepEqual(done(world), ['create done'], tried);
    assert.deepEqual(shape(world), { configured: true, primaries: 3, replicas: 3, slots: SLOT_COUNT });
  }
});
