/** Live reads by which handlers prove that a command may be carried out. Never from a cache, never by a name. */
import {
  type DoneCheck,
  type Handle,
  type Handler,
  type Outcome,
  type Progress,
  ReeveError,
  asReeveError,
  failed,
  stale,
} from '@reeve/runtime';
import type { RedisCommand } from '../api/commands.ts';
import { type Arg, type CallOptions, RedisReplyError, type Reply } from '../api/port.ts';
import { parseSlots, rangesOf, type SlotRanges } from '../api/slots.ts';
import { formatEndpoint, type NodeId, type NodeLine, type NodeRef } from '../api/view.ts';
import { countKeys } from '../observe/measure.ts';
import { keyspaceOf, numberOf, parseClusterNodes, parseInfo, unansweredBy } from '../observe/parse.ts';
import type { RedisContext } from './context.ts';

const COUNT_TIMEOUT_MS = 5_000;

/** The evidence of a command no longer holds: nothing was changed by it, plan anew. */
export class StaleEvidence extends Error {}

/**
 * Whether a command is in the world, asked after a crash, by live reads and without a change. `not-done` says that nothing of it goes
 * on either. What it throws is `unknown`.
 */
export type IsDone<C extends RedisCommand> = (
  command: C,
  context: RedisContext,
  signal: AbortSignal,
) => Promise<DoneCheck>;

export function doneIf(isSo: boolean): DoneCheck {
  return isSo ? 'done' : 'not-done';
}

/** A handler whose checks may throw StaleEvidence. */
export function handlerFor<C extends RedisCommand>(
  type: C['type'],
  isDone: IsDone<C>,
  run: (command: C, context: RedisContext, signal: AbortSignal) => Promise<Outcome | Handle>,
): Handler<C, RedisContext> {
  return {
    type,
    isDone,
    async run(command, context, signal) {
      try {
        return await run(command, context, signal);
      } catch (error) {
        if (error instanceof StaleEvidence) return stale(error.message);
        throw error;
      }
    },
  };
}

/** Work that may take longer than a few seconds: goes on behind a handle. */
export function background(work: (report: (progress: Progress) => void) => Promise<Outcome>): Handle {
  let latest: Progress | undefined;
  const settled = work((progress) => {
    latest = progress;
  }).catch((error: unknown) => {
    if (error instanceof StaleEvidence) return stale(error.message);
    const known = asReeveError(error);
    return failed(known.code, known.message);
  });
  return { progress: () => latest, settled };
}

export function nameOf(node: NodeRef): string {
  return `${node.id.slice(0, 8)} at ${formatEndpoint(node.endpoint)}`;
}

export async function ask(
  context: RedisContext,
  node: NodeRef,
  args: readonly Arg[],
  options?: CallOptions,
): Promise<Reply> {
  return context.redis.call(node.endpoint, args, options);
}

/** Several commands to one server in one write; the first error is thrown after all answered. */
export async function askAll(
  context: RedisContext,
  node: NodeRef,
  commands: readonly (readonly Arg[])[],
  options?: CallOptions,
): Promise<readonly Reply[]> {
  const results = await Promise.allSettled(commands.map((args) => context.redis.call(node.endpoint, args, options)));
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

export interface NodeTable {
  readonly self: NodeLine;
  /** Lines about others that are more than a handshake. */
  readonly others: readonly NodeLine[];
  /** Lines with a made-up id: somebody at this address is being asked who he is. */
  readonly handshakes: readonly NodeLine[];
  /** Who owes it an answer on the bus. */
  readonly unanswered: ReadonlySet<NodeId>;
}

/** The node's own table; stale if another node answers at that address. */
export async function tableOf(context: RedisContext, node: NodeRef): Promise<NodeTable> {
  const text = String(await ask(context, node, ['CLUSTER', 'NODES']));
  const lines = parseClusterNodes(text);
  const self = lines.find((line) => line.flags.includes('myself'));
  if (!self) throw new StaleEvidence(`${formatEndpoint(node.endpoint)} does not say who it is`);
  if (self.id !== node.id) {
    throw new StaleEvidence(
      `at ${formatEndpoint(node.endpoint)} answers ${self.id.slice(0, 8)}, not ${node.id.slice(0, 8)}`,
    );
  }
  const isHandshake = (line: NodeLine): boolean => line.flags.includes('handshake');
  const others = lines.filter((line) => line !== self && !isHandshake(line));
  return { self, others, handshakes: lines.filter(isHandshake), unanswered: unansweredBy(text) };
}

/** The slots that a node has open, whichever way. */
export function openSlots({ self }: NodeTable): ReadonlySet<number> {
  return new Set([...self.migrating, ...self.importing].map((open) => open.slot));
}

/** The node's own table, or undefined when nobody (or somebody else) answers at its address. */
export async function tableIfThere(context: RedisContext, node: NodeRef): Promise<NodeTable | undefined> {
  try {
    return await tableOf(context, node);
  } catch (error) {
    if (error instanceof StaleEvidence || isSilence(error)) return undefined;
    throw error;
  }
}

/** Whether a node takes itself for a primary at this moment. */
export async function isPrimaryNow(context: RedisContext, node: NodeRef): Promise<boolean> {
  return parseInfo(String(await ask(context, node, ['INFO', 'replication']))).role === 'master';
}

export interface Epochs {
  /** By which its claims to slots are judged; of a replica, that of its primary. */
  readonly own: number;
  /** The latest that it has heard of. */
  readonly current: number;
}

export async function epochsOf(context: RedisContext, node: NodeRef): Promise<Epochs> {
  const fields = parseInfo(String(await ask(context, node, ['CLUSTER', 'INFO'])));
  return { own: numberOf(fields, 'cluster_my_epoch'), current: numberOf(fields, 'cluster_current_epoch') };
}

/** Proves that each address is the node we think it is. */
export async function identify(context: RedisContext, nodes: readonly NodeRef[]): Promise<void> {
  const unique = new Map(nodes.map((node) => [`${node.id} ${formatEndpoint(node.endpoint)}`, node]));
  await Promise.all(
    [...unique.values()].map(async (node) => {
      const id = String(await ask(context, node, ['CLUSTER', 'MYID']));
      if (id !== node.id) {
        throw new StaleEvidence(
          `at ${formatEndpoint(node.endpoint)} answers ${id.slice(0, 8)}, not ${node.id.slice(0, 8)}`,
        );
      }
    }),
  );
}

/** The slots a command names. A text that is none must not pass for "no slots", which is done at once. */
export function namedSlots(text: string): SlotRanges {
  const slots = parseSlots(text);
  if (!slots) throw new ReeveError('COMMAND_INVALID', `not a list of slots: ${text}`);
  return slots;
}

/** Nobody answered. Any other error is an answer: of a server that does not let us in, or is loading. */
export function isSilence(error: unknown): boolean {
  const code = error instanceof ReeveError ? error.code : '';
  return code === 'REDIS_UNREACHABLE' || code === 'REDIS_TIMEOUT' || code === 'REDIS_CONNECTION_LOST';
}

/** Keys of each database that holds any. */
export async function keyspace(context: RedisContext, node: NodeRef): Promise<Readonly<Record<number, number>>> {
  return keyspaceOf(parseInfo(String(await ask(context, node, ['INFO', 'keyspace']))));
}

/** Keys in all databases of a node. */
export async function keyCount(context: RedisContext, node: NodeRef): Promise<number> {
  return Object.values(await keyspace(context, node)).reduce((sum, keys) => sum + keys, 0);
}

/** Keys of each slot, in all databases: the server counts in one at a time. */
export async function keysInSlots(
  context: RedisContext,
  node: NodeRef,
  slots: readonly number[],
): Promise<readonly number[]> {
  const databases = Object.keys(await keyspace(context, node)).map(Number);
  const reading = { port: context.redis, endpoint: node.endpoint, timeoutMs: COUNT_TIMEOUT_MS, databases };
  const measures = await countKeys(reading, rangesOf(slots));
  return slots.map((slot) => {
    const measure = measures[slot];
    if (!measure)
      throw new ReeveError('KEYS_NOT_COUNTED', `${nameOf(node)} did not say how many keys slot ${slot} has`);
    return measure.keys;
  });
}

/** Runs commands, tolerating error replies (not lost connections) that `tolerated` accepts. */
export async function askTolerant(
  context: RedisContext,
  node: NodeRef,
  commands: readonly (readonly Arg[])[],
  tolerated: (error: RedisReplyError) => boolean,
): Promise<void> {
  const results = await Promise.allSettled(commands.map((args) => context.redis.call(node.endpoint, args)));
  for (const result of results) {
    if (result.status === 'fulfilled') continue;
    if (result.reason instanceof RedisReplyError && tolerated(result.reason)) continue;
    throw result.reason;
  }
}
