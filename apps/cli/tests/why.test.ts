/** `reeve why` on an API in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resource } from '@reeve/kube';
import { explain } from '../src/kube/explanation.ts';
import { ApiHarness, events } from './api.ts';

const pods = resource({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true });

test('an object is explained by its status and its events, the newest last', async (t) => {
  const api = await ApiHarness.open(t);
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  await api.client.resource(pods, 'default').create(pod);
  const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no room' }];
  const status = { phase: 'Pending', conditions };
  await api.client
    .resource(pods, 'default')
    .patch('p', { type: 'merge', value: { status } }, { subresource: 'status' });
  const event = (name: string, reason: string, lastTimestamp: string) => ({
    metadata: { name },
    involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
    reason,
    message: `${reason} it is`,
    type: 'Warning',
    lastTimestamp,
    firstTimestamp: lastTimestamp,
  });
  await api.client.resource(events, 'default').create(event('b', 'Second', '2026-01-01T00:00:02Z'));
  await api.client.resource(events, 'default').create(event('a', 'First', '2026-01-01T00:00:01Z'));
  const { code, out } = await api.run('why pod/p');
  assert.equal(code, 0);
  assert.equal(
    out,
    [
      'Pod p: Pending',
      '',
      'Amiss:',
      '  PodScheduled is False (Unschedulable): no room',
      '',
      'Events:',
      '  ! First: First it is',
      '  ! Second: Second it is',
      '',
    ].join('\n'),
  );
  assert.equal((await api.run('why pod')).code, 2);
  assert.equal((await api.run('why pod/nobody')).code, 1);
});

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
    explain('RedisCluster c', { metadata: { name: 'c' }, status } as never, []),
    [
      'RedisCluster c: Changing',
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
      'Amiss:',
      '  SlotOpen (Degraded): slot 5',
      '',
      'Done last:',
      '  2026-01-01T00:00:00Z fix done: it was open',
      '',
    ].join('\n'),
  );
  const calm = { metadata: { name: 'c' }, status: { phase: 'Running' } } as never;
  assert.match(explain('RedisCluster c', calm, []), /Nothing is amiss/);
});

test('a task says what it waits for, that it failed and why; that it succeeded is nothing amiss', () => {
  const task = (status: object) => ({ metadata: { name: 't' }, status }) as never;
  const waits = explain('RedisTask t', task({ phase: 'Running', waitingFor: 'the new version in c-2' }), []);
  assert.match(waits, /Waiting for:\n {2}the new version in c-2\n/);
  const failed = { type: 'Failed', status: 'True', reason: 'UnknownNode', message: 'no node c-77' };
  assert.match(
    explain('RedisTask t', task({ phase: 'Failed', conditions: [failed] }), []),
    /Amiss:\n {2}Failed \(UnknownNode\): no node c-77\n/,
  );
  const done = { type: 'Succeeded', status: 'True', reason: 'Done', message: '' };
  assert.match(explain('RedisTask t', task({ phase: 'Succeeded', conditions: [done] }), []), /Nothing is amiss/);
});
