import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RedisTaskObject } from '../api/kinds.ts';
import type { RedisTaskStatus } from '../api/task.ts';
import { CLUSTER_WAIT_MS, orphanOf } from './task-controller.ts';
import { taskConditions } from './tasks.ts';

const created = Date.parse('2026-01-01T00:00:00Z');
const task = (status: object = {}): RedisTaskObject =>
  ({
    metadata: { name: 't', namespace: 'ns', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { cluster: 'c', check: {} },
    status,
  }) as RedisTaskObject;

test('a task waits for its cluster for a while, and fails then; one whose cluster went away fails at once', () => {
  const early = orphanOf(task(), created + 1_000);
  assert.equal(early?.status.phase, 'Waiting');
  const toDo = (status: RedisTaskStatus | undefined) => status && taskConditions(status)[0]?.message;
  assert.match(toDo(early.status) ?? '', /\. Declare the cluster, and the task goes on by itself/);
  assert.doesNotMatch(toDo(early.status) ?? '', /again/);
  assert.match(early.status.message ?? '', /no RedisCluster c in namespace ns/);
  assert.equal(early.at, created + CLUSTER_WAIT_MS);
  const late = orphanOf(task({ phase: 'Waiting' }), created + CLUSTER_WAIT_MS);
  assert.equal(late?.status.phase, 'Failed');
  assert.equal(late.status.code, 'CLUSTER_MISSING');
  assert.equal(late.at, undefined);
  assert.match(toDo(late.status) ?? '', /\. Declare the cluster, then make the task again\.$/);
  const ran = orphanOf(task({ phase: 'Running', operation: 'o', startedAt: 's' }), created + 1_000);
  assert.equal(ran?.status.phase, 'Failed');
  assert.equal(ran.status.operation, 'o');
});

test('what has ended is left as it is', () => {
  for (const phase of ['Succeeded', 'Failed']) assert.equal(orphanOf(task({ phase }), created), undefined);
});
