/** Tasks of clusters for which nothing is done: they say why, once, and go on when that is over. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OperatorWorld } from './world.ts';

test('a task of a cluster that is not created, or paused, waits and says why; it runs when it can', async (t) => {
  const world = await OperatorWorld.start(t);
  let writes = 0;
  world.failsOn = ({ path }) => {
    if (/redistasks\/\w+\/status/.test(path)) writes++;
    return false;
  };
  const says = (name: string) => {
    const { phase, message, waitingFor, conditions } = world.taskStatus(name) ?? {};
    assert.equal(message, waitingFor);
    assert.deepEqual(
      conditions?.map(({ type, status, message: why }) => [type, status, why]),
      [[phase, 'True', message]],
    );
    return `${phase}: ${message}`;
  };
  await world.create('c', { storage: { size: '1Gi' }, creation: 'manual' });
  await world.until('it waits for a word', () => world.status('c').proposal !== undefined);
  await world.task('first', { cluster: 'c', check: {} });
  await world.task('second', { cluster: 'c', fix: {} });
  await world.pass(60_000);
  for (const name of ['first', 'second']) assert.match(says(name), /^Waiting: the cluster is not created yet/);
  assert.equal(writes, 2, 'once each');
  await world.patch('c', { spec: { paused: true } });
  await world.pass(60_000);
  for (const name of ['first', 'second']) assert.match(says(name), /^Waiting: the cluster is paused/);
  assert.equal(writes, 4);
  await world.patch('c', { spec: { paused: false, creation: 'automatic' } });
  for (const name of ['first', 'second']) {
    await world.until(`${name} is done`, () => world.taskStatus(name)?.phase === 'Succeeded');
    assert.equal(world.taskStatus(name)?.waitingFor, undefined);
  }
  await world.deleteSecret('c-auth');
  await world.task('third', { cluster: 'c', upgrade: { version: '9.1.3' } });
  await world.until('it waits', () => world.taskStatus('third')?.phase === 'Waiting');
  assert.match(says('third'), /c-auth has lost the password/);
});

test('an upgrade waits while nobody can say what servers run; an older version is refused when they do', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' } });
  await world.until('the cluster runs', () => world.status('c').phase === 'Running');
  const { passwordAt } = world.kubelet;
  world.kubelet.passwordAt = () => 'another one';
  await world.task('older', { cluster: 'c', upgrade: { version: '8.1.1' } });
  await world.pass(60_000);
  assert.match(world.taskStatus('older')?.message ?? '', /did not let us in/);
  assert.equal(world.taskStatus('older')?.phase, 'Waiting');
  await world.task('look', { cluster: 'c', check: {} });
  await world.task('move', { cluster: 'c', reshard: { slots: 10, to: 'c-0' } });
  await world.pass(60_000);
  for (const name of ['look', 'move'])
    assert.match(world.taskStatus(name)?.waitingFor ?? '', /did not let us in/, name);
  world.kubelet.passwordAt = passwordAt.bind(world.kubelet);
  for (const { endpoint } of world.servers) world.hidden.add(String(endpoint));
  await world.until('it says so', () => /no server .* answers/.test(world.taskStatus('older')?.message ?? ''));
  await world.pass(60_000);
  assert.equal(world.cluster('c')?.spec.version, undefined, 'the cluster is told nothing');
  for (const name of ['look', 'move']) assert.match(world.taskStatus(name)?.waitingFor ?? '', /no server/, name);
  world.hidden.clear();
  await world.until('it has ended', () => world.taskStatus('older')?.phase === 'Failed');
  assert.equal(world.taskStatus('older')?.code, 'UPGRADE_OLDER');
  assert.equal(world.taskStatus('older')?.waitingFor, undefined);
  for (const name of ['look', 'move'])
    await world.until(`${name} is done`, () => world.taskStatus(name)?.phase === 'Succeeded');
});

test('a task that runs when its cluster is paused says so, and goes on after that', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', {});
  await world.until('the cluster runs', () => world.status('c').phase === 'Running');
  const to = world.status('c').members?.find(({ role }) => role === 'primary')?.pod ?? '';
  // It cannot be carried out to its end.
  world.denies = (label) => /SETSLOT|MIGRATE/.test(label);
  await world.task('move', { cluster: 'c', reshard: { slots: 900, to } });
  await world.until('it runs', () => world.taskStatus('move')?.phase === 'Running');
  await world.patch('c', { spec: { paused: true } });
  await world.until('it says so', () => /paused/.test(world.taskStatus('move')?.message ?? ''));
  const { phase, operation, waitingFor } = world.taskStatus('move') ?? {};
  assert.deepEqual([phase, operation], ['Running', world.status('c').currentOperation?.id]);
  assert.match(waitingFor ?? '', /paused/);
  world.denies = () => false;
  await world.patch('c', { spec: { paused: false } });
  await world.until('it is done', () => world.taskStatus('move')?.phase === 'Succeeded');
  assert.doesNotMatch(JSON.stringify(world.taskStatus('move')), /paused/);
});
