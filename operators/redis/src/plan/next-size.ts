/** Too many nodes, too few primaries, uneven replicas, slots, places: what is done when nothing is broken. Pure. */
import type { Waiting } from '@reeve/runtime';
import { countSlots } from '../api/slots.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import { placedMembers } from './check-placement.ts';
import type { DeleteNodeRequest } from './delete-node.ts';
import { candidatesFor } from './failover.ts';
import type { NextFacts, OperationWish, Wish } from './next.ts';
import { type Placed, placementScore } from './placement-score.ts';
import type { RebalanceRequest } from './rebalance.ts';
import { type Housed, isOld, rollingWaits, upgrades } from './rolling.ts';
import type { SpreadRequest } from './spread.ts';
import { isReported, loners, ownSlots, primaryIdOf, replicasByPrimary, reportedPrimaries, roleOf } from './topology.ts';

export function sizeProblems(facts: NextFacts, cluster: ClusterView, hasNewcomers: boolean): readonly Wish[] {
  const housed = housedPods(facts);
  const going = leaving(facts, cluster, housed);
  if (going.length > 0) return going;
  if (!isWhole(facts) || hasNewcomers) return [];
  return [
    ...wrongRoles(facts, cluster, housed),
    ...rebalances(facts, cluster),
    // Each failover of an upgrade may put primaries together; whoever spread them at once would undo it.
    ...(housed.some(isOld) ? upgrades(facts, cluster, housed) : spreads(facts)),
  ];
}

/** Why pods are not made anew; who is away is told elsewhere. */
export function oldPodsStand(facts: NextFacts, cluster: ClusterView): readonly Waiting[] {
  return isWhole(facts) ? rollingWaits(facts, cluster, housedPods(facts)) : [];
}

function isWhole({ members, desired }: NextFacts): boolean {
  return members.length >= desired.size && members.every(({ node }) => node);
}

function housedPods({ view, members }: NextFacts): readonly Housed[] {
  const alone = new Set<NodeId>(loners(view).map(({ id }) => id));
  return members.filter((pod): pod is Housed => pod.node !== undefined && !alone.has(pod.node.id));
}

function operation(kind: string, request: unknown, why: string, settleMs = 0): OperationWish {
  return { what: 'operation', kind, request, why, settleMs, needsApproval: false };
}

export function takeOut({ desired }: NextFacts, { name, node }: Housed, why: string): OperationWish {
  const request: DeleteNodeRequest = {
    id: node.id,
    engine: desired.engine,
    pace: desired.pace,
    drain: true,
    reset: true,
    spreadBy: desired.spreadBy,
  };
  return operation('delete-node', request, `${name} ${why}`);
}

/** Pods beyond the size: replicas first, then primaries, whose slots move to those who stay. */
function leaving(facts: NextFacts, cluster: ClusterView, housed: readonly Housed[]): readonly OperationWish[] {
  const { desired } = facts;
  const out = housed.filter(({ ordinal }) => ordinal >= desired.size);
  if (out.length === 0) return [];
  const staying = housed.filter(({ ordinal }) => ordinal < desired.size);
  const isPrimary = ({ node }: Housed) => roleOf(node) === 'primary';
  const replica = out.find((pod) => !isPrimary(pod));
  if (replica) return [takeOut(facts, replica, 'is beyond the size that is asked for, and leaves')];
  const primary = out.at(-1) as Housed;
  if (staying.filter(isPrimary).length >= desired.primaries) {
    return [takeOut(facts, primary, 'is beyond the size that is asked for: its slots move to others, and it leaves')];
  }
  // Too few primaries would be left. One of its replicas that stays takes over; without one, some replica becomes a primary first.
  const heir = candidatesFor(cluster, primary.node.id).find(({ id }) => staying.some(({ node }) => node.id === id));
  if (heir) {
    const why = `${primary.name} leaves, and one of its replicas that stays takes its place`;
    return [operation('failover', { id: heir.id, mode: 'graceful' }, why)];
  }
  const spare = spareReplica(cluster, staying);
  return spare ? [takeOut(facts, spare, 'is a replica to spare and becomes a primary')] : [];
}

/** A replica of the primary that has most of them. */
function spareReplica(cluster: ClusterView, housed: readonly Housed[]): Housed | undefined {
  const replicas = housed.filter(({ node }) => roleOf(node) === 'replica');
  const all = replicasByPrimary(cluster);
  const siblings = ({ node }: Housed) => all.get(primaryIdOf(node) ?? '')?.length ?? 0;
  return replicas.sort((a, b) => siblings(b) - siblings(a) || b.ordinal - a.ordinal)[0];
}

/** As many primaries as asked for, and as many replicas for each: who is in the wrong place leaves and comes back as something else. */
function wrongRoles(facts: NextFacts, cluster: ClusterView, housed: readonly Housed[]): readonly OperationWish[] {
  const { desired } = facts;
  const standing = housed.filter(({ node }) => roleOf(node) === 'primary');
  if (standing.length < desired.primaries) {
    const spare = spareReplica(cluster, housed);
    return spare ? [takeOut(facts, spare, 'is a replica to spare and becomes a primary')] : [];
  }
  if (standing.length > desired.primaries) {
    const least = [...standing].sort(
      (a, b) => countSlots(ownSlots(a.node)) - countSlots(ownSlots(b.node)) || b.ordinal - a.ordinal,
    )[0] as Housed;
    return [takeOut(facts, least, 'is a primary too many: its slots move to others, and it becomes a replica')];
  }
  // One without slots gets none: it is no voter, and has nothing that a replica could keep.
  const replicas = replicasByPrimary(cluster);
  const countOf = ({ node }: Housed) => replicas.get(node.id)?.length ?? 0;
  const short = standing.find((pod) => countSlots(ownSlots(pod.node)) > 0 && countOf(pod) < desired.replicasPerPrimary);
  // One that cannot be read is none to spare: it may be what the others are there for.
  const presentOf = ({ node }: Housed) => replicas.get(node.id)?.filter(isReported).length ?? 0;
  const rich = new Set(
    standing.filter((pod) => presentOf(pod) > desired.replicasPerPrimary).map(({ node }) => node.id),
  );
  const spares = housed.filter(({ node }) => rich.has(primaryIdOf(node) ?? ''));
  if (!short) return [];
  const spare = bestPlaced(spares, short, placedMembers(cluster), desired.spreadBy);
  return spare ? [takeOut(facts, spare, `is a replica too many where it is, and ${short.name} has too few`)] : [];
}

/** Of these replicas the one that shares least with the primary that it goes to, and leaves most behind. */
function bestPlaced(
  spares: readonly Housed[],
  { node: to }: Housed,
  placed: readonly Placed[],
  spreadBy: readonly string[],
): Housed | undefined {
  const scored = spares.map((pod) => {
    const moved = placed.map((one) => (one.id === pod.node.id ? { ...one, primaryId: to.id } : one));
    return { pod, score: placementScore(moved, spreadBy) };
  });
  return scored.sort((a, b) => a.score - b.score || b.pod.ordinal - a.pod.ordinal)[0]?.pod;
}

/** Slots for primaries that have none. */
export function fillEmpty(facts: NextFacts, cluster: ClusterView): readonly OperationWish[] {
  const isEmpty = reportedPrimaries(cluster).some((node) => countSlots(ownSlots(node)) === 0);
  return isEmpty ? rebalances(facts, cluster) : [];
}

/** Only how many slots each has: what keys and bytes weigh costs a look at all of them, and is for a task. */
export function rebalances({ desired, findings }: NextFacts, cluster: ClusterView): readonly OperationWish[] {
  const { mode, threshold } = desired.rebalance;
  if (mode === 'off' || findings.some(({ severity }) => severity === 'broken')) return [];
  const counts = reportedPrimaries(cluster).map((node) => countSlots(ownSlots(node)));
  const share = counts.reduce((sum, count) => sum + count, 0) / Math.max(1, counts.length);
  const furthest = Math.max(0, ...counts.map((count) => Math.abs(count - share)));
  if (counts.length === 0 || furthest <= Math.max(1, (share * threshold) / 100)) return [];
  const request: RebalanceRequest = {
    by: 'slots',
    weights: {},
    threshold,
    useEmpty: true,
    engine: desired.engine,
    pace: desired.pace,
  };
  const why = `a primary is ${Math.round((furthest / Math.max(1, share)) * 100)} percent away from its share of the slots`;
  return [operation('rebalance', request, why, 3_000)];
}

export function spreads({ desired, findings, chosen = [] }: NextFacts): readonly OperationWish[] {
  const placement = findings.find(({ code, severity }) => code === 'PLACEMENT' && severity !== 'info');
  if (!placement || desired.rebalance.mode === 'off') return [];
  const keep = chosen.length > 0 && { keep: chosen };
  const request: SpreadRequest = { spreadBy: desired.spreadBy, moveReplicas: true, ...keep };
  return [operation('spread', request, placement.message, 10_000)];
}
