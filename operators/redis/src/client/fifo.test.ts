import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Fifo } from './fifo.ts';

test('open entries are those pushed and not settled, in their order, whatever the order of settling', () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.constant('push' as const) },
    { weight: 2, arbitrary: fc.constant('front' as const) },
    { weight: 1, arbitrary: fc.nat() },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 3000, size: 'max' }), (steps) => {
      const fifo = new Fifo<{ settled: boolean; name: number }>();
      const model: { settled: boolean; name: number }[] = [];
      let name = 0;
      for (const what of steps) {
        if (what === 'push') {
          const entry = { settled: false, name: name++ };
          fifo.push(entry);
          model.push(entry);
        } else if (model.length > 0) {
          const [entry] = model.splice(what === 'front' ? 0 : what % model.length, 1);
          if (entry) fifo.settle(entry);
        }
        assert.equal(fifo.openCount, model.length);
      }
      assert.deepEqual(
        fifo.open().map((entry) => entry.name),
        model.map((entry) => entry.name),
      );
    }),
    { numRuns: 30 },
  );
});

test('settling twice counts once', () => {
  const fifo = new Fifo<{ settled: boolean }>();
  const entry = { settled: false };
  fifo.push(entry);
  fifo.settle(entry);
  fifo.settle(entry);
  assert.equal(fifo.openCount, 0);
});
