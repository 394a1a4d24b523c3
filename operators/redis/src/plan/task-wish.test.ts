import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RedisTask } from '../api/task.ts';
import { desiredOf } from './desired.ts';
import { podMembers } from './pods.ts';
import { testPod } from './pods-testing.ts';
import { taskWish } from './task-wish.ts';
import { clusterNodes, idOf, viewOfNodes } from './testing.ts';

const nodes = clusterNodes({ primaries: 3 });
const view = viewOfNodes(nodes);
const enrolled = [...nodes.map(({ host }) => host), '10.3.0.1'].map((host, ordinal) =>
  testPod(ordinal, { name: `h-${ordinal + 1}`, ip: host, port: 7000 }),
);

function asked(spec: object, members: 'managed' | 'external' = 'external', cluster: object = {}) {
  const task = { metadata: { name: 't' }, spec: { cluster: 'c', ...spec } } as RedisTask;
  const stored = [{ pod: 'h-9', id: idOf('dead') }];
  return taskWish(task, {
    desired: desiredOf({ primaries: 3, members, ...cluster }),
    members: podMembers(enrolled, view),
    stored,
  });
}

const requestOf = (wish: ReturnType<typeof asked>) =>
  wish && 'request' in wish ? [wish.kind, wish.request] : wish?.refused.map(({ code }) => code);
const spreadBy = ['zone', 'host'];

test('a member is added where it lives, as a replica unless it is said otherwise', () => {
  const endpoint = { host: '10.3.0.1', port: 7000 };
  assert.deepEqual(requestOf(asked({ addNode: { member: 'h-4' } })), [
    'add-node',
    { endpoint, as: 'replica', spreadBy },
  ]);
  assert.deepEqual(requestOf(asked({ addNode: { member: 'h-4', as: 'primary' } })), [
    'add-node',
    { endpoint, as: 'primary', spreadBy },
  ]);
  assert.deepEqual(requestOf(asked({ addNode: { member: 'h-4', of: 'h-2' } })), [
    'add-node',
    { endpoint, as: 'replica', primaryId: idOf('p1'), spreadBy },
  ]);
  assert.deepEqual(requestOf(asked({ addNode: { member: 'h-5' } })), ['MEMBER_UNKNOWN']);
  assert.deepEqual(requestOf(asked({ addNode: { member: 'h-4', of: 'h-8' } })), ['UNKNOWN_NODE']);
});

test('a node is deleted by its member, by its id, or by the member in which it was last seen', () => {
  const request = { drain: true, reset: true, spreadBy, engine: 'auto', pace: 'gentle' };
  for (const [name, id] of [
    ['h-2', idOf('p1')],
    [idOf('p2'), idOf('p2')],
    ['h-9', idOf('dead')],
  ]) {
    assert.deepEqual(requestOf(asked({ deleteNode: { node: name } })), ['delete-node', { id, ...request }]);
  }
  assert.deepEqual(requestOf(asked({ deleteNode: { node: 'h-10' } })), ['UNKNOWN_NODE']);
});

test('how slots move, and what is uneven, is what the cluster says', () => {
  const cluster = { migration: { engine: 'windowed', pace: 'fast' }, rebalance: { threshold: 20 } };
  const how = { engine: 'windowed', pace: 'fast' };
  const given = (spec: object) => requestOf(asked(spec, 'external', cluster));
  assert.deepEqual(given({ reshard: { slots: 5, to: 'h-2' } }), [
    'reshard',
    { slots: 5, to: idOf('p1'), from: 'all', ...how },
  ]);
  const rebalance = { by: 'slots', weights: {}, useEmpty: true, ...how };
  assert.deepEqual(given({ rebalance: {} }), ['rebalance', { ...rebalance, threshold: 20 }]);
  assert.deepEqual(given({ rebalance: { threshold: 2 } }), ['rebalance', { ...rebalance, threshold: 2 }]);
  const removed = { id: idOf('p1'), drain: true, reset: true, spreadBy };
  assert.deepEqual(given({ deleteNode: { node: 'h-2' } }), ['delete-node', { ...removed, ...how }]);
  const expected = { replicasPerPrimary: 1, spreadBy };
  assert.deepEqual(given({ fix: { takeover: true } }), ['fix', { takeover: true, expected, pace: 'fast' }]);
});

test('the pods of a managed cluster are not added and deleted by tasks', () => {
  assert.deepEqual(requestOf(asked({ addNode: { member: 'h-4' } }, 'managed')), ['MEMBERS_MANAGED']);
  assert.deepEqual(requestOf(asked({ deleteNode: { node: 'h-2' } }, 'managed')), ['MEMBERS_MANAGED']);
});

test('nothing is restored into servers that somebody else runs; a backup of them may be taken', () => {
  assert.deepEqual(requestOf(asked({ restore: { cluster: 'c', name: 'b' } })), ['MEMBERS_EXTERNAL']);
  assert.equal(requestOf(asked({ restore: { cluster: 'c', name: 'b' } }, 'managed'))?.[0], 'restore');
  assert.equal(requestOf(asked({ backup: {} }))?.[0], 'backup');
});
