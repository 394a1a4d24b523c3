/**
 * Whether a move is long. An atomic migration ends with a pause in which the source takes no writes at all, for any of its
 * slots: 40–250 ms, measured on Valkey 9.1, whether one slot moves or a thousand. In a move of minutes nobody notices;
 * in one of a second it is what every client remembers. So at the gentle pace short moves are made with MIGRATE, which
 * never holds a server for longer than a few milliseconds.
 */
import { type SlotRanges, slotsOf } from '../../api/slots.ts';
import { keysInSlots } from '../evidence.ts';
import { sample } from './big-keys.ts';
import type { Migration } from './migration.ts';

/** Above this the pause touches less than a hundredth of a client's writes. */
const LONG_MS = 15_000;
/** What the gentle pace manages on slow machines. */
const MS_PER_SLOT = 2;
const KEYS_PER_MS = 20;
const BYTES_PER_MS = 20_000;
const COUNTED_AT_ONCE = 256;

export async function isLong(migration: Migration, ranges: SlotRanges): Promise<boolean> {
  const slots = [...slotsOf(ranges)];
  const { bytesPerKey } = await sample(migration, slots);
  const perKey = 1 / KEYS_PER_MS + bytesPerKey / BYTES_PER_MS;
  let ms = slots.length * MS_PER_SLOT;
  for (let from = 0; from < slots.length && ms <= LONG_MS; from += COUNTED_AT_ONCE) {
    const counts = await keysInSlots(
      migration.context,
      migration.command.source,
      slots.slice(from, from + COUNTED_AT_ONCE),
    );
    for (const count of counts) ms += count * perKey;
  }
  return ms > LONG_MS;
}
