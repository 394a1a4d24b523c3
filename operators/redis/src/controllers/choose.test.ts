import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperationWish } from '../plan/next.ts';
import { Settling } from './choose.ts';

const wish = (kind: string, settleMs = 0, request: unknown = {}): OperationWish => ({
  what: 'operation',
  kind,
  request,
  why: 'a test',
  settleMs,
  needsApproval: false,
});

test('a wish settles from when it was first there; one that went away begins anew', () => {
  const settling = new Settling();
  assert.deepEqual(settling.times([wish('fix', 3_000)], 1_000), [4_000]);
  assert.deepEqual(settling.times([wish('fix', 3_000)], 2_000), [4_000]);
  assert.deepEqual(settling.times([], 3_000), []);
  assert.deepEqual(settling.times([wish('fix', 3_000)], 4_000), [7_000]);
});

test('a kind of operation that fails is tried again ever more seldom, and at once when it was done', () => {
  const settling = new Settling();
  const pause = (now: number) => (settling.backsOff(wish('rebalance'), now)?.until ?? now) - now;
  settling.ended('rebalance', 'SLOTS_BUSY', 1_000);
  const first = pause(1_000);
  assert.ok(first > 0);
  assert.equal(settling.backsOff(wish('rebalance'), 1_000)?.code, 'SLOTS_BUSY');
  assert.equal(settling.backsOff(wish('rebalance'), 1_000 + first), undefined, 'then it is tried again');
  settling.ended('rebalance', 'SLOTS_BUSY', 1_000);
  assert.ok(pause(1_000) > first);
  for (let times = 0; times < 50; times++) settling.ended('rebalance', 'SLOTS_BUSY', 1_000);
  assert.ok(pause(1_000) <= 300_000, 'but not for ever');
  assert.equal(settling.backsOff(wish('add-node'), 1_000), undefined, 'others are not held up');
  settling.ended('rebalance', undefined, 2_000);
  assert.equal(pause(2_000), 0);
});
