/** What of a move goal is not true yet, read from one view. */
import type { Waiting } from '@reeve/runtime';
import {
  countSlots,
  hasSlot,
  intersectSlots,
  minusSlots,
  rangesOf,
  type SlotRanges,
  unionSlots,
} from '../api/slots.ts';
import type { ClusterView, NodeId, NodeRef, OpenSlot } from '../api/view.ts';
import type { MoveGoal, SlotMove } from './moves-goal.ts';
import { absentOwners, type Claimant, claimants, slotsFromText, unawareOf } from './moves-view.ts';
import { nodeName, nodeOf, type ReportedNode, refOf, reportedPrimaries, roleOf } from './topology.ts';

export interface MovePair {
  readonly source: NodeRef;
  readonly target: NodeRef;
  readonly slots: SlotRanges;
  /** Ids before a failover that open marks of these slots still name. */
  readonly formerly: readonly NodeId[];
  readonly why: string;
}

export interface RemainingWork {
  readonly pairs: readonly MovePair[];
  /** Slots of the goal that a node owns which has nothing to do with the goal. */
  readonly overtaken: ReadonlyMap<NodeId, SlotRanges>;
  /** Targets that follow the node from which they should get slots. */
  readonly swapped: ReadonlyMap<NodeId, NodeId>;
  /** Open slots that are no half-finished moves of the goal, by the node that has them open. */
  readonly foreignOpen: ReadonlyMap<NodeId, SlotRanges>;
  readonly unavailable: readonly Waiting[];
  /** Slots of the goal that nobody claims, reporting or not. */
  readonly ownerless: SlotRanges;
  /** Slots that arrived, but not everybody has heard of it. */
  readonly unsettled: SlotRanges;
  readonly disagreeing: readonly NodeId[];
}

/** One move with the nodes that stand for its two sides now. */
interface Side {
  readonly ids: ReadonlySet<NodeId>;
  readonly now: ReportedNode | undefined;
}

class Work {
  readonly pairs = new Map<string, MovePair>();
  readonly overtaken = new Map<NodeId, SlotRanges>();
  readonly swapped = new Map<NodeId, NodeId>();
  readonly unavailable: Waiting[] = [];
  ownerless: SlotRanges = [];
  unsettled: SlotRanges = [];
  readonly disagreeing = new Set<NodeId>();

  addPair(source: ReportedNode, target: ReportedNode, slots: SlotRanges, sides: readonly Side[], why: string): void {
    if (countSlots(slots) === 0) return;
    const name = `${source.id} ${target.id}`;
    const before = this.pairs.get(name);
    const marks = [...source.report.value.self.migrating, ...target.report.value.self.importing];
    const peers = marks.filter((mark) => hasSlot(slots, mark.slot)).map((mark) => mark.peer);
    const formerly = peers.filter(
      (peer) => peer !== source.id && peer !== target.id && sides.some((side) => side.ids.has(peer)),
    );
    this.pairs.set(name, {
      source: refOf(source),
      target: refOf(target),
      slots: unionSlots(before?.slots ?? [], slots),
      formerly: [...new Set([...(before?.formerly ?? []), ...formerly])].sort(),
      why: before?.why ?? why,
    });
  }
}

export function remainingWork(goal: MoveGoal, view: ClusterView): RemainingWork {
  const work = new Work();
  const absent = unionSlots(...absentOwners(view).values());
  for (const move of goal.moves) judgeMove(goal, move, view, absent, work);
  const foreignOpen = foreignOpenSlots(goal, view);
  return {
    pairs: [...work.pairs.values()],
    overtaken: work.overtaken,
    swapped: work.swapped,
    foreignOpen,
    unavailable: work.unavailable,
    ownerless: work.ownerless,
    unsettled: work.unsettled,
    disagreeing: [...work.disagreeing].sort(),
  };
}

function judgeMove(goal: MoveGoal, move: SlotMove, view: ClusterView, absent: SlotRanges, work: Work): void {
  const slots = slotsFromText(move.slots);
  const source = sideOf(goal, view, move.source);
  const target = sideOf(goal, view, move.target);
  const claims = claimants(view, slots);
  const revenant = mayReturn(goal, view, source, target, slots);
  const ofTarget = claims.find((claim) => claim.node.id === target.now?.id)?.slots ?? [];
  let pending: SlotRanges = [];
  for (const claim of claims) {
    if (claim.node.id === target.now?.id) continue;
    if (!source.ids.has(claim.node.id) && !target.ids.has(claim.node.id)) {
      work.overtaken.set(claim.node.id, unionSlots(work.overtaken.get(claim.node.id) ?? [], claim.slots));
      continue;
    }
    pending = unionSlots(pending, claim.slots);
    if (!target.now || revenant !== undefined) continue;
    if (target.ids.has(claim.node.id)) {
      // A target that died after it took slots of which its replica had not heard comes back with just these.
      const why = `${nodeName(view, target.now.id)} took over from ${nodeName(view, claim.node.id)}, which kept these slots`;
      work.addPair(claim.node, target.now, claim.slots, [source, target], why);
      continue;
    }
    const halves = finishToFormer(view, claim, source, target, work);
    work.addPair(
      claim.node,
      target.now,
      minusSlots(claim.slots, halves),
      [source, target],
      whyMove(view, move, claim.node),
    );
  }
  const arrived = minusSlots(ofTarget, pending);
  finishOpen(view, source, target, arrived, work);
  const claimed = unionSlots(...claims.map((claim) => claim.slots));
  work.ownerless = unionSlots(work.ownerless, minusSlots(minusSlots(slots, claimed), absent));
  if (revenant !== undefined && countSlots(pending) > 0) {
    work.unavailable.push({
      reason: 'TargetMayReturn',
      message: `${nodeName(view, revenant)} was failed over as the target of this move, cannot be read, and may come back with its part in it: start it again, or delete it with del-node if it is gone for good`,
      subjects: [revenant],
    });
  }
  // A source that gave its last slot away follows the target, and may be elected when that dies, with all its slots. The
  // target comes back as its replica and stays one.
  const followed = target.now ? undefined : followedBy(view, move.target);
  if (followed !== undefined && followed === source.now?.id && countSlots(pending) > 0) {
    work.swapped.set(move.target, followed);
  }
  if (!target.now && countSlots(minusSlots(slots, arrived)) > 0) {
    work.unavailable.push({
      reason: 'TargetUnavailable',
      message: `${nodeName(view, move.target)}, to which ${countSlots(slots)} slots must go, cannot be read or is no primary`,
      subjects: [move.target],
    });
  }
  if (target.now) {
    for (const id of unawareOf(view, target.now.id, arrived)) {
      work.disagreeing.add(id);
      work.unsettled = unionSlots(work.unsettled, arrived);
    }
  }
}

function followedBy(view: ClusterView, id: NodeId): NodeId | undefined {
  const node = nodeOf(view, id);
  const self = node?.report.known ? node.report.value.self : undefined;
  return self?.role === 'replica' ? self.primaryId : undefined;
}

/**
 * A target that died in the middle of a windowed move, was failed over, and cannot be read: it is still away, or just
 * coming back (then nobody calls it failed any more). It holds importing marks that nobody can read. If it hears that the
 * source gave the slots up to its heir, Valkey makes it their owner with a new epoch: it beats its heir and takes back all
 * that the heir has, with old data. While the source keeps the slots it comes back as a replica.
 */
function mayReturn(
  goal: MoveGoal,
  view: ClusterView,
  source: Side,
  target: Side,
  slots: SlotRanges,
): NodeId | undefined {
  const open = (marks: readonly OpenSlot[] = []) => marks.filter(({ slot }) => hasSlot(slots, slot));
  const migrating = open(source.now?.report.value.self.migrating);
  // Since Valkey 8 a replica has the marks of its primary, and the heir of the dead target was one.
  const inherited = open(target.now?.report.value.self.importing).some(({ peer }) => source.ids.has(peer));
  return [...target.ids].find((id) => {
    const node = nodeOf(view, id);
    if (!node || node.id === target.now?.id || node.report.known || roleOf(node) !== 'primary') return false;
    return goal.engine === 'windowed' || inherited || migrating.some(({ peer }) => peer === id);
  });
}

function whyMove(view: ClusterView, move: SlotMove, source: ReportedNode): string {
  const standsIn = source.id === move.source ? '' : `, which took over for ${nodeName(view, move.source)},`;
  return `the goal wants these slots of ${nodeName(view, source.id)}${standsIn} on ${nodeName(view, move.target)}`;
}

/**
 * Slots that are where they should be but still open. Open in the direction of the move: its last step is missing.
 * Open in the other direction (a move is being taken back): some keys are over there already, so the half-moved slot is
 * moved over as a whole first and comes back whole. Taken back halfway, keys would be invisible for a while.
 */
function finishOpen(view: ClusterView, source: Side, target: Side, arrived: SlotRanges, work: Work): void {
  if (!target.now) return;
  finishFormer(view, source, target.now, target.ids, arrived, work);
  if (!source.now) return;
  const { self: from } = source.now.report.value;
  const { self: to } = target.now.report.value;
  const forward = unionSlots(slotsTo(from.migrating, target.ids), slotsTo(to.importing, source.ids));
  const backward = unionSlots(slotsTo(to.migrating, source.ids), slotsTo(from.importing, target.ids));
  const name = nodeName(view, target.now.id);
  work.addPair(
    source.now,
    target.now,
    minusSlots(intersectSlots(forward, arrived), backward),
    [source, target],
    `the last step of moving these slots to ${name} is missing`,
  );
  work.addPair(
    target.now,
    source.now,
    intersectSlots(backward, arrived),
    [source, target],
    `these slots are half moved away from ${name}: they are finished first, then taken back whole`,
  );
}

/**
 * A source that died and was failed over may come back as a primary without slots (it lost them to more than one node),
 * with its marks: the last step of the move ends them, as it would have if it had lived.
 */
function finishFormer(
  view: ClusterView,
  source: Side,
  target: ReportedNode,
  targets: ReadonlySet<NodeId>,
  arrived: SlotRanges,
  work: Work,
): void {
  for (const former of reportedPrimaries(view)) {
    if (!source.ids.has(former.id) || former.id === source.now?.id) continue;
    const slots = intersectSlots(slotsTo(former.report.value.self.migrating, targets), arrived);
    const why = `${nodeName(view, former.id)}, which came back, still has these slots open towards ${nodeName(view, target.id)}`;
    work.addPair(former, target, slots, [source], why);
  }
}

/**
 * A target that died in the middle of a move and was failed over may come back as a primary, too (Redis: its heir has got
 * more slots than it had), and is importing still. Clients are sent to it, and keys may be nowhere else: what is half
 * moved is finished there, and goes on to the heir as what it kept. Returns these slots.
 */
function finishToFormer(view: ClusterView, claim: Claimant, source: Side, target: Side, work: Work): SlotRanges {
  let halves: SlotRanges = [];
  for (const former of reportedPrimaries(view)) {
    if (!target.ids.has(former.id) || former.id === target.now?.id) continue;
    const slots = intersectSlots(slotsTo(former.report.value.self.importing, new Set([claim.node.id])), claim.slots);
    const why = `these slots are half moved to ${nodeName(view, former.id)}, which came back: they are finished first, then go on`;
    work.addPair(claim.node, former, minusSlots(slots, halves), [source, target], why);
    halves = unionSlots(halves, slots);
  }
  return halves;
}

function slotsTo(open: readonly OpenSlot[], peers: ReadonlySet<NodeId>): SlotRanges {
  return rangesOf(open.filter(({ peer }) => peers.has(peer)).map(({ slot }) => slot));
}

/** A node of the goal and whoever may stand in for it: replicas it had, or the primary that it follows now. */
function sideOf(goal: MoveGoal, view: ClusterView, id: NodeId): Side {
  const inGoal = new Set(goal.moves.flatMap((move) => [move.source, move.target]));
  const heirs = [...(goal.standIns?.[id] ?? [])];
  // A drained primary may follow the node that got its last slot: that is no heir but another side of the goal.
  const followed = followedBy(view, id);
  if (followed !== undefined) heirs.push(followed);
  const ids = new Set([id, ...heirs.filter((heir) => !inGoal.has(heir))]);
  const candidates = reportedPrimaries(view).filter((primary) => ids.has(primary.id));
  // After a failover both may be primaries for a while: the one with most slots stands for the shard, then the old one.
  const rank = (candidate: ReportedNode): number =>
    countSlots(candidate.report.value.self.slots) + (candidate.id === id ? 0.5 : 0);
  const [now] = [...candidates].sort((a, b) => rank(b) - rank(a));
  return { ids, now };
}

function foreignOpenSlots(goal: MoveGoal, view: ClusterView): ReadonlyMap<NodeId, SlotRanges> {
  const sides = goal.moves.map((move) => ({
    slots: slotsFromText(move.slots),
    source: sideOf(goal, view, move.source).ids,
    target: sideOf(goal, view, move.target).ids,
  }));
  const isOurs = (node: NodeId, open: OpenSlot): boolean =>
    sides.some(
      ({ slots, source, target }) =>
        hasSlot(slots, open.slot) &&
        ((source.has(node) && target.has(open.peer)) || (target.has(node) && source.has(open.peer))),
    );
  const foreign = new Map<NodeId, SlotRanges>();
  for (const node of reportedPrimaries(view)) {
    const { migrating, importing } = node.report.value.self;
    const strange = [...migrating, ...importing].filter((open) => !isOurs(node.id, open)).map((open) => open.slot);
    if (strange.length > 0) foreign.set(node.id, rangesOf(strange));
  }
  return foreign;
}
