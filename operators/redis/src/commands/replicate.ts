import { done } from '@reeve/runtime';
import type { Replicate } from '../api/commands.ts';
import { countSlots } from '../api/slots.ts';
import type { NodeRef, ReplicationInfo } from '../api/view.ts';
import { parseInfo, replicationOf } from '../observe/parse.ts';
import type { RedisContext } from './context.ts';
import { ask, handlerFor, identify, type IsDone, keyCount, nameOf, StaleEvidence, tableOf } from './evidence.ts';
import { copiedSlots, proveOtherCopy } from './other-copy.ts';

async function replicationNow(context: RedisContext, replica: NodeRef): Promise<ReplicationInfo> {
  return replicationOf(parseInfo(String(await ask(context, replica, ['INFO', 'replication']))));
}

async function isLinked(context: RedisContext, replica: NodeRef): Promise<boolean> {
  const info = await replicationNow(context, replica);
  return info.linkUp === true || info.syncInProgress === true;
}

const isReplica: IsDone<Replicate> = async ({ replica, primary }, context) => {
  const { self } = await tableOf(context, replica);
  if (self.role !== 'replica' || self.primaryId !== primary.id) return 'not-done';
  // Without a link nobody can tell whether it was told before, or again.
  return (await isLinked(context, replica)) ? 'done' : 'unknown';
};

/**
 * Makes a node without slots the replica of a primary. The sync that follows replaces what it holds: so it must hold nothing of its own,
 * and nothing that only it holds.
 */
export const replicateHandler = handlerFor<Replicate>('replicate', isReplica, async (command, context) => {
  const { replica, primary } = command;
  const table = await tableOf(context, replica);
  const { self, others } = table;
  const again = self.role === 'replica' && self.primaryId === primary.id;
  if (countSlots(self.slots) > 0) throw new StaleEvidence(`${nameOf(replica)} owns ${countSlots(self.slots)} slots`);
  const line = others.find((other) => other.id === primary.id);
  if (!line) throw new StaleEvidence(`${nameOf(replica)} does not know ${nameOf(primary)} yet`);
  if (line.role !== 'primary')
    throw new StaleEvidence(`${nameOf(primary)} is a replica in the eyes of ${nameOf(replica)}`);
  await identify(context, [primary]);
  // Sent again, REPLICATE breaks the link and starts over: only where there is none, as after an address that is gone.
  if (again && (await isLinked(context, replica))) return done;
  if (!again && command.mustBeEmpty) {
    const keys = await keyCount(context, replica);
    if (keys > 0) throw new StaleEvidence(`${nameOf(replica)} is not empty: ${keys} keys`);
  }
  // A primary without slots but with keys holds data of nobody knows whom: never thrown away by a sync.
  if (!again && self.role === 'primary' && (await keyCount(context, replica)) > 0) {
    throw new StaleEvidence(`${nameOf(replica)} is a primary that holds keys`);
  }
  if (!again && !command.mustBeEmpty && copiedSlots(table) > 0) {
    const { linkUp, syncInProgress } = await replicationNow(context, replica);
    if (linkUp !== true || syncInProgress === true) {
      throw new StaleEvidence(`${nameOf(replica)} is not in sync with whom it follows`);
    }
    await proveOtherCopy(context, replica, table, command.leaves);
  }
  await ask(context, replica, ['CLUSTER', 'REPLICATE', primary.id]);
  return done;
});
