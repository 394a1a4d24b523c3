/** What is known of each slot that is not as it should be: who claims it, who has it open, who holds keys of it. */
import { hasSlot, rangesOf, SLOT_COUNT, type SlotRanges, unionSlots } from '../api/slots.ts';
import type { ClusterView, NodeId, OpenSlot } from '../api/view.ts';
import { absentOwners, atomicJobs } from './moves-view.ts';
import { compareText, ownersBySlot, type ReportedNode, reported, reportedPrimaries } from './topology.ts';

export interface Mark {
  readonly node: NodeId;
  readonly peer: NodeId;
}

export interface SlotFacts {
  readonly slot: number;
  /** Primaries that say they own it. */
  readonly claimants: readonly NodeId[];
  /** Marks on primaries. */
  readonly migrating: readonly Mark[];
  readonly importing: readonly Mark[];
  /** Replicas that carry a mark of their primary, which has none any more. */
  readonly carriedBy: readonly { readonly replica: NodeId; readonly primary: NodeId }[];
  /** Primaries with keys of the slot, most keys first, then by id. */
  readonly holders: readonly { readonly node: NodeId; readonly keys: number }[];
}

export interface Damage {
  readonly slots: readonly SlotFacts[];
  /** Damaged slots whose keys were not counted on every primary that reports: nothing may be decided about them. */
  readonly uncounted: SlotRanges;
}

interface Marks {
  readonly migrating: Mark[];
  readonly importing: Mark[];
  readonly carriedBy: { replica: NodeId; primary: NodeId }[];
}

/**
 * All slots that need mending. Slots of nodes that cannot be read are left out unless those nodes are given up, and so
 * are slots that an atomic migration is moving: it ends or fails by itself.
 */
export function slotDamage(view: ClusterView, givenUp: readonly NodeId[]): Damage {
  const nodes = reportedPrimaries(view);
  const owners = ownersBySlot(view);
  const marks = collectMarks(view);
  const hands = unionSlots(
    ...[...absentOwners(view)].filter(([id]) => !givenUp.includes(id)).map(([, slots]) => slots),
  );
  const busy = unionSlots(hands, ...atomicJobs(view).map((job) => job.slots));
  const strays = straySlots(nodes, owners);
  const slots: SlotFacts[] = [];
  const uncounted: number[] = [];
  for (let slot = 0; slot < SLOT_COUNT; slot++) {
    const claimants = owners[slot] ?? [];
    const marked = marks.get(slot);
    if ((claimants.length === 1 && !marked && !strays.has(slot)) || hasSlot(busy, slot)) continue;
    if (nodes.some((node) => node.report.value.slotMeasures[slot] === undefined)) {
      uncounted.push(slot);
      continue;
    }
    const holders = nodes
      .map((node) => ({ node: node.id, keys: node.report.value.slotMeasures[slot]?.keys ?? 0 }))
      .filter(({ keys }) => keys > 0)
      .sort((a, b) => b.keys - a.keys || compareText(a.node, b.node));
    slots.push({
      slot,
      claimants,
      migrating: marked?.migrating ?? [],
      importing: marked?.importing ?? [],
      carriedBy: marked?.carriedBy ?? [],
      holders,
    });
  }
  return { slots, uncounted: rangesOf(uncounted) };
}

/** The slots to count keys in before anything about them is decided; strays are known only where keys were counted. */
export function damagedSlots(view: ClusterView): SlotRanges {
  // Nothing seen yet is not everything damaged.
  if (reportedPrimaries(view).length === 0) return [];
  const owners = ownersBySlot(view);
  const unclear = owners.flatMap((claimants, slot) => (claimants.length === 1 ? [] : [slot]));
  return rangesOf([...unclear, ...collectMarks(view).keys(), ...straySlots(reportedPrimaries(view), owners)]);
}

/**
 * Unless every primary that reports has proved that it holds no key beyond its slots and those it is importing. The
 * latter are marked, and counted for that.
 */
export function mayHaveStrays(view: ClusterView): boolean {
  return reportedPrimaries(view).some(({ report }) => {
    const { keysBeyondSlots } = report.value;
    return !keysBeyondSlots.known || keysBeyondSlots.value !== 0;
  });
}

function straySlots(nodes: readonly ReportedNode[], owners: readonly (readonly NodeId[])[]): ReadonlySet<number> {
  const strays = new Set<number>();
  for (const node of nodes) {
    const { slotMeasures } = node.report.value;
    for (const text in slotMeasures) {
      const slot = Number(text);
      if ((slotMeasures[slot]?.keys ?? 0) > 0 && !owners[slot]?.includes(node.id)) strays.add(slot);
    }
  }
  return strays;
}

function collectMarks(view: ClusterView): ReadonlyMap<number, Marks> {
  const bySlot = new Map<number, Marks>();
  const at = (slot: number): Marks => {
    const known = bySlot.get(slot) ?? { migrating: [], importing: [], carriedBy: [] };
    bySlot.set(slot, known);
    return known;
  };
  const nodes = reportedPrimaries(view);
  for (const node of nodes) {
    const { migrating, importing } = node.report.value.self;
    for (const { slot, peer } of migrating) at(slot).migrating.push({ node: node.id, peer });
    for (const { slot, peer } of importing) at(slot).importing.push({ node: node.id, peer });
  }
  for (const replica of reported(view)) {
    const { role, primaryId, migrating, importing } = replica.report.value.self;
    const primary = role === 'replica' ? nodes.find((node) => node.id === primaryId) : undefined;
    if (!primary) continue;
    const own = primary.report.value.self;
    const onPrimary = new Set([...own.migrating, ...own.importing].map((open: OpenSlot) => open.slot));
    for (const { slot } of [...migrating, ...importing]) {
      // What the primary has open, too, goes away with it: the primary passes on what it is told.
      if (!onPrimary.has(slot)) at(slot).carriedBy.push({ replica: replica.id, primary: primary.id });
    }
  }
  return bySlot;
}
