/** The append-only file of a server that holds nothing. */
import { RedisReplyError } from '../api/port.ts';
import type { NodeRef } from '../api/view.ts';
import { parseInfo } from '../observe/parse.ts';
import type { RedisContext } from './context.ts';
import { ask, nameOf } from './evidence.ts';

/** The file of an empty server is written in milliseconds; one of its former contents may be on its way before. */
const PATIENCE_MS = 60_000;
const LOOK_MS = 25;

/**
 * Lets an empty server write its append-only file anew, and waits until it did. What CLUSTER RESET empties is never
 * written into the file; what a primary drops with a slot that it lost to a greater epoch is not on Redis 7. After a
 * restart those keys would be back: old values, in a node that may own their slots again by then, or others.
 *
 * Gives back why it could not be done, for a person to know.
 */
export async function emptyLog(context: RedisContext, node: NodeRef, signal: AbortSignal): Promise<string | undefined> {
  const until = context.clock.now() + PATIENCE_MS;
  let asked = false;
  while (context.clock.now() < until && !signal.aborted) {
    const info = await persistenceOf(context, node);
    if (info.aof_enabled !== '1') return undefined;
    const isWriting = info.aof_rewrite_in_progress === '1' || info.aof_rewrite_scheduled === '1';
    if (!isWriting && asked) {
      return info.aof_last_bgrewrite_status === 'ok' ? undefined : remark(node, 'its last rewrite failed');
    }
    // One that is under way may have begun with the keys: a new one, after it.
    if (!isWriting) {
      const refusal = await requestRewrite(context, node);
      if (refusal === undefined) {
        asked = true;
        continue;
      }
      // One began since the look: waited for, as one that was seen.
      if (!refusal.includes('in progress')) return remark(node, refusal);
    }
    await context.clock.sleep(LOOK_MS);
  }
  return remark(node, signal.aborted ? 'nobody waited for its rewrite' : 'its rewrite takes too long');
}

export async function hasLog(context: RedisContext, node: NodeRef): Promise<boolean> {
  return (await persistenceOf(context, node)).aof_enabled === '1';
}

async function persistenceOf(context: RedisContext, node: NodeRef): Promise<Readonly<Record<string, string>>> {
  return parseInfo(String(await ask(context, node, ['INFO', 'persistence'])));
}

async function requestRewrite(context: RedisContext, node: NodeRef): Promise<string | undefined> {
  try {
    await ask(context, node, ['BGREWRITEAOF']);
    return undefined;
  } catch (error) {
    if (error instanceof RedisReplyError) return error.message;
    throw error;
  }
}

function remark(node: NodeRef, why: string): string {
  return `run BGREWRITEAOF on ${nameOf(node)} before it is used: its append-only file may hold keys that it dropped, and ${why}`;
}
