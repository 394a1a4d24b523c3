/** `reeve why` on an API in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnyObject, resource } from '@reeve/kube';
import { type Asked, explanationOf, explanationText } from '../src/kube/explanation.ts';
import { ApiHarness, events } from './api.ts';

const pods = resource({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true });
const NOW = Date.parse('2026-01-01T01:00:00Z');

test('an object is explained by its status, and apart from that by its events, the newest last', async (t) => {
  const api = await ApiHarness.open(t);
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const { metadata } = await api.client.resource(pods, 'default').create(pod);
  const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no room' }];
  const status = { phase: 'Pending', conditions };
  await api.client
    .resource(pods, 'default')
    .patch('p', { type: 'merge', value: { status } }, { subresource: 'status' });
  const event = (name: string, reason: string, lastTimestamp: string, uid?: string) => ({
    metadata: { name },
    involvedObject: { kind: 'Pod', name: 'p', namespace: 'default', ...(uid !== undefined && { uid }) },
    reason,
    message: `${reason} it is`,
    type: 'Warning',
    lastTimestamp,
    firstTimestamp: lastTimestamp,
  });
  const at = (ms: number) => new Date(api.harness.clock.now() - ms).toISOString();
  await api.client.resource(events, 'default').create(event('b', 'Second', at(2_000), metadata.uid));
  await api.client.resource(events, 'default').create(event('a', 'First', at(60_000)));
  await api.client.resource(events, 'default').create(event('c', 'Other', at(1_000), 'of-the-pod-before'));
  const { code, out } = await api.run('why pod/p');
  assert.equal(code, 0);
  assert.equal(
    out,
    [
      'Pod p: Pending, 0/1 ready',
      'Something is amiss.',
      '',
      'Amiss:',
      '  PodScheduled is False (Unschedulable): no room',
      '',
      'Before:',
      '  60s ago ! First: First it is',
      '  2s ago ! Second: Second it is',
      '',
    ].join('\n'),
  );
  for (const form of ['text', 'table']) assert.equal((await api.run(`why pod/p -o ${form}`)).out, out, form);
  const json = (await api.run('why pod/p -o json')).json();
  assert.equal(json.verdict, 'Something is amiss.');
  assert.deepEqual(json.amiss, ['PodScheduled is False (Unschedulable): no room']);
  assert.equal((await api.run('why pod')).code, 2);
  assert.equal((await api.run('why pod/nobody')).code, 1);
});

const explained = (kind: string, object: object, more: Partial<Asked> = {}): string => {
  const whole = { metadata: { name: 'x' }, ...object } as AnyObject;
  return explanationText(explanationOf({ kind, object: whole, events: [], now: NOW, ...more }));
};

test('what an operator does, waits for and proposes comes before what it did', () => {
  const status = {
    phase: 'Changing',
    progress: '3 of 9 slots',
    currentOperation: { kind: 'rebalance', why: 'one has too many' },
    waitingFor: [{ reason: 'Approval', message: 'a person' }],
    proposal: { kind: 'create', digest: 'v1-1', steps: ['this', 'that'] },
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'SlotOpen', status: 'True', reason: 'Degraded', message: 'slot 5' },
      { type: 'NodeFailed', status: 'False' },
    ],
    operations: [{ kind: 'fix', outcome: 'done', why: 'it was open', endedAt: '2026-01-01T00:00:00Z' }],
  };
  assert.equal(
    explained('RedisCluster.redis.reeve.dev', { status }),
    [
      'RedisCluster x: Changing',
      'Something is amiss, and it is worked on.',
      '',
      'Amiss:',
      '  SlotOpen (Degraded): slot 5',
      '',
      'Doing:',
      '  rebalance: one has too many',
      '  now: 3 of 9 slots',
      '',
      'Waiting for:',
      '  a person (Approval)',
      '',
      'Proposed:',
      '  create, plan v1-1',
      '  1. this',
      '  2. that',
      '',
      'Before:',
      '  60m ago fix done: it was open',
      '',
    ].join('\n'),
  );
});

test('what is past does not make anything amiss', () => {
  const past = [{ reason: 'Unhealthy', note: 'probe failed', isWarning: true, at: '2026-01-01T00:50:00Z' }];
  const calm = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
  assert.equal(
    explained('RedisCluster.redis.reeve.dev', calm, { events: past }),
    'RedisCluster x: Running\nNothing is amiss, and nothing is waited for.\n\nBefore:\n  10m ago ! Unhealthy: probe failed\n',
  );
});

test('of a pod the states of its containers are told, and how to see more', () => {
  const ended = { exitCode: 3, reason: 'Error', finishedAt: '2026-01-01T00:59:30Z' };
  const crashing = {
    name: 'main',
    ready: false,
    restartCount: 4,
    state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s' } },
    lastState: { terminated: ended },
  };
  const pod = (status: object) => ({ spec: { containers: [{}] }, status: { phase: 'Running', ...status } });
  const crash = explained('Pod', pod({ containerStatuses: [crashing] }));
  assert.match(crash, /^Pod x: CrashLoopBackOff, 0\/1 ready\nSomething is amiss\.\n/);
  assert.match(
    crash,
    /container main waits \(CrashLoopBackOff\): back-off 40s; it ended with exit code 3, 30s ago: `reeve logs x -c main --previous` shows/,
  );
  const failed = explained(
    'Pod',
    pod({ phase: 'Failed', containerStatuses: [{ name: 'main', state: { terminated: ended } }] }),
  );
  assert.match(failed, /container main ended with exit code 3, 30s ago: `reeve logs x -c main` shows/);
  const well = { name: 'main', ready: true, restartCount: 1, state: { running: {} }, lastState: { terminated: ended } };
  const back = explained('Pod', pod({ containerStatuses: [well] }));
  assert.match(back, /^Pod x: Running, 1\/1 ready\nNothing is amiss/);
  assert.match(back, /Before:\n {2}container main was started 2 times; the last run ended with exit code 3, 30s ago\n/);
  const unready = explained('Pod', pod({ containerStatuses: [{ ...well, ready: false }] }));
  assert.match(unready, /Amiss:\n {2}container main runs, and is not ready\n/);
  const over = (reason: string) => [
    { type: 'PodReadyToStartContainers', status: 'False' },
    { type: 'Initialized', status: 'True', ...(reason === 'PodCompleted' && { reason }) },
    { type: 'Ready', status: 'False', reason },
    { type: 'ContainersReady', status: 'False', reason },
    { type: 'PodScheduled', status: 'True' },
  ];
  assert.match(explained('Pod', pod({ phase: 'Succeeded', conditions: over('PodCompleted') })), /Nothing is amiss/);
  const unwell = explained('Pod', pod({ phase: 'Failed', conditions: over('PodFailed') }));
  assert.match(unwell, /Amiss:\n {2}Ready is False \(PodFailed\)\n {2}ContainersReady is False \(PodFailed\)\n/);
  const early = pod({ phase: 'Pending', conditions: [{ type: 'PodReadyToStartContainers', status: 'False' }] });
  assert.match(explained('Pod', early), /Amiss:\n {2}PodReadyToStartContainers is False/);
});

test('a pod that waits for its volumes says for which now, and no more once it goes on', () => {
  const event = (reason: string, note: string, at: string) => ({ reason, note, isWarning: reason !== 'Pulling', at });
  const first = event('FailedMount', 'configmap "one" not found', '2026-01-01T00:50:00Z');
  const second = event('FailedMount', 'secret "two" not found', '2026-01-01T00:51:00Z');
  const waiting = { name: 'main', state: { waiting: { reason: 'ContainerCreating' } } };
  const pod = { spec: { containers: [{}] }, status: { phase: 'Pending', containerStatuses: [waiting] } };
  const stuck = explained('Pod', pod, { events: [first, second] });
  const conditions = [{ type: 'Ready', status: 'False' }];
  const unready = { ...pod, status: { ...pod.status, conditions } };
  assert.match(
    explained('Pod', unready, { events: [first] }),
    /\nAmiss:\n {2}FailedMount: configmap "one" not found\n {2}Ready is False\n/,
    'the cause first',
  );
  assert.match(stuck, /\nSomething is amiss\.\n\nAmiss:\n {2}FailedMount: secret "two" not found\n\nBefore:\n/);
  const pulling = event('Pulling', 'Pulling image "i"', '2026-01-01T00:52:00Z');
  assert.match(explained('Pod', pod, { events: [first, second, pulling] }), /\nNothing is amiss/);
  const runs = { ...pod, status: { phase: 'Running' } };
  assert.match(explained('Pod', runs, { events: [first] }), /\nNothing is amiss/);
});

test('sets, nodes and what has no phase are told as what they are', () => {
  const selector = { matchLabels: { app: 'x', tier: 'y' } };
  const set = explained('StatefulSet.apps', { spec: { replicas: 3, selector }, status: { readyReplicas: 2 } });
  assert.match(set, /^StatefulSet x: 2 of 3 pods ready\nSomething is amiss\.\n/);
  assert.match(set, /1 pod not ready: `reeve get pods -l app=x,tier=y`/);
  const whole = explained('StatefulSet.apps', {
    spec: { replicas: 1 },
    status: { readyReplicas: 1, updatedReplicas: 0 },
  });
  assert.match(whole, /^StatefulSet x: 1 of 1 pod ready, 0 of the newest revision\nNothing is amiss/);
  const ready = { conditions: [{ type: 'Ready', status: 'True' }] };
  assert.match(explained('Node', { status: ready }), /^Node x: ready\nNothing is amiss/);
  const cordoned = explained('Node', { spec: { unschedulable: true }, status: ready });
  assert.match(cordoned, /^Node x: ready, takes no new pods\nSomething is amiss\.\n\nAmiss:\n {2}it is cordoned/);
  assert.match(explained('ConfigMap', {}), /^ConfigMap x: is there\nNothing is amiss/);
  const going = { metadata: { name: 'x', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a/b'] } };
  assert.match(explained('ConfigMap', going), /Waiting for:\n {2}a\/b, to let it be deleted\n/);
});

test('a job says that it failed and why, or how far it is', () => {
  const message = 'Job has reached the specified backoff limit';
  const failure = (type: string) => ({ type, status: 'True', reason: 'BackoffLimitExceeded', message });
  const failed = { failed: 2, conditions: [failure('FailureTarget'), failure('Failed')] };
  assert.equal(
    explained('Job.batch', { spec: { completions: 3 }, status: failed }),
    [
      'Job x: failed (BackoffLimitExceeded), 0 of 3 pods succeeded',
      'Something is amiss.',
      '',
      'Amiss:',
      '  2 pods failed: `reeve get pods -l batch.kubernetes.io/job-name=x`',
      `  Failed (BackoffLimitExceeded): ${message}`,
      '',
    ].join('\n'),
  );
  const complete = { succeeded: 1, failed: 1, conditions: [{ type: 'Complete', status: 'True' }] };
  assert.match(
    explained('Job.batch', { spec: { completions: 1 }, status: complete }),
    /^Job x: complete, 1 of 1 pod succeeded\nNothing is amiss.*\n\nBefore:\n {2}1 pod failed: /,
  );
  assert.match(explained('Job.batch', { status: { active: 1 } }), /^Job x: 1 running, 0 succeeded\nNothing/);
});

test('a task says what it waits for, that it failed and why; that it succeeded is nothing amiss', () => {
  const waits = explained('RedisTask', { status: { phase: 'Running', waitingFor: 'the new version in c-2' } });
  assert.match(waits, /Waiting for:\n {2}the new version in c-2\n/);
  const failed = { type: 'Failed', status: 'True', reason: 'UnknownNode', message: 'no node c-77' };
  assert.match(
    explained('RedisTask', { status: { phase: 'Failed', conditions: [failed] } }),
    /Amiss:\n {2}Failed \(UnknownNode\): no node c-77\n/,
  );
  const done = { type: 'Succeeded', status: 'True', reason: 'Done', message: '' };
  assert.match(explained('RedisTask', { status: { phase: 'Succeeded', conditions: [done] } }), /Nothing is amiss/);
});
