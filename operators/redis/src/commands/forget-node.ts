import { done, failed } from '@reeve/runtime';
import type { ForgetNode } from '../api/commands.ts';
import { RedisReplyError } from '../api/port.ts';
import { countSlots } from '../api/slots.ts';
import type { NodeLine, NodeRef } from '../api/view.ts';
import { parseClusterNodes } from '../observe/parse.ts';
import type { RedisContext } from './context.ts';
import { emptyLog, hasLog } from './empty-log.ts';
import {
  ask,
  askTolerant,
  doneIf,
  handlerFor,
  isSilence,
  type IsDone,
  keyCount,
  nameOf,
  type NodeTable,
  StaleEvidence,
  tableIfThere,
  tableOf,
} from './evidence.ts';
import { proveOtherCopy } from './other-copy.ts';

function proveExpendable(victim: NodeRef, by: NodeRef, lines: readonly NodeLine[]): void {
  const line = lines.find((other) => other.id === victim.id);
  if (line && countSlots(line.slots) > 0) {
    throw new StaleEvidence(`${nameOf(by)} still sees ${countSlots(line.slots)} slots on ${nameOf(victim)}`);
  }
  // One that is dead follows whom it followed, for ever.
  const replica = lines.find((other) => other.primaryId === victim.id && !other.flags.includes('fail'));
  if (replica)
    throw new StaleEvidence(`${nameOf(by)} still sees ${replica.id.slice(0, 8)} replicate ${nameOf(victim)}`);
}

/** A member that is not asked would bring the node back by gossip. One that is taken for failed is not there to do so. */
function proveEveryoneAsked(command: ForgetNode, tables: readonly NodeTable[]): void {
  const asked = new Set([command.node.id, ...command.by.map(({ id }) => id)]);
  const missed = tables
    .flatMap((table) => table.others)
    .find((line) => !asked.has(line.id) && !line.flags.some((flag) => flag === 'fail' || flag === 'noaddr'));
  if (missed) throw new StaleEvidence(`${missed.id.slice(0, 8)} is a member too and would not be asked to forget`);
}

/** A handshake that nobody answers ends with the node timeout, or a second if that is shorter; this is for two of the usual ones. */
const HANDSHAKE_PATIENCE_MS = 30_000;
/** A server drops the keys of slots that it lost in less than a second, or much less. */
const EMPTYING_PATIENCE_MS = 5_000;
const LOOK_MS = 25;

/**
 * Everybody's table, once no handshake with the node is under way. One that is would be answered also after FORGET and
 * RESET, which know nothing of it, and bring the node back: FORGET's ban holds for what gossip says, not for answers.
 * A node that is not there answers nobody.
 */
async function tablesAtRest(
  { node, by }: ForgetNode,
  context: RedisContext,
  signal: AbortSignal,
): Promise<{ readonly tables: readonly NodeTable[]; readonly own: NodeTable | undefined }> {
  const until = context.clock.now() + HANDSHAKE_PATIENCE_MS;
  for (;;) {
    // Without an address there is nobody to ask.
    const own = node.endpoint.port === 0 ? undefined : await tableIfThere(context, node);
    const tables = await Promise.all(by.map((member) => tableOf(context, member)));
    const open = tables.findIndex(({ handshakes }) => handshakes.some((line) => isAt(line, node)));
    if (!own || (open === -1 && !by.some((member) => own.handshakes.some((line) => isAt(line, member))))) {
      return { tables, own };
    }
    if (context.clock.now() >= until || signal.aborted) {
      const who = by[open];
      const pair = who
        ? `${nameOf(who)} shakes hands with ${nameOf(node)}`
        : `${nameOf(node)} shakes hands with a member`;
      throw new StaleEvidence(`${pair}, which would bring it back`);
    }
    await context.clock.sleep(LOOK_MS);
  }
}

/** Keys of a primary without slots. Those of slots that it has just handed over may still be on their way out. */
async function keysLeft(node: NodeRef, context: RedisContext, signal: AbortSignal): Promise<number> {
  const until = context.clock.now() + EMPTYING_PATIENCE_MS;
  for (;;) {
    const keys = await keyCount(context, node);
    if (keys === 0 || context.clock.now() >= until || signal.aborted) return keys;
    await context.clock.sleep(LOOK_MS);
  }
}

function isAt(line: NodeLine, { endpoint }: NodeRef): boolean {
  return line.host === endpoint.host && line.port === endpoint.port;
}

const isGone: IsDone<ForgetNode> = async ({ node, by, reset }, context) => {
  const tables = await Promise.all(by.map((member) => tableOf(context, member)));
  const isKnown = tables.some(
    ({ others, handshakes }) =>
      others.some((other) => other.id === node.id) || handshakes.some((line) => isAt(line, node)),
  );
  if (isKnown || !reset) return doneIf(!isKnown);
  const own = await tableIfThere(context, node);
  if (own && own.others.length > 0) return 'not-done';
  // Reset, it has another id. Nobody can tell whether an append-only file was written anew since.
  const isAlone = own !== undefined || (await isSomebodyAlone(context, node));
  return isAlone && !(await hasLog(context, node)) ? 'done' : 'unknown';
};

/** Whether who answers at the address, whoever it is, knows nobody. */
async function isSomebodyAlone(context: RedisContext, node: NodeRef): Promise<boolean> {
  try {
    return parseClusterNodes(String(await ask(context, node, ['CLUSTER', 'NODES']))).length === 1;
  } catch (error) {
    if (isSilence(error)) return false;
    throw error;
  }
}

/**
 * All members forget a node, within the 60 s during which each refuses to learn of it again. Every member must be
 * there before the first one is asked: one that missed it would bring the node back by gossip.
 */
export const forgetNodeHandler = handlerFor<ForgetNode>('forget-node', isGone, async (command, context, signal) => {
  const { node, by } = command;
  const { tables, own } = await tablesAtRest(command, context, signal);
  for (const [index, member] of by.entries()) {
    const table = tables[index] as NodeTable;
    proveExpendable(node, member, [table.self, ...table.others]);
  }
  proveEveryoneAsked(command, tables);
  if (own && countSlots(own.self.slots) > 0) throw new StaleEvidence(`${nameOf(node)} says that it owns slots`);
  const primary = by.find(({ id }) => id === own?.self.primaryId);
  if (own) await proveOtherCopy(context, node, own, primary);
  const keys = own?.self.role === 'primary' ? await keysLeft(node, context, signal) : 0;
  if (keys > 0) {
    return failed(
      'NODE_NOT_EMPTY',
      `${nameOf(node)} holds ${keys} keys in slots that it does not own: they would leave the cluster with it`,
    );
  }

  await Promise.all(
    by
      .filter((_member, index) => tables[index]?.others.some((other) => other.id === node.id))
      .map((member) =>
        askTolerant(context, member, [['CLUSTER', 'FORGET', node.id]], (error) =>
          error.message.includes('Unknown node'),
        ),
      ),
  );
  const after = await Promise.all(by.map((member) => tableOf(context, member)));
  const remembered = by.filter((_member, index) => after[index]?.others.some((other) => other.id === node.id));
  if (remembered.length > 0) {
    return failed('STILL_KNOWN', `${nameOf(node)} is still known to ${remembered.map(nameOf).join(', ')}`);
  }
  if (command.reset && own) {
    // Once more: an address may be another's by now, and what is reset does not know who it was.
    const last = await tableOf(context, node);
    await proveOtherCopy(context, node, last, primary);
    try {
      // With a new id: by the old one it could not come back for a minute, whatever MEETs it, because all tell all to forget it.
      await ask(context, node, ['CLUSTER', 'RESET', 'HARD']);
    } catch (error) {
      // A primary that holds keys refuses to be reset, and rightly so: where they came from since the count, nobody knows.
      if (!(error instanceof RedisReplyError)) throw error;
      return { status: 'done', note: `${nameOf(node)} is forgotten, but refused its reset: ${error.message}` };
    }
    const note = await emptyLog(context, node, signal);
    return note === undefined ? done : { status: 'done', note };
  }
  return done;
});
