/**
 * Whether a big key may be among those that move, without asking the size of each, which costs about as much as moving
 * them. A sample says what the keys should weigh and how far off that may be; the server says what its data does weigh.
 * It says so for the whole node, so keys that stay are sampled apart from those that move: they may differ in size.
 */
import { minusSlots, rangesOf, slotsOf } from '../../api/slots.ts';
import { keyspaceOf, numberOf, parseInfo } from '../../observe/parse.ts';
import { keysInSlots } from '../evidence.ts';
import { isMovedAlone, keysOf, largestSafeKey, sizesOf } from './big-keys.ts';
import type { Migration } from './migration.ts';

export interface Sample {
  /** Mean size of the sampled keys; 0 when there was none. */
  readonly bytesPerKey: number;
  /** Somewhere there may be a big key: sizes are uneven, or the sample does not explain what the data weighs. */
  readonly suspicious: boolean;
}

/** All keys of some slots, and the sizes of a few of them. */
interface Stratum {
  readonly keys: number;
  readonly sizes: readonly number[];
}

/** What memory and the sample may differ by, for bookkeeping and buffers: this much, or this share. */
const UNEXPLAINED_BYTES = 16_000_000;
const UNEXPLAINED_SHARE = 0.15;
/** A sampled key this many times the mean: sizes differ too much for a sample to say anything. */
const UNEVEN = 20;
/** The sum is hardly ever further off than so many times its standard error. */
const SURE = 3;
/** Keys that were not sampled matter from this share on. */
const NEGLIGIBLE_SHARE = 0.01;
const SAMPLED_KEYS = 192;

export async function sample(migration: Migration, slots: readonly number[]): Promise<Sample> {
  const { context, command } = migration;
  const info = parseInfo(String(await context.redis.call(command.source.endpoint, ['INFO'])));
  const total = Object.values(keyspaceOf(info)).reduce((sum, keys) => sum + keys, 0);
  if (total === 0) return { bytesPerKey: 0, suspicious: false };
  const moving = await sampleOf(migration, slots);
  const bytesPerKey = meanOf(moving);
  const largest = Math.max(0, ...moving.sizes);
  if (isMovedAlone(largest, command.pace) || largest > UNEVEN * bytesPerKey) return { bytesPerKey, suspicious: true };
  if (moving.sizes.length >= moving.keys) return { bytesPerKey, suspicious: false };
  const staying = await sampleOf(migration, slotsThatStay(migration, slots));
  const used = numberOf(info, 'used_memory') - numberOf(info, 'used_memory_startup');
  return { bytesPerKey, suspicious: !isExplained(migration, { used, total }, [moving, staying]) };
}

/** Keys are taken from slots in proportion to how many they have: one slot may have most of them. */
export async function sampleOf(migration: Migration, slots: readonly number[]): Promise<Stratum> {
  const counts = await keysInSlots(migration.context, migration.command.source, slots);
  const keys = counts.reduce((sum, count) => sum + count, 0);
  const step = Math.max(1, keys / SAMPLED_KEYS);
  const lists: Promise<readonly Buffer[]>[] = [];
  let next = step / 2;
  let end = 0;
  for (const [index, slot] of slots.entries()) {
    end += counts[index] ?? 0;
    let chosen = 0;
    for (; next < end; next += step) chosen++;
    if (chosen > 0) lists.push(keysOf(migration, slot, chosen));
  }
  const sizes = await sizesOf(migration, (await Promise.all(lists)).flat());
  // Without a size: it is gone, or the server denies the question. Neither says anything about the others.
  return { keys, sizes: sizes.filter((size) => size > 0) };
}

function slotsThatStay({ sourceSlots }: Migration, moving: readonly number[]): readonly number[] {
  return [...slotsOf(minusSlots(sourceSlots, rangesOf(moving)))];
}

export function meanOf({ sizes }: Stratum): number {
  return sizes.length === 0 ? 0 : sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
}

/** Standard error of the sum that the mean leads to; 0 when every key was asked. */
function errorOf(stratum: Stratum): number {
  const { keys, sizes } = stratum;
  if (sizes.length >= keys) return 0;
  const mean = meanOf(stratum);
  const variance = sizes.reduce((sum, size) => sum + (size - mean) ** 2, 0) / (sizes.length - 1);
  return keys * Math.sqrt((variance / sizes.length) * (1 - sizes.length / keys));
}

/**
 * Data that weighs more than expected may have a giant in it. Data that weighs less shows that the sample is not like
 * the rest, and then it cannot exclude one either.
 */
function isExplained(
  { nodeTimeoutMs }: Migration,
  { used, total }: { readonly used: number; readonly total: number },
  strata: readonly Stratum[],
): boolean {
  // One size says nothing about others.
  const sampled = strata.filter(({ keys, sizes }) => sizes.length >= Math.min(2, keys));
  const unseen = sampled.reduce((rest, { keys }) => rest - keys, total);
  if (unseen > total * NEGLIGIBLE_SHARE) return false;
  const expected = sampled.reduce((sum, stratum) => sum + stratum.keys * meanOf(stratum), 0);
  const error = Math.hypot(...sampled.map(errorOf));
  const tolerated = Math.min(largestSafeKey(nodeTimeoutMs), Math.max(UNEXPLAINED_BYTES, used * UNEXPLAINED_SHARE));
  return Math.abs(used - expected) + SURE * error <= tolerated;
}
