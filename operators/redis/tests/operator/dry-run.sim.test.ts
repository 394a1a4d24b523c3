import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OperatorWorld } from './world.ts';

const isRunning = (world: OperatorWorld) => () =>
  world.status('c').phase === 'Running' && world.status('c').currentOperation === undefined;

test('what is planned is what is proposed, what is under way, and what comes next', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { creation: 'manual' });
  await world.until('it proposes', () => world.status('c').proposal?.kind === 'create');
  const planned = await world.plan('c');
  assert.equal(planned.next?.digest, world.status('c').proposal?.digest);
  assert.deepEqual(planned.next?.steps, world.status('c').proposal?.steps);
  assert.equal(planned.next?.needsApproval, true);
  assert.ok(
    planned.objects.every(({ change }) => change === 'none'),
    JSON.stringify(planned.objects),
  );
  const annotations = { 'redis.reeve.dev/approve': planned.next?.digest };
  await world.patch('c', { metadata: { annotations } });
  await world.until('creation has begun', () => world.status('c').currentOperation?.kind === 'create');
  const running = await world.plan('c');
  assert.equal(running.next?.isUnderWay, true);
  assert.equal(running.next?.kind, 'create');
  await world.until('the cluster runs', isRunning(world));
  const calm = await world.plan('c');
  assert.equal(calm.next, undefined);
  assert.deepEqual(calm.waitingFor, []);
  await world.stopManager();
  await world.patch('c', { spec: { primaries: 4, config: { maxmemory: '1gb' } } });
  const grown = await world.plan('c');
  assert.deepEqual(
    grown.objects.filter(({ change }) => change !== 'none').map(({ kind, change }) => [kind, change]),
    [
      ['ConfigMap', 'change'],
      ['StatefulSet', 'change'],
    ],
  );
  assert.equal(world.set('c')?.spec?.replicas, 6, 'nothing was changed');
  assert.match(grown.waitingFor.map(({ message }) => message).join(), /6 of 8 pods/);
});
