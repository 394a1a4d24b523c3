import { done, failed } from '@reeve/runtime';
import type { ClaimSlots } from '../api/commands.ts';
import {
  countSlots,
  formatSlots,
  intersectSlots,
  minusSlots,
  type SlotRanges,
  slotsOf,
  unionSlots,
} from '../api/slots.ts';
import type { NodeRef } from '../api/view.ts';
import type { RedisContext } from './context.ts';
import {
  ask,
  askAll,
  askTolerant,
  doneIf,
  epochsOf,
  handlerFor,
  type IsDone,
  namedSlots,
  nameOf,
  type NodeTable,
  openSlots,
  StaleEvidence,
  tableIfThere,
  tableOf,
} from './evidence.ts';

/** An epoch is heard of within half the cluster's node timeout: so long for the default of 15 s. */
const LOOK_AGAIN_MS = 200;
const MOST_LOOKS = 50;

function slotNumbers(slots: SlotRanges): string[] {
  return [...slotsOf(slots)].map(String);
}

/**
 * First the others give the slots up, then the owner takes them with a new epoch. The other way round a former
 * owner would learn of the higher epoch by gossip and delete its keys of the slot as those of a lost slot.
 */
async function release(context: RedisContext, from: NodeRef, table: NodeTable, slots: SlotRanges): Promise<void> {
  const claimed = intersectSlots(table.self.slots, slots);
  if (countSlots(claimed) > 0) await ask(context, from, ['CLUSTER', 'DELSLOTS', ...slotNumbers(claimed)]);
}

async function take(context: RedisContext, owner: NodeRef, table: NodeTable, slots: SlotRanges): Promise<void> {
  const missing = minusSlots(slots, table.self.slots);
  const held = unionSlots(...table.others.map((other) => intersectSlots(other.slots, missing)));
  const commands: string[][] = [];
  if (countSlots(held) > 0) commands.push(['CLUSTER', 'DELSLOTS', ...slotNumbers(held)]);
  if (countSlots(missing) > 0) commands.push(['CLUSTER', 'ADDSLOTS', ...slotNumbers(missing)]);
  commands.push(['CLUSTER', 'BUMPEPOCH']);
  await context.redis.transaction(owner.endpoint, commands);
  // Not inside: Valkey 9.1 with a replica does not survive a SETSLOT in a transaction.
  const open = new Set([...table.self.migrating, ...table.self.importing].map(({ slot }) => slot));
  const closing = [...slotsOf(slots)].filter((slot) => open.has(slot));
  await askAll(
    context,
    owner,
    closing.map((slot) => ['CLUSTER', 'SETSLOT', String(slot), 'STABLE']),
  );
}

/**
 * Until the owner's epoch is later than those of the nodes that gave the slots up: their replicas do not believe it
 * otherwise, and would claim the slots again when they are elected. It takes a later one only when it has heard of one.
 */
async function outrank(context: RedisContext, owner: NodeRef, rivals: readonly NodeTable[]): Promise<boolean> {
  const latest = Math.max(0, ...rivals.map(({ self }) => self.configEpoch));
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    if ((await epochsOf(context, owner)).own > latest) return true;
    await context.clock.sleep(LOOK_AGAIN_MS);
    await ask(context, owner, ['CLUSTER', 'BUMPEPOCH']);
  }
  return (await epochsOf(context, owner)).own > latest;
}

/** Whoever thinks otherwise is told. A node that is a replica by now refuses, and learns it from its primary. */
async function tell(context: RedisContext, node: NodeRef, owner: NodeRef, slots: SlotRanges): Promise<void> {
  const table = await tableOf(context, node);
  const line = table.others.find((other) => other.id === owner.id);
  const differing = minusSlots(slots, line?.slots ?? []);
  await askTolerant(
    context,
    node,
    slotNumbers(differing).map((slot) => ['CLUSTER', 'SETSLOT', slot, 'NODE', owner.id]),
    (error) =>
      error.message.includes('only with masters') ||
      error.message.includes('primaries') ||
      error.message.includes('Unknown node'),
  );
}

/** A node that the owner's table names and that was not asked (it joined since, or is dead) may be the rightful owner. */
async function proveNobodyElseClaims(
  context: RedisContext,
  table: NodeTable,
  asked: readonly NodeRef[],
  slots: SlotRanges,
): Promise<void> {
  for (const line of table.others) {
    if (countSlots(intersectSlots(line.slots, slots)) === 0 || asked.some(({ id }) => id === line.id)) continue;
    const stranger: NodeRef = { id: line.id, endpoint: { host: line.host, port: line.port } };
    const own = line.host === '' ? undefined : await tableIfThere(context, stranger);
    if (own && countSlots(intersectSlots(own.self.slots, slots)) > 0)
      throw new StaleEvidence(`${nameOf(stranger)} claims slots too`);
    const isSuspect = line.flags.some((flag) => flag === 'fail' || flag === 'fail?' || flag === 'noaddr');
    if (!own && !isSuspect && line.linkUp)
      throw new StaleEvidence(`${nameOf(stranger)} may claim slots; it cannot be read`);
  }
}

/** The owner has them and nothing is open, and whoever gave them up has, with an earlier epoch. */
const areClaimed: IsDone<ClaimSlots> = async (command, context) => {
  const slots = namedSlots(command.slots);
  const owner = await tableOf(context, command.owner);
  const rivals = await Promise.all(command.releaseFrom.map((node) => tableOf(context, node)));
  const isOpen = openSlots(owner);
  const areKept = countSlots(minusSlots(slots, owner.self.slots)) === 0;
  const areReleased = rivals.every(
    ({ self }) => countSlots(intersectSlots(self.slots, slots)) === 0 && self.configEpoch < owner.self.configEpoch,
  );
  return doneIf(areKept && areReleased && ![...slotsOf(slots)].some((slot) => isOpen.has(slot)));
};

export const claimSlotsHandler = handlerFor<ClaimSlots>('claim-slots', areClaimed, async (command, context) => {
  const { owner, releaseFrom, others } = command;
  const slots = namedSlots(command.slots);
  const everyone = [owner, ...releaseFrom, ...others];
  const tables = await Promise.all(everyone.map((node) => tableOf(context, node)));
  const [ownerTable] = tables as [NodeTable, ...NodeTable[]];
  if (ownerTable.self.role !== 'primary') throw new StaleEvidence(`${nameOf(owner)} is a replica`);
  for (const [index, other] of others.entries()) {
    const claimed = intersectSlots(tables[1 + releaseFrom.length + index]?.self.slots ?? [], slots);
    if (countSlots(claimed) > 0) throw new StaleEvidence(`${nameOf(other)} claims slots ${formatSlots(claimed)}`);
  }
  await proveNobodyElseClaims(context, ownerTable, everyone, slots);
  await Promise.all(releaseFrom.map((node, index) => release(context, node, tables[1 + index] as NodeTable, slots)));
  const rivals = releaseFrom.some(
    (_node, index) => countSlots(intersectSlots(tables[1 + index]?.self.slots ?? [], slots)) > 0,
  );
  const open = [...ownerTable.self.migrating, ...ownerTable.self.importing].some(
    ({ slot }) => countSlots(intersectSlots(slots, [[slot, slot]])) > 0,
  );
  if (rivals || open || countSlots(minusSlots(slots, ownerTable.self.slots)) > 0)
    await take(context, owner, ownerTable, slots);
  const rivalTables = tables.slice(1, 1 + releaseFrom.length);
  await Promise.all([...releaseFrom, ...others].map((node) => tell(context, node, owner, slots)));
  if (rivals && !(await outrank(context, owner, rivalTables)))
    return failed('EPOCH_NOT_HEARD', `${nameOf(owner)} has not heard of the config epochs of former owners`);
  // Read back: what a transaction answered is not what counts.
  const after = await tableOf(context, owner);
  const missing = minusSlots(slots, after.self.slots);
  if (countSlots(missing) > 0)
    return failed('SLOTS_NOT_KEPT', `${nameOf(owner)} did not keep slots ${formatSlots(missing)}`);
  await askAll(context, owner, [['CLUSTER', 'SAVECONFIG']]);
  return done;
});
