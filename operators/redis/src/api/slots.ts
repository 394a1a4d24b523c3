/** Sets of hash slots as sorted, disjoint, non-adjacent inclusive ranges: small, printable, comparable. */
export const SLOT_COUNT = 16384;

export type SlotRange = readonly [first: number, last: number];
export type SlotRanges = readonly SlotRange[];

/** Any slot numbers, in any order, as ranges. */
export function rangesOf(slots: Iterable<number>): SlotRanges {
  const sorted = [...new Set(slots)].sort((a, b) => a - b);
  const ranges: [number, number][] = [];
  for (const slot of sorted) {
    const last = ranges.at(-1);
    if (last && last[1] + 1 === slot) last[1] = slot;
    else ranges.push([slot, slot]);
  }
  return ranges;
}

export function* slotsOf(ranges: SlotRanges): Generator<number> {
  for (const [first, last] of ranges) for (let slot = first; slot <= last; slot++) yield slot;
}

export function countSlots(ranges: SlotRanges): number {
  let count = 0;
  for (const [first, last] of ranges) count += last - first + 1;
  return count;
}

export function hasSlot(ranges: SlotRanges, slot: number): boolean {
  let low = 0;
  let high = ranges.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [first, last] = ranges[middle] as SlotRange;
    if (slot < first) high = middle - 1;
    else if (slot > last) low = middle + 1;
    else return true;
  }
  return false;
}

/** `0-5460,5462` ↔ ranges. */
export function formatSlots(ranges: SlotRanges): string {
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}

/** Undefined if the text is not a list of slots within 0–16383. */
export function parseSlots(text: string): SlotRanges | undefined {
  if (text === '') return [];
  const ranges: SlotRange[] = [];
  for (const part of text.split(',')) {
    const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part.trim());
    if (!match) return undefined;
    const first = Number(match[1]);
    const last = Number(match[2] ?? match[1]);
    if (first > last || last >= SLOT_COUNT) return undefined;
    ranges.push([first, last]);
  }
  return unionSlots(ranges);
}

export function unionSlots(...sets: readonly SlotRanges[]): SlotRanges {
  const all = sets.flat().sort((a, b) => a[0] - b[0]);
  const merged: [number, number][] = [];
  for (const [first, last] of all) {
    const previous = merged.at(-1);
    if (previous && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last);
    else merged.push([first, last]);
  }
  return merged;
}

export function intersectSlots(a: SlotRanges, b: SlotRanges): SlotRanges {
  const result: SlotRange[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const [aFirst, aLast] = a[i] as SlotRange;
    const [bFirst, bLast] = b[j] as SlotRange;
    const first = Math.max(aFirst, bFirst);
    const last = Math.min(aLast, bLast);
    if (first <= last) result.push([first, last]);
    if (aLast < bLast) i++;
    else j++;
  }
  return result;
}

export function minusSlots(a: SlotRanges, b: SlotRanges): SlotRanges {
  const result: SlotRange[] = [];
  let j = 0;
  for (const [first, last] of a) {
    let from = first;
    while (j < b.length && (b[j] as SlotRange)[1] < from) j++;
    for (let k = j; k < b.length && (b[k] as SlotRange)[0] <= last; k++) {
      const [cutFirst, cutLast] = b[k] as SlotRange;
      if (cutFirst > from) result.push([from, cutFirst - 1]);
      from = Math.max(from, cutLast + 1);
    }
    if (from <= last) result.push([from, last]);
  }
  return result;
}

/** The lowest `count` slots of a set. */
export function takeSlots(ranges: SlotRanges, count: number): SlotRanges {
  const result: SlotRange[] = [];
  let left = count;
  for (const [first, last] of ranges) {
    if (left <= 0) break;
    const end = Math.min(last, first + left - 1);
    result.push([first, end]);
    left -= end - first + 1;
  }
  return result;
}

export const ALL_SLOTS: SlotRanges = [[0, SLOT_COUNT - 1]];
