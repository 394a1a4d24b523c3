/** Too many nodes, too few primaries, uneven replicas, slots, places, old pods: what is done when nothing is broken. Pure. */
import type { Finding } from '../api/findings.ts';
import { countSlots } from '../api/slots.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import { isClean } from './check.ts';
import type { DeleteNodeRequest } from './delete-node.ts';
import { candidatesFor, isInSync } from './failover.ts';
import { isFailed } from './moves-view.ts';
import type { NextFacts, OperationWish, RestartWish, Wish } from './next.ts';
import type { PodMember } from './pods.ts';
import type { RebalanceRequest } from './rebalance.ts';
import type { SpreadRequest } from './spread.ts';
import { loners, ownSlots, primaryIdOf, replicasByPrimary, replicasOf, reportedPrimaries, roleOf } from './topology.ts';

const RESTART_MS = 3_000;
/** Who comes back by itself does so within this time. */
const LATE_MS = 20_000;

type Housed = PodMember & { readonly node: NonNullable<PodMember['node']> };

export function sizeProblems(facts: NextFacts, cluster: ClusterView, hasNewcomers: boolean): readonly Wish[] {
  const alone = new Set<NodeId>(loners(facts.view).map(({ id }) => id));
  const housed = facts.members.filter((pod): pod is Housed => pod.node !== undefined && !alone.has(pod.node.id));
  const going = leaving(facts, cluster, housed);
  if (going.length > 0) return going;
  const isWhole = facts.members.length >= facts.desired.size && facts.members.every(({ node }) => node);
  if (!isWhole || hasNewcomers) return [];
  return [
    ...wrongRoles(facts, cluster, housed),
    ...rebalances(facts, cluster),
    // Each failover of an upgrade may put primaries together; whoever spread them at once would undo it.
    ...(housed.some(isOld) ? upgrades(facts, cluster, housed) : spreads(facts)),
  ];
}

function isOld({ isCurrent, isDeleting }: PodMember): boolean {
  return !isCurrent && !isDeleting;
}

function operation(kind: string, request: unknown, why: string, settleMs = 0): OperationWish {
  return { what: 'operation', kind, request, why, settleMs, needsApproval: false };
}

function takeOut({ desired }: NextFacts, { name, node }: Housed, why: string): OperationWish {
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
  const rich = standing.find((pod) => countOf(pod) > desired.replicasPerPrimary);
  if (!short || !rich) return [];
  const spare = spareReplica(cluster, housed);
  return spare ? [takeOut(facts, spare, `is a replica too many where it is, and ${short.name} has too few`)] : [];
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
  const request: SpreadRequest = { spreadBy: desired.spreadBy, ...(chosen.length > 0 && { keep: chosen }) };
  return [operation('spread', request, placement.message, 10_000)];
}

/** Pods of an old kind, one after the other: replicas; of a primary first its place goes to a new replica of its. */
function upgrades(
  { desired, members: pods, findings }: NextFacts,
  cluster: ClusterView,
  housed: readonly Housed[],
): readonly Wish[] {
  const old = housed.filter(isOld);
  // One at a time, and the next one when everything is well again.
  const late = old.find((pod) => isLeftBehind(pod, housed));
  const isHarmless = ({ code, nodes }: Finding) =>
    code === 'PLACEMENT' || (code === 'REPLICA_LINK_DOWN' && nodes[0] === late?.node.id);
  const isWell = isClean(findings.filter((finding) => !isHarmless(finding)));
  if (!isWell || !pods.every(({ isReady, isDeleting }) => isReady && !isDeleting)) return [];
  if (late) return [restart(late, 'does not get in step with its new primary, and may once it is new, too', LATE_MS)];
  const replica = old.filter(({ node }) => roleOf(node) === 'replica').at(-1);
  if (replica) return [restart(replica, 'is made anew from what is asked for now')];
  const primary = old.at(-1) as Housed;
  const heir = candidatesFor(cluster, primary.node.id).find(
    (node) => isInSync(node) && housed.some((pod) => pod.node.id === node.id && pod.isCurrent),
  );
  if (heir) {
    const why = `${primary.name} is to be made anew: one of its new replicas takes over first`;
    return [operation('failover', { id: heir.id, mode: 'graceful' }, why)];
  }
  // It has none, because none was asked for: its slots are not served until it is back. Without a volume its data would be gone.
  return replicasOf(cluster, primary.node.id).length === 0 && desired.storage
    ? [restart(primary, 'is made anew from what is asked for now; nobody can stand in for it meanwhile')]
    : [];
}

/**
 * An old replica of a new primary that is out of step. A server may not read what a newer one writes: it would try for ever, and be what
 * everybody waits for. Nobody misses it: it has not what its primary has, and begins anew in any case.
 */
function isLeftBehind({ node }: Housed, housed: readonly Housed[]): boolean {
  if (roleOf(node) !== 'replica' || node.report.value.replication.linkUp === true) return false;
  const primary = housed.find((pod) => pod.node.id === primaryIdOf(node));
  return primary?.isCurrent === true && roleOf(primary.node) === 'primary' && !isFailed(primary.node);
}

function restart(pod: PodMember, why: string, settleMs = RESTART_MS): RestartWish {
  return { what: 'restart', pod, why: `${pod.name} ${why}`, settleMs };
}
