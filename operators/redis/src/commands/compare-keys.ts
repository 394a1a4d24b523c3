/** Two copies of one key on two nodes: are they the same? Decided by their serialised values, before anything is overwritten. */
import type { Reply } from '../api/port.ts';
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
  if (!a.dump.equals(b.dump)) return 'different';
  const bothExpire = a.expiry >= 0 && b.expiry >= 0;
  const sameExpiry = bothExpire ? Math.abs(a.expiry - b.expiry) <= EXPIRY_DRIFT_MS : a.expiry === b.expiry;
  return sameExpiry ? 'same' : 'different';
}

/** A key as it may be shown: printable, short. */
export function showKey(key: Buffer): string {
  const text = JSON.stringify(key.toString('latin1'));
  return text.length > 60 ? `${text.slice(0, 57)}…"` : text;
}
