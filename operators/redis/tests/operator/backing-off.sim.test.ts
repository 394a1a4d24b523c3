/** An operation that fails again and again: what else is amiss is told in time, and whatever else is asked for is done. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { OperatorWorld } from './world.ts';

const LONGEST_LOOK_MS = 30_000;
const NODE_TIMEOUT_MS = 2_000;

const condition = (world: OperatorWorld, type: string) =>
  world.status('c').conditions?.find((one) => one.type === type);
const ended = (world: OperatorWorld, name: string) => () =>
  /Succeeded|Failed/.test(world.taskStatus(name)?.phase ?? '');

/** A slot is open, and servers deny what would close it: by now the next try is more than a minute away. */
async function vain(t: TestContext): Promise<OperatorWorld> {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' } });
  await world.until('the cluster runs', () => world.status('c').phase === 'Running');
  world.denies = (label) => label === 'CLUSTER SETSLOT';
  openSlot(world, 0);
  const failures = () => world.status('c').operations?.filter(({ outcome }) => outcome !== 'done').length ?? 0;
  await world.until('it failed five times', () => failures() >= 5, 600_000);
  await world.pass(3_000);
  assert.equal(world.status('c').currentOperation, undefined);
  return world;
}

function openSlot(world: OperatorWorld, slot: number): void {
  const ownerOf = (one: number) => world.servers.find((server) => server.ownerOf(one) === server.self);
  const [owner, other] = [ownerOf(slot), ownerOf(16_383 - slot)];
  assert.ok(owner && other);
  world.model.execute(owner.endpoint, ['CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', other.id]);
}

test('a second damage is a condition within thirty seconds while the first waits for its next try, which is told', async (t) => {
  const world = await vain(t);
  const wait = world.status('c').waitingFor?.find(({ reason }) => reason === 'BackingOff');
  assert.deepEqual(wait?.subjects, ['fix', 'REDIS_REPLY']);
  const next = Date.parse(/tried again at (\S+Z)/.exec(wait?.message ?? '')?.[1] ?? '');
  assert.ok(next > world.clock.now() + 60_000, wait?.message);
  assert.equal(condition(world, 'NodeFailed'), undefined);
  const replica = world.status('c').members?.find(({ role }) => role === 'replica');
  world.kubelet.held.add(replica?.pod ?? '');
  world.model.kill(world.serverOf(replica?.pod ?? ''));
  const within = LONGEST_LOOK_MS + 2 * NODE_TIMEOUT_MS;
  await world.until('it is told', () => condition(world, 'NodeFailed')?.status === 'True', within);
  assert.ok(world.clock.now() < next, 'without a try in between');
});

test('tasks are carried out while what failed waits for its next try', async (t) => {
  const world = await vain(t);
  const tries = () => world.status('c').operations?.filter(({ kind }) => kind === 'fix').length;
  const before = tries();
  await world.task('look', { cluster: 'c', check: {} });
  await world.until('it is checked', ended(world, 'look'), 10_000);
  assert.match(world.taskStatus('look')?.message ?? '', /findings/);
  const replica = world.status('c').members?.find(({ role }) => role === 'replica')?.pod ?? '';
  await world.task('over', { cluster: 'c', failover: { to: replica } });
  await world.until('another one has taken over', ended(world, 'over'), 20_000);
  assert.equal(world.taskStatus('over')?.phase, 'Succeeded', world.taskStatus('over')?.message);
  await world.task('copy', { cluster: 'c', backup: {} });
  await world.until('the backup has ended', ended(world, 'copy'), 20_000);
  assert.equal(tries(), before, 'all of that in between');
  await world.task('mend', { cluster: 'c', fix: { allowUnreachable: true } });
  await world.until('a fix by hand is tried', ended(world, 'mend'), 20_000);
  assert.equal(world.taskStatus('mend')?.code, 'REDIS_REPLY');
  const wait = world.status('c').waitingFor?.find(({ reason }) => reason === 'BackingOff');
  world.denies = () => false;
  await world.task('again', { cluster: 'c', fix: { allowUnreachable: true } });
  await world.until('it is mended by hand', ended(world, 'again'), 20_000);
  assert.equal(world.taskStatus('again')?.phase, 'Succeeded');
  assert.ok(Date.parse(/at (\S+Z)/.exec(wait?.message ?? '')?.[1] ?? '') > world.clock.now(), 'before the next try');
  await world.until('nothing is waited for', () => world.status('c').waitingFor?.length === 0);
});

test('however often its turns failed, a cluster is looked at within thirty seconds', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' } });
  await world.until('the cluster runs', () => world.status('c').phase === 'Running');
  const isStatus = ({ method, path }: { readonly method: string; readonly path: string }) =>
    method !== 'GET' && /redisclusters\/c\/status/.test(path);
  world.failsOn = isStatus;
  openSlot(world, 0);
  for (let minutes = 0; minutes < 10; minutes++) await world.pass(60_000);
  assert.equal(condition(world, 'SlotOpen'), undefined, 'nothing could be written');
  world.failsOn = () => false;
  await world.until('it is told', () => condition(world, 'SlotOpen') !== undefined, LONGEST_LOOK_MS);
});
