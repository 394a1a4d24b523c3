/** Who is to own a slot that several nodes claim, or nobody. */
import { countSlots } from '../api/slots.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import type { SlotAction, SlotDecision } from './fix-actions.ts';
import type { SlotFacts } from './fix-facts.ts';
import { compareText, nodeName, ownSlots, type ReportedNode, reportedPrimaries } from './topology.ts';

/**
 * Several claim it: the one with most keys of it keeps it, so that fewest move; with equally many the one with the
 * newer configuration, because that is how the servers would settle it; then by id. The others give it up first: a
 * server that learns of a newer owner by gossip deletes the keys it has of the slot.
 */
export function settleSeveral(view: ClusterView, facts: SlotFacts): SlotAction {
  const epochs = new Map(reportedPrimaries(view).map((node) => [node.id, node.report.value.self.configEpoch]));
  const keys = new Map(facts.holders.map(({ node, keys: count }) => [node, count]));
  const [owner, ...rest] = [...facts.claimants].sort(
    (a, b) =>
      (keys.get(b) ?? 0) - (keys.get(a) ?? 0) || (epochs.get(b) ?? 0) - (epochs.get(a) ?? 0) || compareText(a, b),
  ) as [NodeId, ...NodeId[]];
  const held = keys.get(owner) ?? 0;
  const reason = held > 0 ? 'has most of its keys' : 'has the newest configuration';
  return {
    kind: 'claim',
    owner,
    releaseFrom: rest,
    why: `${facts.claimants.length} nodes claim it: ${nodeName(view, owner)} ${reason}, the others give it up`,
  };
}

/** Nobody owns it, but somebody holds keys of it: the one with most of them, ties by id. */
export function claimByKeys(view: ClusterView, facts: SlotFacts, owner: NodeId): SlotAction {
  const why =
    facts.holders.length === 1
      ? `nobody owns it, and only ${nodeName(view, owner)} holds keys of it`
      : `nobody owns it, and of ${facts.holders.length} nodes with keys of it ${nodeName(view, owner)} has most`;
  return { kind: 'claim', owner, releaseFrom: [], why };
}

/**
 * Nobody owns them and nobody holds keys of them: each goes to the primary with fewest slots, of those to the one with
 * most free memory, of those to the lowest id. Who gets how many is counted slot by slot; which ones is dealt in runs,
 * so that the slot map stays short.
 */
export function claimEmpty(view: ClusterView, slots: readonly number[]): readonly SlotDecision[] {
  const takers = reportedPrimaries(view).map((node) => ({
    id: node.id,
    count: countSlots(ownSlots(node)),
    free: freeBytes(node),
    quota: 0,
  }));
  if (takers.length === 0) return [];
  const order: typeof takers = [];
  for (const _slot of slots) {
    const next = takers.reduce(better);
    if (next.quota === 0) order.push(next);
    next.quota++;
    next.count++;
  }
  const sorted = [...slots].sort((a, b) => a - b);
  const decisions: SlotDecision[] = [];
  for (const taker of order) {
    const why = `nobody owns them and nobody holds keys of them: ${nodeName(view, taker.id)} has fewest slots, then most free memory`;
    const action: SlotAction = { kind: 'claim', owner: taker.id, releaseFrom: [], why };
    for (const slot of sorted.splice(0, taker.quota)) decisions.push({ slot, action });
  }
  return decisions;
}

interface Taker {
  readonly id: NodeId;
  readonly count: number;
  readonly free: number;
}

function better<T extends Taker>(a: T, b: T): T {
  const order = a.count - b.count || b.free - a.free || compareText(a.id, b.id);
  return order <= 0 ? a : b;
}

/** Up to its limit, or to the memory of the machine; with neither known the one that uses least counts as freest. */
function freeBytes(node: ReportedNode): number {
  const { maxBytes, systemBytes, usedBytes } = node.report.value.memory;
  return (maxBytes || systemBytes) - usedBytes;
}
