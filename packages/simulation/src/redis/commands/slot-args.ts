import { SLOT_COUNT } from '../crc16.ts';
import { err } from '../reply.ts';

export function parseSlot(text: string | undefined): number {
  if (text === undefined || !/^-?\d{1,18}$/.test(text)) throw err('Invalid or out of range slot');
  const slot = Number(text);
  if (slot < 0 || slot >= SLOT_COUNT) throw err('Invalid or out of range slot');
  return slot;
}

/** `a-b` or `a` for each run of slots for which `belongs` holds. */
export function slotRuns(belongs: (slot: number) => boolean): [first: number, last: number][] {
  const runs: [number, number][] = [];
  let first = -1;
  for (let slot = 0; slot <= SLOT_COUNT; slot++) {
    const inside = slot < SLOT_COUNT && belongs(slot);
    if (inside && first === -1) first = slot;
    else if (!inside && first !== -1) {
      runs.push([first, slot - 1]);
      first = -1;
    }
  }
  return runs;
}
