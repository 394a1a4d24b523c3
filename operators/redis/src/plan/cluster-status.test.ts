import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shownTopology } from './cluster-status.ts';

test('members are not told beside the goal of a creation, and beside any other', () => {
  const members = [{ pod: 'c-0', id: 'a', role: 'primary' as const }];
  const topology = { primaries: 1, replicas: 0, slots: 16_384, members };
  assert.deepEqual(shownTopology(topology, 'create'), { ...topology, members: [] });
  for (const operation of ['rebalance', undefined]) assert.equal(shownTopology(topology, operation), topology);
});
