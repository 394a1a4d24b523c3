/**
 * Whether a move is long. An atomic migration ends with a pause in which the source takes no writes at all, for any of its
 * slots: 40–250 ms, measured on Valkey 9.1, whether one slot moves or a thousand. In a move of minutes nobody notices;
 * in one of a second it is what every client remembers. So at the gentle pace short moves are made with MIGRATE, which
 * never holds a server for longer than a few milliseconds.
 */
import { type SlotRanges, slotsOf } from '../../api/slots.ts';
import type { Migration } from './migration.ts';
import { meanOf, sampleOf } from './sample.ts';

/** Above this the pause touches less than a hundredth of a client's writes. */
const LONG_MS = 15_000;
/** What the gentle pace manages on slow machines. */
const MS_PER_SLOT = 2;
const KEYS_PER_MS = 20;
const BYTES_PER_MS = 20_000;

export async function isLong(migration: Migration, ranges: SlotRanges): Promise<boolean> {
  const slots = [...slotsOf(ranges)];
  const moving = await sampleOf(migration, slots);
  const perKey = 1 / KEYS_PER_MS + meanOf(moving) / BYTES_PER_MS;
  return slots.length * MS_PER_SLOT + moving.keys * perKey > LONG_MS;
}
