import { done, failed, type Outcome } from '@reeve/runtime';
import type { ForgetNode } from '../api/commands.ts';
import { RedisReplyError } from '../api/port.ts';
import { countSlots } from '../api/slots.ts';
import type { NodeLine, NodeRef } from '../api/view.ts';
import { parseInfo } from '../observe/parse.ts';
import type { RedisContext } from './context.ts';
import {
  ask,
  askTolerant,
  handlerFor,
  nameOf,
  type NodeTable,
  StaleEvidence,
  tableIfThere,
  tableOf,
} from './evidence.ts';

function proveExpendable(victim: NodeRef, by: NodeRef, lines: readonly NodeLine[]): void {
  const line = lines.find((other) => other.id === victim.id);
  if (line && countSlots(line.slots) > 0) {
    throw new StaleEvidence(`${nameOf(by)} still sees ${countSlots(line.slots)} slots on ${nameOf(victim)}`);
  }
  const replica = lines.find((other) => other.primaryId === victim.id);
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

/**
 * A replica that is reset empties its memory, but not its append-only file: after a restart the keys would be back, in
 * a node that may own other slots by then.
 */
async function rewriteLog(context: RedisContext, node: NodeRef): Promise<Outcome> {
  const info = parseInfo(String(await ask(context, node, ['INFO', 'persistence'])));
  if (info.aof_enabled !== '1') return done;
  try {
    await ask(context, node, ['BGREWRITEAOF']);
    return done;
  } catch (error) {
    if (!(error instanceof RedisReplyError)) throw error;
    const note = `${nameOf(node)} is forgotten and reset, but run BGREWRITEAOF on it before it is used again: ${error.message}`;
    return { status: 'done', note };
  }
}

/**
 * All members forget a node, within the 60 s during which each refuses to learn of it again. Every member must be
 * there before the first one is asked: one that missed it would bring the node back by gossip.
 */
export const forgetNodeHandler = handlerFor<ForgetNode>('forget-node', async (command, context) => {
  const { node, by } = command;
  const tables = await Promise.all(by.map((member) => tableOf(context, member)));
  for (const [index, member] of by.entries()) {
    const table = tables[index] as NodeTable;
    proveExpendable(node, member, [table.self, ...table.others]);
  }
  proveEveryoneAsked(command, tables);
  const own = await tableIfThere(context, node);
  if (own && countSlots(own.self.slots) > 0) throw new StaleEvidence(`${nameOf(node)} says that it owns slots`);

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
    try {
      await ask(context, node, ['CLUSTER', 'RESET', 'SOFT']);
    } catch (error) {
      // A primary that holds keys refuses to be reset, and rightly so: it is out of the cluster, its keys stay with it.
      if (!(error instanceof RedisReplyError)) throw error;
      return { status: 'done', note: `${nameOf(node)} is forgotten, but refused its reset: ${error.message}` };
    }
    return rewriteLog(context, node);
  }
  return done;
});
