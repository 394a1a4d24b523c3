import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redisClusters } from '../../src/api/kinds.ts';
import { ExternalWorld } from './external-world.ts';
import { NAMESPACE, OperatorWorld } from './world.ts';

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

test('backups and restores that run are told with what they do', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c');
  await world.until('the cluster runs', isRunning(world));
  const wanted = await world.planTask('save', { cluster: 'c', backup: {} });
  assert.equal(wanted.next?.kind, 'backup');
  assert.equal(wanted.next.steps.length, 4);
  await world.stopManager();
  /** As its operator left it when it died. */
  const begun = (kind: string, goal: object) => {
    const trigger = { kind: 'RedisTask', name: kind, uid: `uid-of-${kind}` };
    const startedAt = new Date(world.clock.now()).toISOString();
    const currentOperation = { id: `${kind}-1`, kind, why: 'asked for', trigger, startedAt, goal };
    const value = { status: { currentOperation, progress: '1 of 3 shards' } };
    return world.api.client
      .resource(redisClusters, NAMESPACE)
      .patch('c', { type: 'merge', value }, { subresource: 'status' });
  };
  await begun('backup', { name: 'ns/c/save', by: 'uid-of-backup', users: [] });
  const saving = await world.plan('c');
  assert.deepEqual([saving.next?.kind, saving.next?.isUnderWay, saving.refused], ['backup', true, []]);
  assert.match(saving.next?.steps.join('\n') ?? '', /^a snapshot of 546\d slots from [^]*\nseal ns\/c\/save$/);
  assert.deepEqual(saving.next?.reasons, ['so far: 1 of 3 shards']);
  await begun('restore', { name: 'ns/d/monday' });
  const loading = await world.plan('c');
  assert.deepEqual([loading.next?.kind, loading.next?.isUnderWay, loading.refused], ['restore', true, []]);
  assert.match(loading.next?.steps[0] ?? '', /^load ns\/d\/monday/);
});

test('a task of a paused cluster is told with what it asks for, and that it waits for the pause', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c');
  await world.until('the cluster runs', isRunning(world));
  const asks = [{ check: {} }, { backup: {} }];
  const waits = async (what: object) => {
    const plan = await world.planTask('asked', { cluster: 'c', ...what });
    return [plan.next?.kind, plan.waitingFor.map(({ reason }) => reason)];
  };
  assert.deepEqual(await Promise.all(asks.map(waits)), [
    ['check', []],
    ['backup', []],
  ]);
  await world.patch('c', { spec: { paused: true } });
  assert.deepEqual(await Promise.all(asks.map(waits)), [
    ['check', ['Paused']],
    ['backup', ['Paused']],
  ]);
});

test('an upgrade is told before it begins, while it goes from pod to pod, and when it is refused', async (t) => {
  const world = await OperatorWorld.start(t);
  await world.create('c', { storage: { size: '1Gi' } });
  await world.until('the cluster runs', isRunning(world));
  const up = { cluster: 'c', upgrade: { version: '9.2.0' } };
  const [first = ''] = (await world.planTask('up', up)).next?.steps ?? [];
  assert.equal(first, 'spec.version becomes 9.2.0');
  const back = await world.planTask('back', { ...up, upgrade: { version: '8.0' } });
  assert.deepEqual(
    back.refused.map(({ code }) => code),
    ['UPGRADE_OLDER'],
  );
  await world.stopManager();
  await world.task('up', up);
  const next = await world.plan('c');
  assert.deepEqual([next.next?.kind, next.next?.why], ['upgrade', 'task up asks for it']);
  world.startManager();
  const isUnderWay = () => /^[1-5] of 6/.test(world.taskStatus('up')?.progress ?? '');
  await world.until('it is under way', () => isUnderWay() && world.status('c').currentOperation === undefined);
  const seen = await world.plan('c');
  assert.deepEqual([seen.next?.kind, seen.next?.isUnderWay], ['upgrade', true]);
  assert.match(seen.next?.reasons.join() ?? '', /of 6 pods run valkey:9\.2\.0/);
  assert.ok(seen.waitingFor.some(({ reason }) => reason === 'Upgrade'));
});

test('external members: who is missing, their creation, and that nothing is to be done', async (t) => {
  const world = await ExternalWorld.start(t);
  const { operator } = world;
  await operator.stopManager();
  await operator.create('c', { members: 'external' });
  await world.enrollAll('c', 5);
  await operator.pass(15_000);
  const early = await operator.plan('c');
  assert.equal(early.next, undefined);
  assert.match(early.waitingFor.map(({ message }) => message).join(), /5 of 6 members/);
  await world.enroll('c', 'h-6');
  await operator.pass(15_000);
  const ready = await operator.plan('c');
  assert.deepEqual([ready.next?.kind, ready.objects], ['create', []]);
  operator.startManager();
  await operator.until('the cluster runs', isRunning(operator));
  const calm = await operator.plan('c');
  assert.deepEqual([calm.next, calm.waitingFor, calm.refused], [undefined, [], []]);
  const to = operator.status('c').members?.find(({ role }) => role === 'primary')?.pod ?? '';
  const moved = await operator.planTask('move', { cluster: 'c', reshard: { slots: 10, to } });
  assert.equal(moved.next?.kind, 'reshard', JSON.stringify(moved));
  world.killAgent('h-1');
  await operator.pass(60_000);
  assert.deepEqual((await operator.plan('c')).next, undefined);
});
