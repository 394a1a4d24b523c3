import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../api/port.ts';
import { parseClusterNodes } from './parse.ts';
import { misplacedInShards } from './shards.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const R = 'c'.repeat(40);

const nodes = (replicaOf: string, flags = 'slave') =>
  parseClusterNodes(
    [
      `${A} 127.0.0.1:7001@17001 myself,master - 0 0 1 connected 0-8191`,
      `${B} 127.0.0.1:7002@17002 master - 0 0 2 connected 8192-16383`,
      `${R} 127.0.0.1:7003@17003 ${flags} ${replicaOf} 0 0 1 connected`,
    ].join('\n'),
  );

const shard = (slots: readonly number[], ...ids: readonly string[]): Reply => [
  'slots',
  slots,
  'nodes',
  ids.map((id) => ['id', id, 'port', 7001, 'role', 'x', 'health', 'online']),
];

test('shards that agree with the node table', () => {
  assert.deepEqual(misplacedInShards([shard([0, 8191], A, R), shard([8192, 16383], B)], nodes(A)), []);
});

test('a replica in the shard of another primary', () => {
  assert.deepEqual(misplacedInShards([shard([0, 8191], A), shard([8192, 16383], B, R)], nodes(A)), [R]);
});

test('slots that clients are not told of', () => {
  assert.deepEqual(misplacedInShards([shard([0, 8191], A, R), shard([8192, 9000], B)], nodes(A)), [B]);
  assert.deepEqual(misplacedInShards([shard([0, 8191], A, R)], nodes(A)), [B]);
});

test('nodes that are failing are not compared', () => {
  assert.deepEqual(misplacedInShards([shard([0, 8191], A), shard([8192, 16383], B, R)], nodes(A, 'slave,fail')), []);
});
