import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Heap } from './heap.ts';

test('a heap gives back what was put in, smallest first', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), (numbers) => {
      const heap = new Heap<number>((a, b) => a < b);
      for (const number of numbers) heap.push(number);
      const drawn = numbers.map(() => {
        const seen = heap.peek();
        assert.equal(heap.pop(), seen);
        return seen;
      });
      assert.deepEqual(
        drawn,
        [...numbers].sort((a, b) => a - b),
      );
      assert.equal(heap.pop(), undefined);
    }),
  );
});
