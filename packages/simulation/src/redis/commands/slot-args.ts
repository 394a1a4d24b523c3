import { SLOT_COUNT } from '../crc16.ts';
import { err } from '../reply.ts';

export function parseSlot(text: string | undefined): number {
  if (text === undefined || !/^-?\d{1,18}$/.test(text)) throw err('Invalid or out of range slot');
  const slot = Number(text);
  if (slot < 0 || slot >= SLOT_COUNT) throw err('Invalid or out of range slot');
  return slot;
}
