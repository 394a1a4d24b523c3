/** What checks find, told to people: as events when it comes, as conditions while it is so. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slotOfKey } from '@reeve/simulation/redis';
import { OperatorWorld } from './world.ts';

const condition = (world: OperatorWorld, type: string) =>
  world.status('c').conditions?.find((one) => one.type === type);

test('a second node that fails while the first is down is an event of its own', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' } });
  await world.until('the cluster runs', () => world.status('c').phase === 'Running');
  const told = async () => (await world.events()).filter(({ reason }) => reason === 'NodeFailed');
  const replicas = (world.status('c').members ?? []).filter(({ role }) => role === 'replica').slice(0, 2);
  for (const [at, { pod, id }] of replicas.entries()) {
    world.kubelet.held.add(pod);
    world.model.kill(world.serverOf(pod));
    const says = new RegExp(`${id.slice(0, 8)} \\S+ \\(replica\\) is failed`);
    await world.until('the condition says so', () => says.test(condition(world, 'NodeFailed')?.message ?? ''));
    await world.pass(2_000);
    assert.equal((await told()).length, at + 1);
  }
  assert.deepEqual((await told()).map(({ related }) => related?.name).sort(), replicas.map(({ pod }) => pod).sort());
});

/** What Prometheus is told of findings: code, severity and how many. */
const counted = (world: OperatorWorld) =>
  world
    .metrics()
    .split('\n')
    .filter((line) => line.startsWith('reeve_redis_findings{'))
    .map((line) => /code="(\w+)",severity="(\w+)"\} (\d+)/.exec(line)?.slice(1).join(' '));
const STRAYS = 'KEYS_OUTSIDE_SLOT broken 1';

test('what was not looked for is not counted, and what is counted goes with the term', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' } });
  await world.until('the cluster runs', () => world.status('c').phase === 'Running');
  await world.pass(30_000);
  assert.deepEqual(counted(world), []);
  assert.match(world.metrics(), /^reeve_redis_slots_served\{.*\} 16384$/m);
  await world.stopManager();
  assert.doesNotMatch(world.metrics(), /^reeve_redis_\w+\{/m);
});

/** A key that lies where no client looks for it. */
function stray(world: OperatorWorld) {
  const slot = slotOfKey('lost');
  const owner = world.servers.find((server) => server.ownerOf(slot) === server.self);
  const other = world.servers.find((server) => server.isPrimary && server.self !== owner?.self);
  assert.ok(owner && other);
  const tell = (server: typeof owner, ...args: string[]) => world.model.execute(server.endpoint, args);
  tell(owner, 'SET', 'lost', 'value');
  tell(other, 'CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', owner.id);
  tell(owner, 'CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', other.id);
  tell(owner, 'MIGRATE', other.host, String(other.port), '', '0', '1000', 'KEYS', 'lost');
  for (const server of [owner, other]) tell(server, 'CLUSTER', 'SETSLOT', String(slot), 'STABLE');
  return { owner, other, tell };
}

test('keys outside their slots that a task finds are an event and a condition, until a fix has moved them', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' } });
  await world.until('the cluster runs', () => world.status('c').phase === 'Running');
  const { owner, tell } = stray(world);
  const check = async (name: string) => {
    await world.task(name, { cluster: 'c', check: { strayKeys: true } });
    await world.until(`${name} has ended`, () => world.taskStatus(name)?.phase === 'Succeeded');
  };
  // Whoever dies with the end of the task has told the cluster before.
  world.deathComes = 'before';
  world.diesWith = ({ path }) => world.deaths === 0 && /redistasks\/first\/status/.test(path);
  await world.task('first', { cluster: 'c', check: { strayKeys: true } });
  await world.until('it died', () => world.deaths === 1);
  assert.equal(condition(world, 'StrayKeys')?.status, 'True');
  await world.until('it has ended', () => world.taskStatus('first')?.phase === 'Succeeded');
  assert.match(condition(world, 'StrayKeys')?.message ?? '', /holds 1 key of slots that it does not own/);
  await world.pass(60_000);
  assert.equal(condition(world, 'StrayKeys')?.status, 'True', 'no other look sees them');
  assert.deepEqual(counted(world), [STRAYS]);
  assert.ok((await world.reasons()).includes('StrayKeys'));
  await check('second');
  assert.equal(condition(world, 'StrayKeys')?.status, 'True');
  await world.task('mend', { cluster: 'c', fix: {} });
  await world.until('it is mended', () => world.taskStatus('mend')?.phase === 'Succeeded');
  await world.until('it is told', () => condition(world, 'StrayKeys')?.status === 'False');
  assert.deepEqual(counted(world), []);
  await check('third');
  assert.equal(condition(world, 'StrayKeys')?.status, 'False');
  assert.equal(tell(owner, 'GET', 'lost'), 'value');
});

test('whoever dies with the end of a fix leaves it to the next one to say that stray keys are over', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' } });
  await world.until('the cluster runs', () => world.status('c').phase === 'Running');
  stray(world);
  await world.task('look', { cluster: 'c', check: { strayKeys: true } });
  await world.until('it is told', () => condition(world, 'StrayKeys')?.status === 'True');
  world.deathComes = 'after';
  world.diesWith = ({ path, body = '' }) =>
    world.deaths === 0 && path.includes('redistasks/mend/status') && String(body).includes('"Succeeded"');
  await world.task('mend', { cluster: 'c', fix: {} });
  await world.until('it died', () => world.deaths === 1);
  assert.equal(world.taskStatus('mend')?.phase, 'Succeeded');
  assert.equal(condition(world, 'StrayKeys')?.status, 'True');
  await world.until('it is over', () => condition(world, 'StrayKeys')?.status === 'False');
  assert.deepEqual(
    (world.status('c').operations ?? []).filter(({ kind }) => kind === 'fix').map(({ outcome }) => outcome),
    ['done'],
  );
});

test('what a person mended otherwise is over when a fix finds nothing to do', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' } });
  await world.until('the cluster runs', () => world.status('c').phase === 'Running');
  const server = stray(world).other;
  await world.task('look', { cluster: 'c', check: { strayKeys: true } });
  await world.until('it is told', () => condition(world, 'StrayKeys')?.status === 'True');
  server.database(0).delete('lost');
  await world.task('mend', { cluster: 'c', fix: {} });
  await world.until('nothing is to be done', () => world.taskStatus('mend')?.message === 'there was nothing to do');
  assert.equal(condition(world, 'StrayKeys')?.status, 'False');
});

test('a fix that could not count the keys of every primary does not call stray keys over', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' } });
  await world.until('the cluster runs', () => world.status('c').phase === 'Running');
  const { other: server, owner, tell } = stray(world);
  await world.task('look', { cluster: 'c', check: { strayKeys: true } });
  await world.until('it is told', () => condition(world, 'StrayKeys')?.status === 'True');
  server.database(0).delete('lost');
  tell(owner, 'SET', '{lost}kept', 'value');
  // In which keys and slots are counted at one moment.
  world.denies = (label) => label === 'transaction';
  await world.task('mend', { cluster: 'c', fix: {} });
  await world.until('nothing is to be done', () => world.taskStatus('mend')?.phase === 'Succeeded');
  assert.equal(condition(world, 'StrayKeys')?.status, 'True');
  assert.deepEqual(counted(world), [STRAYS]);
  world.denies = () => false;
  await world.task('again', { cluster: 'c', fix: {} });
  await world.until('it is over', () => condition(world, 'StrayKeys')?.status === 'False');
});
