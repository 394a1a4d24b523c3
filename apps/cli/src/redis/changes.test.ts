import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesBetween, type Look } from './changes.ts';
import type { ClusterPicture, NodePicture } from './picture.ts';

const node = (name: string, role: NodePicture['role'], state: string): NodePicture => ({
  id: name.repeat(40),
  address: `10.0.0.${name.charCodeAt(0) - 96}:6379`,
  role,
  state,
  reachable: true,
  keys: 0,
  usedBytes: 0,
  annotations: {},
});

const picture = (shards: ClusterPicture['shards'], state: ClusterPicture['state'] = 'ok'): ClusterPicture => ({
  servers: ['valkey 9'],
  state,
  slotsCovered: 16384,
  currentEpoch: 3,
  keys: 0,
  shards,
  others: [],
  silent: [],
});

const shard = (slots: string, primary: NodePicture, ...replicas: readonly NodePicture[]) => ({
  slots,
  slotCount: 1,
  primary,
  replicas,
});

const before: Look = {
  picture: picture([
    shard('0-99', node('a', 'primary', 'up'), node('b', 'replica', 'replicating')),
    shard('100-199', node('c', 'primary', 'up')),
  ]),
  findings: ['degraded: something [X]'],
};

test('the same twice is no change', () => {
  assert.deepEqual(changesBetween(before, before), []);
});

test('a failover, moved slots, a lost and a new node, findings that come and go', () => {
  const now: Look = {
    picture: picture(
      [
        shard('0-98', node('b', 'primary', 'up')),
        shard('99-199', node('c', 'primary', 'up')),
        shard('', node('d', 'primary', 'up')),
      ],
      'fail',
    ),
    findings: ['broken: worse [Y]'],
  };
  assert.deepEqual(changesBetween(before, now), [
    'cluster_state ok → fail',
    '10.0.0.2:6379 (bbbbbbbb) role replica → primary',
    '10.0.0.2:6379 (bbbbbbbb) state replicating → up',
    '10.0.0.3:6379 (cccccccc) slots 100-199 → 99-199',
    '10.0.0.4:6379 (dddddddd) is new: primary, up',
    '10.0.0.1:6379 (aaaaaaaa) is gone',
    'found: broken: worse [Y]',
    'over: degraded: something [X]',
  ]);
});

test('a replica that follows another primary, and a new address', () => {
  const moved = { ...node('b', 'replica', 'replicating'), address: '10.0.0.9:6379' };
  const now: Look = {
    ...before,
    picture: picture([shard('0-99', node('a', 'primary', 'up')), shard('100-199', node('c', 'primary', 'up'), moved)]),
  };
  assert.deepEqual(changesBetween(before, now), [
    '10.0.0.9:6379 (bbbbbbbb) address 10.0.0.2:6379 → 10.0.0.9:6379',
    '10.0.0.9:6379 (bbbbbbbb) replicates 10.0.0.1:6379 → 10.0.0.3:6379',
  ]);
});
