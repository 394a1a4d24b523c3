import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  ALL_SLOTS,
  countSlots,
  formatSlots,
  hasSlot,
  intersectSlots,
  minusSlots,
  parseSlots,
  rangesOf,
  SLOT_COUNT,
  type SlotRanges,
  slotsOf,
  takeSlots,
  unionSlots,
} from './slots.ts';

/** Sets with neighbours, gaps, single slots and both ends. */
const slotSet = fc
  .array(
    fc.tuple(
      fc.oneof(fc.nat({ max: 40 }), fc.nat({ max: SLOT_COUNT - 1 }), fc.constant(SLOT_COUNT - 1)),
      fc.nat({ max: 6 }),
    ),
    { maxLength: 12 },
  )
  .map((runs) => {
    const slots = new Set<number>();
    for (const [first, length] of runs) {
      for (let slot = first; slot <= Math.min(first + length, SLOT_COUNT - 1); slot++) slots.add(slot);
    }
    return slots;
  });

function assertNormal(ranges: SlotRanges): void {
  for (const [index, [first, last]] of ranges.entries()) {
    assert.ok(first <= last);
    const next = ranges[index + 1];
    if (next) assert.ok(last + 1 < next[0], `not joined or not sorted: ${formatSlots(ranges)}`);
  }
}

function assertSame(ranges: SlotRanges, slots: ReadonlySet<number>): void {
  assertNormal(ranges);
  assert.deepEqual(
    [...slotsOf(ranges)],
    [...slots].sort((a, b) => a - b),
  );
  assert.equal(countSlots(ranges), slots.size);
}

test('ranges are the set, sorted and joined, whatever the order given', () => {
  fc.assert(
    fc.property(slotSet, (slots) => {
      assertSame(rangesOf(slots), slots);
      assertSame(rangesOf([...slots].reverse().concat([...slots])), slots);
    }),
  );
});

test('text and back', () => {
  fc.assert(
    fc.property(slotSet, (slots) => {
      const ranges = rangesOf(slots);
      assert.deepEqual(parseSlots(formatSlots(ranges)), ranges);
    }),
  );
  assert.equal(
    formatSlots([
      [0, 5460],
      [5462, 5462],
    ]),
    '0-5460,5462',
  );
  assert.deepEqual(parseSlots('7, 3-5,6'), [[3, 7]]);
  assert.deepEqual(parseSlots('0-10,5-20,20'), [[0, 20]]);
  assert.deepEqual(parseSlots(''), []);
});

test('text that is not slots is refused as a whole', () => {
  for (const text of ['16384', '0-16384', '5-3', '-1', 'a', '1,,2', '1-', '0x10', '1.5', '1-2-3', '123456']) {
    assert.equal(parseSlots(text), undefined, text);
  }
});

test('membership, union, intersection and difference are those of sets', () => {
  fc.assert(
    fc.property(slotSet, slotSet, slotSet, (a, b, c) => {
      const [x, y, z] = [rangesOf(a), rangesOf(b), rangesOf(c)];
      assertSame(unionSlots(x, y, z), new Set([...a, ...b, ...c]));
      assertSame(intersectSlots(x, y), new Set([...a].filter((slot) => b.has(slot))));
      assertSame(minusSlots(x, y), new Set([...a].filter((slot) => !b.has(slot))));
      for (const slot of [0, 1, 20, SLOT_COUNT - 1, ...b]) assert.equal(hasSlot(x, slot), a.has(slot));
    }),
  );
});

test('a set is cut in two by any other, nothing lost and nothing twice', () => {
  fc.assert(
    fc.property(slotSet, slotSet, (a, b) => {
      const [x, y] = [rangesOf(a), rangesOf(b)];
      assert.deepEqual(unionSlots(minusSlots(x, y), intersectSlots(x, y)), x);
      assert.deepEqual(intersectSlots(minusSlots(x, y), y), []);
      assert.deepEqual(minusSlots(ALL_SLOTS, minusSlots(ALL_SLOTS, x)), x);
    }),
  );
});

test('the lowest slots of a set are taken, as many as there are', () => {
  fc.assert(
    fc.property(slotSet, fc.nat({ max: 60 }), (slots, count) => {
      const lowest = [...slots].sort((a, b) => a - b).slice(0, count);
      assertSame(takeSlots(rangesOf(slots), count), new Set(lowest));
    }),
  );
});
