/** The live proof that a replica is not the only copy of its shard, right before something empties it. */
import { countSlots } from '../api/slots.ts';
import type { NodeRef } from '../api/view.ts';
import type { RedisContext } from './context.ts';
import { nameOf, type NodeTable, StaleEvidence, tableIfThere } from './evidence.ts';

/** How many slots whom it follows owns in its eyes: what it is a copy of. */
export function copiedSlots({ self, others }: NodeTable): number {
  if (self.role !== 'replica') return 0;
  return countSlots(others.find(({ id }) => id === self.primaryId)?.slots ?? []);
}

/**
 * The primary answers, is the one that it follows, leads and owns slots; and the replica does not take it for failed.
 * @param primary whom the plan saw it follow, and where; undefined: nobody that was there
 */
export async function proveOtherCopy(
  context: RedisContext,
  replica: NodeRef,
  table: NodeTable,
  primary: NodeRef | undefined,
): Promise<void> {
  const copied = copiedSlots(table);
  if (copied === 0) return;
  const { primaryId = '' } = table.self;
  if (primary?.id !== primaryId) {
    const message = `${nameOf(replica)} follows ${primaryId.slice(0, 8)} and may be the only copy of its ${copied} slots`;
    throw new StaleEvidence(message);
  }
  const line = table.others.find(({ id }) => id === primaryId);
  if (line?.flags.some((flag) => flag.startsWith('fail'))) {
    throw new StaleEvidence(`${nameOf(replica)} takes ${nameOf(primary)} for failed, and may have to take over`);
  }
  const own = await tableIfThere(context, primary);
  if (!own) throw new StaleEvidence(`${nameOf(primary)} does not answer: ${nameOf(replica)} may be the only copy`);
  if (own.self.role !== 'primary' || countSlots(own.self.slots) === 0) {
    throw new StaleEvidence(`${nameOf(primary)} owns no slots any more, and ${nameOf(replica)} has not heard of it`);
  }
}
