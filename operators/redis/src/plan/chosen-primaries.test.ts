import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choicesAfter, standingChoices } from './chosen-primaries.ts';
import { clusterNodes, freshNode, idOf, viewOfNodes } from './testing.ts';

const [p0, p1, replica] = [idOf('p0'), idOf('p1'), idOf('p0r0')] as const;
const failover = { kind: 'failover', goal: { replica, primary: p0, mode: 'graceful' }, isAsked: true };

test('a primary that a failover task made stays chosen until members come or go', () => {
  assert.deepEqual(choicesAfter([p1], failover), [p1, replica]);
  assert.deepEqual(choicesAfter([replica, p1], failover), [p1, replica], 'once');
  assert.deepEqual(choicesAfter([p1], { ...failover, isAsked: false }), [p1], 'what the operator does is no choice');
  for (const kind of ['spread', 'rebalance', 'fix', 'backup']) {
    assert.deepEqual(choicesAfter([p1], { ...failover, kind }), [p1], kind);
  }
  for (const kind of ['add-node', 'delete-node', 'create']) {
    assert.deepEqual(choicesAfter([p1], { ...failover, kind, isAsked: false }), [], kind);
  }
});

test('who is no primary any more is not chosen', () => {
  const view = viewOfNodes(clusterNodes({ primaries: 3, replicas: 1, nodes: { p1: { unreachable: 'no answer' } } }));
  assert.deepEqual(standingChoices([p0, p1, replica, idOf('gone')], view, true), [p0, p1]);
});

test('a look at some of the members ends a choice only by the word of the node itself', () => {
  const nodes = clusterNodes({
    primaries: 3,
    replicas: 1,
    nodes: { p1: { unreachable: 'no answer', role: 'replica' } },
  });
  const gone = idOf('gone');
  assert.deepEqual(standingChoices([p0, p1, replica, gone], viewOfNodes(nodes), false), [p0, p1, gone]);
  const newcomer = viewOfNodes([freshNode('new')]);
  assert.deepEqual(standingChoices([p0, replica], newcomer, false), [p0, replica], 'a new server knows nobody');
  assert.deepEqual(standingChoices([p0, replica], { ...newcomer, nodes: [] }, false), [p0, replica]);
});
