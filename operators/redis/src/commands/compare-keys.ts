/** Two copies of one key on two nodes: are they the same? Decided by their serialised values, before anything is overwritten. */
import type { Arg, Reply } from '../api/port.ts';
import type { NodeRef } from '../api/view.ts';
import type { RedisContext } from './context.ts';

export type Comparison = 'same' | 'different' | 'gone-here' | 'gone-there';

/** Copies made by MIGRATE carry the remaining time, not the moment: their expiries drift apart by its duration. */
const EXPIRY_DRIFT_MS = 5_000;

/** ASKING before each read: a node that does not own the slot serves it only so (and only while it is importing). */
async function read(context: RedisContext, node: NodeRef, key: Buffer): Promise<{ dump: Reply; expiry: number }> {
  const [, dump, , expiry] = await Promise.all([
    context.redis.call(node.endpoint, ['ASKING'], { lane: 'bulk' }),
    context.redis.call(node.endpoint, ['DUMP', key], { lane: 'bulk', binary: true }),
    context.redis.call(node.endpoint, ['ASKING'], { lane: 'bulk' }),
    context.redis.call(node.endpoint, ['PEXPIRETIME', key], { lane: 'bulk' }),
  ]);
  return { dump, expiry: Number(expiry) };
}

export async function compareKey(
  context: RedisContext,
  here: NodeRef,
  there: NodeRef,
  key: Buffer,
): Promise<Comparison> {
  const [a, b] = await Promise.all([read(context, here, key), read(context, there, key)]);
  if (!Buffer.isBuffer(a.dump)) return 'gone-here';
  if (!Buffer.isBuffer(b.dump)) return 'gone-there';
  if (!a.dump.equals(b.dump) && !(await haveEqualMembers(context, here, there, key, a.dump, b.dump)))
    return 'different';
  const bothExpire = a.expiry >= 0 && b.expiry >= 0;
  const sameExpiry = bothExpire ? Math.abs(a.expiry - b.expiry) <= EXPIRY_DRIFT_MS : a.expiry === b.expiry;
  return sameExpiry ? 'same' : 'different';
}

/**
 * The first byte of a dump is the kind of its encoding. Sets and hashes have no order: each server writes them in its
 * own, so that a copy made by MIGRATE differs from its original byte by byte. Kinds that carry more than the members
 * (fields with an expiry of their own) are not among these: they count as different.
 */
const SET_KINDS = new Set([2, 11, 20]);
const HASH_KINDS = new Set([4, 13, 16]);
/** Above this, reading all members would hold up the servers: a person decides. */
const MOST_BYTES = 16 * 1024 * 1024;

async function haveEqualMembers(
  context: RedisContext,
  here: NodeRef,
  there: NodeRef,
  key: Buffer,
  ours: Buffer,
  theirs: Buffer,
): Promise<boolean> {
  const areBoth = (kinds: ReadonlySet<number>) => kinds.has(ours[0] ?? -1) && kinds.has(theirs[0] ?? -1);
  const command = areBoth(SET_KINDS) ? 'SMEMBERS' : areBoth(HASH_KINDS) ? 'HGETALL' : undefined;
  if (command === undefined || Math.max(ours.length, theirs.length) > MOST_BYTES) return false;
  const step = command === 'SMEMBERS' ? 1 : 2;
  const [a, b] = await Promise.all([here, there].map((node) => members(context, node, [command, key], step)));
  return a !== undefined && b !== undefined && a.length === b.length && a.every((member, index) => member === b[index]);
}

/** The members, sorted; a field and its value together. */
async function members(context: RedisContext, node: NodeRef, args: readonly Arg[], step: number): Promise<string[]> {
  const [, reply] = await Promise.all([
    context.redis.call(node.endpoint, ['ASKING'], { lane: 'bulk' }),
    context.redis.call(node.endpoint, args, { lane: 'bulk', binary: true }),
  ]);
  const flat = (reply as readonly Buffer[]).map((part) => part.toString('latin1'));
  return Array.from({ length: flat.length / step }, (_, n) =>
    JSON.stringify(flat.slice(n * step, (n + 1) * step)),
  ).sort();
}

/** A key as it may be shown: printable, short. */
export function showKey(key: Buffer): string {
  const text = JSON.stringify(key.toString('latin1'));
  return text.length > 60 ? `${text.slice(0, 57)}…"` : text;
}
