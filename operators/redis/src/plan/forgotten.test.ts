import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefused } from '../api/operation.ts';
import { deleteNodeOperation, type DeleteNodeRequest } from './delete-node.ts';
import { forgottenNodes } from './forgotten.ts';
import { viewWith } from './moves-testing.ts';
import { clusterNodes, idOf, testNode, type TestNode } from './testing.ts';

const CORE = clusterNodes({ primaries: 3, replicas: 1 });
const coreIds = CORE.map(({ id }) => id);

/** A cluster that knows itself, and empty primaries beside it that know all of it. */
function worldWith(extra: readonly TestNode[], known: readonly string[] = coreIds): readonly TestNode[] {
  return [...CORE.map((node) => ({ ...node, knows: known })), ...extra];
}

const half = (name: string, port: number, knows: readonly string[], change: Partial<TestNode> = {}) =>
  testNode(name, { host: '10.9.0.1', port, epoch: 50 + port, knows, ...change });

const forgotten = (world: readonly TestNode[]) => forgottenNodes(viewWith(world, {})).map(({ id }) => id);

test('one that nobody knows, and several that know each other', () => {
  const a = half('a', 1, coreIds);
  assert.deepEqual(forgotten(worldWith([a])), [idOf('a')]);
  const both = [...coreIds, idOf('a'), idOf('b')];
  assert.deepEqual(forgotten(worldWith([half('a', 1, both), half('b', 2, both)])), [idOf('a'), idOf('b')]);
});

test('not whom a member knows, nor whom such a one knows', () => {
  const known = [...coreIds, idOf('a')];
  assert.deepEqual(forgotten(worldWith([half('a', 1, known)], known)), []);
  const all = [...known, idOf('b')];
  assert.deepEqual(forgotten(worldWith([half('a', 1, all), half('b', 2, all)], known)), []);
});

test('not who has keys or slots, nor whom it knows; not who is alone or new', () => {
  const both = [...coreIds, idOf('a'), idOf('b')];
  const keys = { keys: { 5: 1 } };
  assert.deepEqual(forgotten(worldWith([half('a', 1, both, keys), half('b', 2, both)])), []);
  assert.deepEqual(forgotten(worldWith([half('a', 1, [])])), []);
  const pair = [idOf('a'), idOf('b')];
  assert.deepEqual(forgotten([half('a', 1, pair), half('b', 2, pair)]), []);
});

test('each of several may leave before the others have, and nobody else may', () => {
  const both = [...coreIds, idOf('a'), idOf('b')];
  const view = viewWith(worldWith([half('a', 1, both), half('b', 2, both)]), {});
  const decide = (name: string) => {
    const request: DeleteNodeRequest = { id: idOf(name), engine: 'auto', pace: 'gentle', drain: true, reset: true };
    return deleteNodeOperation.decide(request, view);
  };
  assert.ok(!isRefused(decide('a')), JSON.stringify(decide('a')));
  assert.ok(!isRefused(decide('b')), JSON.stringify(decide('b')));
  const other = decide('p0r0');
  assert.ok(isRefused(other));
  assert.ok(other.refused.every(({ code }) => code === 'CLUSTER_NOT_CLEAN'));
});
