import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RedisTaskStatus } from '../api/task.ts';
import { taskLine } from './tasks.ts';
import { type ClusterState, waitingTasks, whyTasksWait } from './waiting-tasks.ts';

const task = (name: string, status?: RedisTaskStatus, what: object = { check: {} }) => ({
  metadata: { name, uid: name },
  spec: { cluster: 'c', ...what },
  ...(status && { status }),
});
const told = (tasks: readonly ReturnType<typeof task>[], why: string | undefined) =>
  waitingTasks(tasks as never, why, false).map(([one, { message }]) => [one.metadata.name, message]);

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
  const [first] = told([task('told', { phase: 'Waiting', message: 'paused' })], undefined);
  assert.match(first?.[1] ?? '', /^its turn: /, 'nobody is before it any more');
  assert.deepEqual(told([task('told', { phase: 'Waiting', message: first?.[1] ?? '' })], undefined), []);
});

test('a task that has to wait for others is told after whom it comes, once', () => {
  const running = task('a', { phase: 'Running' });
  const [second, third, ...others] = waitingTasks([running, task('c'), task('b')] as never, undefined, false);
  assert.deepEqual([second?.[1].phase, third?.[1].phase, others], ['Waiting', 'Waiting', []]);
  assert.match(second?.[1].waitingFor ?? '', /^its turn after task a: /);
  assert.match(third?.[1].waitingFor ?? '', /^its turn after task b: /);
  const again = [running, task('b', second?.[1]), task('c', third?.[1])];
  assert.deepEqual(waitingTasks(again as never, undefined, false), []);
  const next = told(again.slice(1), undefined);
  assert.deepEqual(
    next.map(([name]) => name),
    ['b'],
    'whoever comes after it still does',
  );
});

test('what mends the cluster passes an upgrade, which may wait for it, and nothing else does', () => {
  const upgrade = { upgrade: { version: '9.2.0' } };
  const backup = { backup: {} };
  const order = (...tasks: readonly ReturnType<typeof task>[]) =>
    taskLine(tasks as never, false).map(({ metadata }) => metadata.name);
  const up = task('b', { phase: 'Running' }, upgrade);
  const fix = task('e', undefined, { fix: { allowUnreachable: true } });
  const failover = task('d', undefined, { failover: { to: 'c-1' } });
  assert.deepEqual(order(fix, failover, task('c', undefined, backup), up), ['d', 'e', 'b', 'c']);
  assert.deepEqual(order(fix, up, task('a', undefined, backup)), ['a', 'b', 'e'], 'first in, first out');
  assert.deepEqual(order(up, task('c', undefined, backup), task('d', undefined, { reshard: {} })), ['b', 'c', 'd']);
  assert.deepEqual(order(up, task('a', { phase: 'Succeeded' }, backup), fix), ['e', 'b']);
  const away = taskLine([up, fix, task('f', undefined, { fix: {} })] as never, true);
  assert.deepEqual(
    away.map(({ metadata }) => metadata.name),
    ['f', 'b', 'e'],
    'who may come back is not given up',
  );
  const said = told([up, task('c', undefined, backup), failover, fix], undefined);
  assert.deepEqual(
    said.map(([name, why]) => `${name}: ${why?.split(':')[0]}`),
    ['e: its turn after task d', 'c: its turn after task b'],
  );
});

test('a task that runs keeps what it says, with why it does not go on, until it does', () => {
  const begun: RedisTaskStatus = { phase: 'Running', operation: 'fix-1', startedAt: 'then', progress: '3 of 9' };
  const one = task('runs', { ...begun, waitingFor: 'a pod' });
  const [paused] = waitingTasks([one] as never, 'paused', false);
  assert.deepEqual(paused?.[1], { ...begun, message: 'paused', waitingFor: 'paused' });
  assert.deepEqual(waitingTasks([task('runs', paused?.[1])] as never, 'paused', false), []);
  assert.deepEqual(waitingTasks([task('runs', paused?.[1])] as never, undefined, false)[0]?.[1], begun);
  assert.deepEqual(waitingTasks([one] as never, undefined, false), []);
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
