import { SLOT_COUNT, type SlotRange } from '../api/slots.ts';

/** All slots in `count` contiguous ranges whose sizes differ by one at most; the first ones get the extra slot. */
export function evenSlots(count: number): readonly SlotRange[] {
  const size = Math.floor(SLOT_COUNT / count);
  const extra = SLOT_COUNT % count;
  let next = 0;
  return Array.from({ length: count }, (_, index) => {
    const first = next;
    next += size + (index < extra ? 1 : 0);
    return [first, next - 1] as const;
  });
}
