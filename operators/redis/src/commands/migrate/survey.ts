/** Looks at every slot of a command before anything is changed: done, closed, half open, or not ours to touch. */
import type { MigrateSlots } from '../../api/commands.ts';
import {
  countSlots,
  formatSlots,
  intersectSlots,
  minusSlots,
  parseSlots,
  rangesOf,
  type SlotRanges,
  unionSlots,
} from '../../api/slots.ts';
import type { NodeId, NodeLine, NodeRef, OpenSlot } from '../../api/view.ts';
import type { RedisContext } from '../context.ts';
import { type NodeTable, nameOf, StaleEvidence, tableOf } from '../evidence.ts';

export interface Survey {
  readonly wanted: SlotRanges;
  /** The target owns them and nothing is open any more. */
  readonly done: SlotRanges;
  /** The target owns them, but the source has not heard of it or an open mark is left: only the last step is missing. */
  readonly unsettled: SlotRanges;
  /** The source owns them and they are open towards the target, on one side or on both. */
  readonly halfOpen: SlotRanges;
  /** The source owns them, nothing is open. */
  readonly closed: SlotRanges;
  /** Half open, but the target does not know that they belong to the source, and will not hear it by itself. */
  readonly notTold: SlotRanges;
  /** Marks of this move on a node that owned the slots before the source did: without the slots they mean nothing. */
  readonly leftBehind: readonly LeftBehind[];
  readonly source: NodeTable;
  readonly target: NodeTable;
}

export interface LeftBehind {
  readonly node: NodeRef;
  readonly slots: SlotRanges;
}

/** Throws StaleEvidence when a slot is in any state from which this command must not go on. */
export async function survey(command: MigrateSlots, context: RedisContext): Promise<Survey> {
  const wanted = parseSlots(command.slots);
  if (!wanted) throw new StaleEvidence(`“${command.slots}” is no list of slots`);
  const [source, target, others] = await Promise.all([
    tableOf(context, command.source),
    tableOf(context, command.target),
    Promise.all(command.others.map((node) => openStateOf(context, node))),
  ]);
  mustBePrimary(command.source, source.self);
  mustBePrimary(command.target, target.self);
  const formerly = command.formerly ?? [];
  const sides = [command.source.id, command.target.id, ...formerly];
  const leftBehind = others.map((other) => mustNotTouch(other, wanted, sides));
  mustBeOpenOnlyTowards(command.source, wanted, source.self.migrating, [command.target.id, ...formerly]);
  mustBeOpenOnlyTowards(command.target, wanted, target.self.importing, [command.source.id, ...formerly]);
  refuseOpen(command.source, wanted, source.self.importing);
  refuseOpen(command.target, wanted, target.self.migrating);
  return {
    wanted,
    source,
    target,
    leftBehind: leftBehind.filter(({ slots }) => countSlots(slots) > 0),
    ...sort(command, wanted, source, target),
  };
}

function sort(command: MigrateSlots, wanted: SlotRanges, source: NodeTable, target: NodeTable) {
  const ofSource = intersectSlots(wanted, source.self.slots);
  const ofTarget = intersectSlots(wanted, target.self.slots);
  const open = unionSlots(slotsIn(source.self.migrating), slotsIn(target.self.importing));
  const nobodys = minusSlots(wanted, unionSlots(ofSource, ofTarget));
  if (countSlots(nobodys) > 0) {
    throw new StaleEvidence(
      `neither ${nameOf(command.source)} nor ${nameOf(command.target)} owns slots ${formatSlots(nobodys)}`,
    );
  }
  const pending = minusSlots(ofSource, ofTarget);
  const heard = target.others.find((line) => line.id === command.source.id)?.slots ?? [];
  // A server takes no news of a slot that it is importing: after a failover of the source it never hears of the heir.
  const notTold = intersectSlots(minusSlots(pending, heard), slotsIn(target.self.importing));
  const unheard = minusSlots(minusSlots(pending, heard), notTold);
  if (countSlots(unheard) > 0) {
    throw new StaleEvidence(
      `${nameOf(command.target)} does not know that slots ${formatSlots(unheard)} belong to ${nameOf(command.source)}`,
    );
  }
  const unsettled = intersectSlots(ofTarget, unionSlots(ofSource, open));
  return {
    done: minusSlots(ofTarget, unsettled),
    unsettled,
    halfOpen: intersectSlots(pending, open),
    closed: minusSlots(pending, open),
    notTold,
  };
}

export function slotsIn(open: readonly OpenSlot[]): SlotRanges {
  return rangesOf(open.map(({ slot }) => slot));
}

/**
 * A bystander that cannot be read is no reason to stop: it can neither own the slots (the source says it does, with the
 * target) nor be told anything, and it learns the new owner from the target later.
 */
async function openStateOf(
  context: RedisContext,
  node: NodeRef,
): Promise<{ readonly node: NodeRef; readonly self?: NodeLine }> {
  try {
    return { node, self: (await tableOf(context, node)).self };
  } catch (error) {
    if (error instanceof StaleEvidence) throw error;
    return { node };
  }
}

function mustBePrimary(node: NodeRef, self: NodeLine): void {
  if (self.role !== 'primary') throw new StaleEvidence(`${nameOf(node)} is a replica`);
}

/**
 * What a bystander still has of this move. A source that died in the middle of it, and whose heir is the source now,
 * comes back with its marks; so does one whose target died when it had taken the slots. It owns none of the slots any
 * more (looked at first), so nobody is redirected by them.
 */
function mustNotTouch(
  { node, self }: { readonly node: NodeRef; readonly self?: NodeLine },
  wanted: SlotRanges,
  sides: readonly NodeId[],
): LeftBehind {
  if (!self) return { node, slots: [] };
  const claimed = intersectSlots(self.slots, wanted);
  if (countSlots(claimed) > 0) throw new StaleEvidence(`${nameOf(node)} claims slots ${formatSlots(claimed)}, too`);
  const isOfThisMove = ({ peer }: OpenSlot): boolean => sides.includes(peer);
  refuseOpen(node, wanted, [...self.migrating.filter((mark) => !isOfThisMove(mark)), ...self.importing]);
  return { node, slots: intersectSlots(slotsIn(self.migrating.filter(isOfThisMove)), wanted) };
}

function refuseOpen(node: NodeRef, wanted: SlotRanges, open: readonly OpenSlot[]): void {
  const touched = intersectSlots(slotsIn(open), wanted);
  if (countSlots(touched) === 0) return;
  throw new StaleEvidence(`slots ${formatSlots(touched)} are open on ${nameOf(node)} for another move`);
}

function mustBeOpenOnlyTowards(
  node: NodeRef,
  wanted: SlotRanges,
  open: readonly OpenSlot[],
  peers: readonly NodeId[],
): void {
  refuseOpen(
    node,
    wanted,
    open.filter((slot) => !peers.includes(slot.peer)),
  );
}
