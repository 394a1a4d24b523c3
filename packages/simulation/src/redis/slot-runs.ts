/** The owner table of a server, read as runs of slots: small to compare, and what CLUSTER NODES prints. */
import { SLOT_COUNT } from './crc16.ts';

export interface SlotRuns {
  readonly runs: readonly (readonly [first: number, last: number])[];
  /** `0-5460 5462`; equal texts are equal sets. */
  readonly text: string;
}

export const noSlots: SlotRuns = { runs: [], text: '' };

/** One pass over the table, for all owners at once. */
export function slotRuns(owners: Uint16Array): ReadonlyMap<number, SlotRuns> {
  const runs = new Map<number, [number, number][]>();
  for (let slot = 0; slot < SLOT_COUNT; ) {
    const mark = owners[slot] as number;
    const first = slot;
    do slot++;
    while (slot < SLOT_COUNT && owners[slot] === mark);
    if (mark === 0) continue;
    const known = runs.get(mark);
    if (known) known.push([first, slot - 1]);
    else runs.set(mark, [[first, slot - 1]]);
  }
  const result = new Map<number, SlotRuns>();
  for (const [mark, list] of runs) {
    const text = list.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(' ');
    result.set(mark, { runs: list, text });
  }
  return result;
}
