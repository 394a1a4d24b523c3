import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atLeast, atMost, median } from './bars.ts';

test('a bar is met at its very value, and never by a figure that is missing', () => {
  assert.equal(atMost('a', 0.25, 1 / 4).met, true);
  assert.equal(atMost('a', 0.2501, 1 / 4).met, false);
  assert.equal(atLeast('a', 3, 3).met, true);
  assert.equal(atLeast('a', 2.99, 3).met, false);
  assert.equal(atMost('a', Number.NaN, 1).met, false);
  assert.equal(atLeast('a', Number.NaN, 1).met, false);
});

test('the median of an even number is between the two in the middle', () => {
  assert.equal(median([9, 1, 5]), 5);
  assert.equal(median([9, 1, 5, 7]), 6);
  assert.ok(Number.isNaN(median([])));
});
