import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Places } from './places.ts';

test('whatever is added and removed, places come in order from any place to any other', () => {
  const place = fc.nat(60).map((number) => `n/${number}`);
  // Enough at the beginning for several runs.
  const stock = Array.from({ length: 1_500 }, (_, number) => `m/${number}`);
  fc.assert(
    fc.property(fc.boolean(), fc.array(place), place, place, (isFilled, changes, first, end) => {
      const places = new Places();
      const expected = new Set(isFilled ? stock : []);
      places.fill(expected);
      for (const one of changes) {
        if (expected.delete(one)) places.remove(one);
        else {
          expected.add(one);
          places.add(one);
        }
      }
      const sorted = [...expected].sort();
      assert.equal(places.size, sorted.length);
      assert.deepEqual([...places.between('')], sorted);
      assert.deepEqual(
        [...places.between(first, end)],
        sorted.filter((one) => one >= first && one < end),
      );
    }),
  );
});

test('many places in any order are kept in order, and all of them can go again', () => {
  const all = Array.from({ length: 3_000 }, (_, number) => `n/${(number * 7_919) % 3_000}`);
  const places = new Places();
  for (const one of all) places.add(one);
  assert.deepEqual([...places.between('')], [...all].sort());
  for (const one of all) places.remove(one);
  assert.equal(places.size, 0);
  assert.deepEqual([...places.between('')], []);
});
