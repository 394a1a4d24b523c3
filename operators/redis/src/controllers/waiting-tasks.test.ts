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
  waitingTasks(tasks as never, why).map(([one, message]) => [one.metadata.name, message]);

test('a task is told once why it waits, and when that is over; one that runs or has ended is not', () => {
  const all = [
    task('new'),
    task('told', { phase: 'Waiting', message: 'paused' }),
    task('orphan', { phase: 'Waiting', code: 'CLUSTER_MISSING', message: 'there is none' }),
    task('runs', { phase: 'Running' }),
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

test('why the tasks of a cluster wait', () => {
  const calm: ClusterState = { problem: undefined, isPaused: false, unseen: undefined, isConfigured: true };
  assert.equal(whyTasksWait(calm), undefined);
  assert.match(whyTasksWait({ ...calm, isConfigured: false }) ?? '', /not created yet/);
  assert.match(whyTasksWait({ ...calm, isConfigured: false, unseen: 'no password' }) ?? '', /^no password/);
  assert.match(whyTasksWait({ ...calm, isConfigured: false, isPaused: true, unseen: 'no' }) ?? '', /paused/);
  assert.match(whyTasksWait({ ...calm, problem: 'a line end', isPaused: true }) ?? '', /a line end$/);
});
