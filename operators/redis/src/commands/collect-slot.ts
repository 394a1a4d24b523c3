/** The keys of one slot, from a node that does not own it to its owner. Never overwrites anything on the owner. */
import { ReeveError } from '@reeve/runtime';
import type { Reply } from '../api/port.ts';
import type { Endpoint, NodeRef } from '../api/view.ts';
import { compareKey } from './compare-keys.ts';
import type { RedisContext } from './context.ts';
import { ask, nameOf } from './evidence.ts';
import { batches, CALL_MARGIN_MS, stepTimeoutMs } from './migrate/batches.ts';
import { largestSafeKey, type SizedKey } from './migrate/big-keys.ts';
import { causeOf, explain } from './migrate/migrate-errors.ts';
import type { Standing } from './migrate/standing.ts';

/** One MIGRATE at a time, each of these at most: mending is no hurry, and clients of both servers wait meanwhile. */
const BATCH = { keys: 100, bytes: 500_000 };
/** Rounds in which a client was always faster than we: then somebody else is at work here. */
const MOST_FRUITLESS = 20;

export interface Collection {
  readonly context: RedisContext;
  readonly from: NodeRef;
  readonly owner: NodeRef;
  /** Where `from` reaches the owner, which need not be where we reach it. */
  readonly ownerSeenByFrom: Endpoint;
  /** The shorter one of the two: a server that is blocked longer than this is failed over. */
  readonly nodeTimeoutMs: number;
  /** Asked before keys leave. */
  readonly standing: Standing;
  readonly signal: AbortSignal;
}

export interface SlotResult {
  readonly moved: number;
  /** Copies that were equal to the owner's and were removed. */
  readonly dropped: number;
  /** On both sides with different values: they stay on both. */
  readonly conflicts: readonly Buffer[];
  /** Too big to be moved, or compared, without blocking the servers for too long: they stay. */
  readonly giants: readonly SizedKey[];
}

/**
 * A slot that `from` does not own is served there only while it is importing it: needed for MIGRATE and ASKING. And only
 * if it knows an owner: a server that was importing while the owner was failed over knows none.
 */
export async function collectSlot(collection: Collection, slot: number): Promise<SlotResult> {
  const { context, from, owner, signal } = collection;
  await ask(context, from, ['CLUSTER', 'SETSLOT', String(slot), 'NODE', owner.id]);
  await ask(context, from, ['CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', owner.id]);
  let result: SlotResult;
  try {
    result = await empty(collection, slot);
  } finally {
    await ask(context, from, ['CLUSTER', 'SETSLOT', String(slot), 'STABLE']);
  }
  if (signal.aborted) throw new ReeveError('INTERRUPTED', `stopped in the middle of slot ${slot}`);
  return result;
}

async function empty(collection: Collection, slot: number): Promise<SlotResult> {
  const { context, from, owner, signal, nodeTimeoutMs } = collection;
  const limit = largestSafeKey(nodeTimeoutMs);
  const conflicts = new Map<string, Buffer>();
  const giants = new Map<string, SizedKey>();
  let moved = 0;
  let dropped = 0;
  let fruitless = 0;
  while (!signal.aborted) {
    const listed = await list(collection, slot, BATCH.keys + conflicts.size + giants.size);
    const fresh = listed.filter((key) => !conflicts.has(nameIn(key)) && !giants.has(nameIn(key)));
    if (fresh.length === 0) break;
    const sized = await withSizes(collection, fresh);
    for (const one of sized) if (one.bytes > limit) giants.set(nameIn(one.key), one);
    const movable = sized.filter(({ bytes }) => bytes <= limit);
    const there = await Promise.all(movable.map(({ key }) => ask(context, owner, ['EXISTS', key], { lane: 'bulk' })));
    const missing = movable.filter((_one, index) => there[index] === 0);
    if (missing.length > 0) {
      const gone = await moveAll(collection, slot, missing);
      moved += gone;
      fruitless = gone > 0 ? 0 : fruitless + 1;
      if (fruitless > MOST_FRUITLESS)
        throw new ReeveError('KEYS_STAY', `slot ${slot}: its keys do not leave ${nameOf(from)}`);
      continue;
    }
    for (const { key } of movable) {
      const comparison = await compareKey(context, from, owner, key);
      if (comparison === 'different') conflicts.set(nameIn(key), key);
      if (comparison !== 'same') continue;
      // Our copy goes, not the owner's: a client may have written to the owner since it was compared.
      await collection.standing.prove([slot]);
      await whileImporting(collection, ['DEL', key]);
      dropped++;
    }
  }
  return { moved, dropped, conflicts: [...conflicts.values()], giants: [...giants.values()] };
}

/** Keys are bytes: as text they are only a name in a map. */
function nameIn(key: Buffer): string {
  return key.toString('latin1');
}

async function list({ context, from }: Collection, slot: number, most: number): Promise<readonly Buffer[]> {
  const args = ['CLUSTER', 'GETKEYSINSLOT', String(slot), String(most)];
  return (await ask(context, from, args, { binary: true, lane: 'bulk' })) as readonly Buffer[];
}

/** A command about a key that `from` serves only to those who ask. */
async function whileImporting({ context, from }: Collection, args: readonly (string | Buffer)[]): Promise<Reply> {
  const [, reply] = await Promise.all([
    context.redis.call(from.endpoint, ['ASKING'], { lane: 'bulk' }),
    context.redis.call(from.endpoint, args, { lane: 'bulk' }),
  ]);
  return reply;
}

async function withSizes(collection: Collection, keys: readonly Buffer[]): Promise<readonly SizedKey[]> {
  // A key that is gone, or a server that denies the question, has no size: the batches by number of keys hold anyway.
  const sizeOf = (key: Buffer) => whileImporting(collection, ['MEMORY', 'USAGE', key]).catch(() => null);
  const sizes = await Promise.all(keys.map(sizeOf));
  return keys.map((key, index) => ({ key, bytes: Number(sizes[index] ?? 0) }));
}

/** How many left. */
async function moveAll(collection: Collection, slot: number, keys: readonly SizedKey[]): Promise<number> {
  let gone = 0;
  for (const batch of batches(keys, 'gentle', () => BATCH)) {
    if (collection.signal.aborted) break;
    await collection.standing.prove([slot]);
    gone += await move(collection, batch);
  }
  return gone;
}

async function move(collection: Collection, batch: readonly SizedKey[]): Promise<number> {
  const { context, from, owner, ownerSeenByFrom, nodeTimeoutMs } = collection;
  const { host, port } = ownerSeenByFrom;
  const stepMs = stepTimeoutMs(nodeTimeoutMs);
  const keys = batch.map(({ key }) => key);
  const args = ['MIGRATE', host, String(port), '', '0', String(stepMs), ...context.redis.migrateAuth(), 'KEYS'];
  try {
    await ask(context, from, [...args, ...keys], { lane: 'bulk', timeoutMs: stepMs + CALL_MARGIN_MS });
    return keys.length;
  } catch (error) {
    const cause = causeOf(error);
    // A client wrote it on the owner meanwhile: the next round compares. Keys before it are moved.
    if (cause === 'on-both-sides') return 0;
    throw explain(error, cause, { source: from, target: owner });
  }
}
