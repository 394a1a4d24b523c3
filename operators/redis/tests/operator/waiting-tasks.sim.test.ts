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
