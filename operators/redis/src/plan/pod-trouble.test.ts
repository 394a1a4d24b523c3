import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus } from '../api/kinds.ts';
import { lifeOf, stuckConditions, troubleOf, troubleWaits } from './pod-trouble.ts';
import type { PodMember } from './pods.ts';

type Told = Parameters<typeof lifeOf>[0];

const pod = (server: Partial<ContainerStatus>, others: readonly ContainerStatus[] = []): Told => ({
  spec: { nodeName: 'n' },
  status: { phase: 'Pending', containerStatuses: [{ name: 'server', ...server }, ...others] },
});
const pulling = { waiting: { reason: 'ErrImagePull', message: 'manifest unknown' } };
const ended = { terminated: { exitCode: 1, reason: 'Error', message: 'Bad directive\n' } };
const backOff = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s' } };
const unplaced: Told = {
  status: {
    phase: 'Pending',
    conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' }],
  },
};

test('whether a container lives is what its status says, and nothing where it says nothing', () => {
  assert.equal(lifeOf(pod({ state: { running: {} }, restartCount: 3 }), 'server'), 'running');
  assert.equal(lifeOf(pod({ state: pulling }), 'server'), 'unstarted');
  assert.equal(lifeOf(unplaced, 'server'), 'unstarted');
  assert.equal(lifeOf(pod({ state: backOff, lastState: ended, restartCount: 3 }), 'server'), 'down');
  assert.equal(lifeOf(pod({ state: pulling, restartCount: 1 }), 'server'), 'down');
  assert.equal(lifeOf(pod({ state: ended }), 'server'), 'down');
  assert.equal(lifeOf(pod({}), 'server'), undefined);
  assert.equal(lifeOf({ spec: { nodeName: 'n' } }, 'server'), undefined, 'its node has not told yet');
  const beside = pod({ state: { running: {} } }, [{ name: 'agent', state: backOff, lastState: ended }]);
  assert.deepEqual([lifeOf(beside, 'server'), lifeOf(beside, 'agent')], ['running', 'down']);
});

test('trouble is told in the words of Kubernetes; who is only on the way has none', () => {
  assert.deepEqual(troubleOf(unplaced), { reason: 'Unschedulable', message: '0/3 nodes' });
  assert.deepEqual(troubleOf(pod({ state: pulling })), { reason: 'ErrImagePull', message: 'manifest unknown' });
  assert.deepEqual(troubleOf(pod({ state: backOff, lastState: ended })), {
    reason: 'CrashLoopBackOff',
    message: 'back-off 40s; it ended with 1 (Error): Bad directive',
  });
  const agent = { name: 'agent', state: pulling };
  assert.deepEqual(troubleOf(pod({ state: { running: {} } }, [agent])), {
    reason: 'ErrImagePull',
    message: 'container agent: manifest unknown',
  });
  assert.deepEqual(troubleOf({ status: { phase: 'Failed', reason: 'Evicted', message: 'disk' } }), {
    reason: 'Evicted',
    message: 'disk',
  });
  assert.equal(troubleOf(pod({ state: { waiting: { reason: 'ContainerCreating' } } })), undefined);
  assert.equal(troubleOf(pod({ state: { running: {} }, lastState: ended, restartCount: 1 })), undefined);
  assert.equal(troubleOf({}), undefined);
});

const member = (ordinal: number, reason?: string): PodMember => ({
  name: `c-${ordinal}`,
  uid: `uid-${ordinal}`,
  ordinal,
  isReady: false,
  isDeleting: false,
  isCurrent: true,
  ...(reason !== undefined && { trouble: { reason, message: 'so' } }),
  annotations: {},
});

test('each reason is waited for with the pods that have it; the condition goes when the last one is up', () => {
  const pods = [member(0, 'ErrImagePull'), member(1), member(2, 'ErrImagePull'), member(3, 'Unschedulable')];
  assert.deepEqual(troubleWaits(pods), [
    { reason: 'ErrImagePull', message: 'c-0, c-2: ErrImagePull: so', subjects: ['c-0', 'c-2'] },
    { reason: 'Unschedulable', message: 'c-3: Unschedulable: so', subjects: ['c-3'] },
  ]);
  const [said] = stuckConditions(pods, undefined);
  assert.deepEqual([said?.type, said?.status, said?.reason], ['PodStuck', 'True', 'ErrImagePull']);
  assert.match(said?.message ?? '', /^c-0: ErrImagePull: so; c-2: .*; c-3: Unschedulable: so$/);
  assert.deepEqual(stuckConditions([member(1)], undefined), []);
  assert.equal(stuckConditions([member(1)], said && [said])[0]?.status, 'False');
});
