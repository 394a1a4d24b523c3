import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RedisTaskStatus } from '../api/task.ts';
import { type ClusterState, waitingTasks, whyTasksWait } from './waiting-tasks.ts';

const task = (name: string, status?: RedisTaskStatus) => ({
  metadata: { name, uid: name },
  spec: { cluster: 'c', check: {} },
  ...(status && { status }),
});
const told = (tasks: readonly ReturnType<typeof task>[], why: string | undefined) =>
  waitingTasks(tasks as never, why).map(([one, { message }]) => [one.metadata.name, message]);

test('a task is told once why it waits, and when that is over; one that has ended is not', () => {
  const all = [
    task('new'),
    task('told', { phase: 'Waiting', message: 'paused' }),
    task('orphan', { phase: 'Waiting', code: 'CLUSTER_MISSING', message: 'there is none' }),
    task('ended', { phase: 'Failed' }),
  ];
  assert.deepEqual(told(all, 'paused'), [
    ['new', 'paused'],
    ['orphan', 'paused'],
  ]);
  const over = told(all, undefined);
  assert.deepEqual(
    over.map(([name]) => name),
    ['orphan', 'told'],
  );
  assert.match(over[0]?.[1] ?? '', /^its turn/);
  assert.deepEqual(told([task('told', { phase: 'Waiting', message: over[0]?.[1] ?? '' })], undefined), []);
});

test('a task that runs keeps what it says, with why it does not go on, until it does', () => {
  const begun: RedisTaskStatus = { phase: 'Running', operation: 'fix-1', startedAt: 'then', progress: '3 of 9' };
  const one = task('runs', { ...begun, waitingFor: 'a pod' });
  const [paused] = waitingTasks([one] as never, 'paused');
  assert.deepEqual(paused?.[1], { ...begun, message: 'paused', waitingFor: 'paused' });
  assert.deepEqual(waitingTasks([task('runs', paused?.[1])] as never, 'paused'), []);
  assert.deepEqual(waitingTasks([task('runs', paused?.[1])] as never, undefined)[0]?.[1], begun);
  assert.deepEqual(waitingTasks([one] as never, undefined), []);
});

test('why the tasks of a cluster wait', () => {
  const known = { problem: undefined, unseen: undefined, isConfigured: true, isAnswering: true };
  const calm: ClusterState = { ...known, isPaused: false };
  assert.match(whyTasksWait({ ...calm, isAnswering: false }) ?? '', /no server of the cluster answers/);
  assert.equal(whyTasksWait(calm), undefined);
  assert.match(whyTasksWait({ ...calm, isConfigured: false }) ?? '', /not created yet/);
  assert.match(whyTasksWait({ ...calm, isConfigured: false, unseen: 'no password' }) ?? '', /^no password/);
  assert.match(whyTasksWait({ ...calm, isConfigured: false, isPaused: true, unseen: 'no' }) ?? '', /paused/);
  assert.match(whyTasksWait({ ...calm, problem: 'a line end', isPaused: true }) ?? '', /a line end$/);
});
