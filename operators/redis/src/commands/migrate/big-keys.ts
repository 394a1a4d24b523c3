/**
 * Keys that are too big to move like the others. MIGRATE blocks both servers while it packs, sends and unpacks a key:
 * longer than the node timeout, and the cluster fails them over in the middle of it. So big keys are looked for before a
 * slot is opened; slots that have one come last, one at a time, each big key alone; a key that cannot be moved safely
 * keeps its slot on the source, closed, and is reported.
 */
import type { Pace } from '../../api/commands.ts';
import type { Reply } from '../../api/port.ts';
import { showKey } from '../compare-keys.ts';
import { formatBytes, type Migration, type SlotTrouble } from './migration.ts';

/** Keys of a slot. `complete`: it had no others when it was asked. */
export interface Listing {
  readonly slot: number;
  readonly keys: readonly SizedKey[];
  readonly complete: boolean;
}

export interface SizedKey {
  readonly key: Buffer;
  /** In memory, by the server's own estimate; what travels is usually less. */
  readonly bytes: number;
}

/** Slow types (many small fields) travel at this rate on slow machines, measured on both ends together. */
const SAFE_BYTES_PER_MS = 20_000;
/** RESTORE takes one argument of at most proto-max-bulk-len. */
const LARGEST_PAYLOAD = 512 * 1024 * 1024;
/** A key from this size on is moved alone and last. */
const ALONE_BYTES: Readonly<Record<Pace, number>> = { gentle: 1_000_000, fast: 8_000_000 };

export function isMovedAlone(bytes: number, pace: Pace): boolean {
  return bytes >= ALONE_BYTES[pace];
}

export function largestSafeKey(nodeTimeoutMs: number): number {
  return Math.min(LARGEST_PAYLOAD, (nodeTimeoutMs / 2) * SAFE_BYTES_PER_MS);
}

export function tooBig({ slot, keys }: Listing, nodeTimeoutMs: number): SlotTrouble | undefined {
  const limit = largestSafeKey(nodeTimeoutMs);
  const giant = keys.find(({ bytes }) => bytes > limit);
  if (!giant) return undefined;
  const message = `key ${showKey(giant.key)} of ${formatBytes(giant.bytes)} would block both servers for too long (at most ${formatBytes(limit)} with a node timeout of ${nodeTimeoutMs} ms); the slot stays where it is`;
  return { slot, code: 'BIG_KEY', message };
}

export async function sizesOf(migration: Migration, keys: readonly Buffer[]): Promise<readonly number[]> {
  const { context, command } = migration;
  const ask = (key: Buffer): Promise<Reply> =>
    context.redis.call(command.source.endpoint, ['MEMORY', 'USAGE', key]).catch(() => null);
  // A key that is gone, or a server that denies the question, has no size: the batches by number of keys hold anyway.
  return (await Promise.all(keys.map(ask))).map((size) => (typeof size === 'number' ? size : 0));
}

export async function keysOf(migration: Migration, slot: number, most: number): Promise<readonly Buffer[]> {
  const { context, command } = migration;
  const args = ['CLUSTER', 'GETKEYSINSLOT', String(slot), String(most)];
  return (await context.redis.call(command.source.endpoint, args, { binary: true })) as readonly Buffer[];
}

/** Lists all keys of slots with their sizes. */
export async function lookAt(migration: Migration, slots: readonly number[]): Promise<readonly Listing[]> {
  const { context, command } = migration;
  return Promise.all(
    slots.map(async (slot) => {
      const args = ['CLUSTER', 'COUNTKEYSINSLOT', String(slot)];
      const count = Number(await context.redis.call(command.source.endpoint, args));
      if (count === 0) return { slot, keys: [], complete: true };
      const keys = await keysOf(migration, slot, count);
      const sizes = await sizesOf(migration, keys);
      return { slot, keys: keys.map((key, index) => ({ key, bytes: sizes[index] ?? 0 })), complete: true };
    }),
  );
}
