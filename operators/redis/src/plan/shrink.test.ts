import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLIENT_PORT } from './children.ts';
import { type PodFacts, podMembers } from './pods.ts';
import { testPod, testPods } from './pods-testing.ts';
import { presentReplicas, safeReplicas } from './shrink.ts';
import { clusterNodes, freshNode, viewOfNodes } from './testing.ts';

const members = clusterNodes({ primaries: 3 }).map((node) => ({ ...node, port: CLIENT_PORT }));
const pods = testPods(members);
const fourth = testPod(3, { ip: '10.1.0.1' });
const look = (extra: ReturnType<typeof freshNode>[], more: readonly PodFacts[]) => {
  const view = viewOfNodes([...members, ...extra]);
  return { view, all: podMembers([...pods, ...more], view) };
};

test('pods go from the end, each only if its server answered, knows nobody and holds nothing', () => {
  const empty = look([freshNode('x', { host: '10.1.0.1', port: CLIENT_PORT })], [fourth]);
  assert.equal(safeReplicas(3, 4, empty.all, empty.view), 3);
  const full = look([freshNode('x', { host: '10.1.0.1', port: CLIENT_PORT, keys: { 5: 1 } })], [fourth]);
  assert.equal(safeReplicas(3, 4, full.all, full.view), 4, 'it holds a key');
  const silent = look([], [fourth]);
  assert.equal(safeReplicas(3, 4, silent.all, silent.view), 4, 'it did not answer');
  const unborn = look([], [testPod(3)]);
  assert.equal(
    safeReplicas(3, 4, unborn.all, unborn.view),
    3,
    'it never had an address, and everybody lives elsewhere',
  );
  const absent = look([], []);
  assert.equal(safeReplicas(3, 4, absent.all, absent.view), 4, 'there is no pod to ask');
  assert.equal(safeReplicas(2, 3, absent.all, absent.view), 3, 'the last one is a member');
});

test('more pods come at once', () => {
  const { all, view } = look([], []);
  assert.equal(safeReplicas(6, 3, all, view), 6);
  assert.equal(safeReplicas(6, undefined, all, view), 6);
});

test('without a set its pods say how many there were', () => {
  assert.equal(presentReplicas(6, [0, 1]), 6);
  assert.equal(presentReplicas(undefined, [0, undefined, 7]), 8);
  assert.equal(presentReplicas(undefined, []), undefined);
});
