import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { backoffMs, queueBackoff, reflectorBackoff } from './backoff.ts';

test('the wait doubles from its base to its cap', () => {
  const waits = [1, 2, 3, 4, 30].map((failures) => backoffMs(failures, queueBackoff, 0));
  assert.deepEqual(waits, [5, 10, 20, 40, 1_000_000]);
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7].map((failures) => backoffMs(failures, reflectorBackoff, 0)),
    [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000],
  );
});

test('never above the cap, never below half of the plain wait, and spread at the cap too', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5_000 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (failures, random) => {
        const plain = Math.min(30_000, 800 * 2 ** (failures - 1));
        const wait = backoffMs(failures, reflectorBackoff, random);
        assert.ok(wait <= 30_000 && wait >= plain / 2, `${failures}: ${wait}`);
      },
    ),
  );
  assert.notEqual(backoffMs(50, reflectorBackoff, 0.1), backoffMs(50, reflectorBackoff, 0.9));
});
