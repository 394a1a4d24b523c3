import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus } from '../api/kinds.ts';
import { lifeOf, type PodTrouble, stuckConditions, troubleOf, troubleWaits } from './pod-trouble.ts';
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
  const [said] = stuckConditions(pods, undefined, 0);
  assert.deepEqual([said?.type, said?.status, said?.reason], ['PodStuck', 'True', 'ErrImagePull']);
  assert.match(said?.message ?? '', /^c-0: ErrImagePull: so; c-2: .*; c-3: Unschedulable: so$/);
  assert.deepEqual(stuckConditions([member(1)], undefined, 0), []);
  assert.equal(stuckConditions([member(1)], said && [said], 0)[0]?.status, 'False');
});

test('a pod that found no place is told as stuck when that lasts, and at once where others are', () => {
  const at = '2026-01-01T00:00:00Z';
  const [condition] = unplaced.status?.conditions ?? [];
  const trouble = troubleOf({ status: { conditions: [{ ...condition, lastTransitionTime: at } as never] } });
  assert.equal(trouble?.since, Date.parse(at));
  const pod = { ...member(0), trouble: trouble as PodTrouble };
  const after = (ms: number) => Date.parse(at) + ms;
  assert.deepEqual(stuckConditions([pod], undefined, after(9_999)), []);
  assert.deepEqual(troubleWaits([pod])[0]?.reason, 'Unschedulable', 'what is waited for is told at once');
  const [said] = stuckConditions([pod], undefined, after(10_000));
  assert.equal(said?.status, 'True');
  assert.equal(stuckConditions([pod], said && [said], after(0))[0]?.status, 'True');
  assert.equal(stuckConditions([{ ...pod, trouble: { reason: 'ErrImagePull', message: '' } }], [], 0).length, 1);
});
