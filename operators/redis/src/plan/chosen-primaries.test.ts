import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choicesAfter, standingChoices } from './chosen-primaries.ts';
import { clusterNodes, idOf, viewOfNodes } from './testing.ts';

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

test('who is no primary any more is not chosen; where nobody was read, nothing is known', () => {
  const view = viewOfNodes(clusterNodes({ primaries: 3, replicas: 1, nodes: { p1: { unreachable: 'no answer' } } }));
  assert.deepEqual(standingChoices([p0, p1, replica, idOf('gone')], view), [p0, p1]);
  assert.deepEqual(standingChoices([p0, replica], { ...view, nodes: [] }), [p0, replica]);
});
