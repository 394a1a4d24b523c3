import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLUSTER_LABEL } from '@reeve/redis';
import type { PodOnSite } from '../site/kinds.ts';
import type { ContainerTree } from '../site/processes.ts';
import { replaced, restarted, unharmed } from './kept.ts';
import { MAIN } from './operations.ts';
import { OPERATIONS } from './plan.ts';

const pod = (name: string, uid: string, cluster = MAIN, more: object = {}) =>
  ({ metadata: { name, uid, labels: { [CLUSTER_LABEL]: cluster }, ...more } }) as unknown as PodOnSite;
const tree = (of: PodOnSite, main: number, name = 'server') =>
  ({ pod: of, container: { name, restartCount: 0 }, main, shim: main + 1 }) as ContainerTree;

test('a pod that is another one afterwards is told, unless the operation replaces pods', () => {
  const before = [pod('cache-0', 'a'), pod('cache-1', 'b')];
  const after = [pod('cache-0', 'a'), pod('cache-1', 'c')];
  for (const operation of OPERATIONS) {
    const told = replaced([...before, ...before], after, { operation });
    assert.equal(told.length, ['scale', 'rolling'].includes(operation) ? 0 : 1, operation);
    assert.deepEqual(replaced(before, before, { operation }), []);
  }
  assert.match(replaced(before, after, { operation: 'idle' })[0] ?? '', /^cache-1 is another pod/);
  assert.equal(replaced(before, [], { operation: 'idle' }).length, 2);
  const going = pod('cache-1', 'b', MAIN, { deletionTimestamp: '2026-01-01T00:00:00Z' });
  assert.equal(replaced(before, [...before.slice(0, 1), going], { operation: 'failover' }).length, 1);
});

test('while another cluster is made, its pods may be made anew, and only those', () => {
  const before = [pod('cache-0', 'a'), pod('new-1-0', 'b', 'new-1')];
  const after = [pod('cache-0', 'a'), pod('new-1-0', 'c', 'new-1')];
  assert.deepEqual(replaced(before, after, { operation: 'create', other: 'new-1' }), []);
  assert.equal(replaced(before, after.slice(1), { operation: 'create', other: 'new-1' }).length, 1);
  assert.equal(replaced(before, after, { operation: 'create', other: 'new-2' }).length, 1);
});

test('who was spared has its process, and who was hit another one', () => {
  const [own, same] = [pod('cache-0', 'a'), pod('cache-0', 'a')];
  assert.deepEqual(restarted([tree(own, 7)], [tree(same, 7)]), []);
  assert.match(restarted([tree(own, 7)], [tree(same, 9)])[0] ?? '', /server of cache-0 has process 9 in place of 7/);
  assert.deepEqual(restarted([tree(own, 7)], [tree(same, 9, 'agent')]), []);
  assert.match(unharmed([tree(own, 7)], [tree(same, 7)])[0] ?? '', /server of cache-0 outlived it as 7/);
  assert.deepEqual(unharmed([tree(own, 7)], [tree(same, 9)]), []);
});
