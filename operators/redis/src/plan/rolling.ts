/**
 * Pods of an old kind, made anew one after the other: replicas; of a primary first its place goes to a replica of its. Pods of the new kind
 * must be well before the next one follows; an old one that is not is what the new kind may mend. Pure.
 */
import type { Waiting } from '@reeve/runtime';
import type { Finding } from '../api/findings.ts';
import type { ClusterView } from '../api/view.ts';
import { isClean } from './check.ts';
import { candidatesFor, isInSync } from './failover.ts';
import { isFailed } from './moves-view.ts';
import type { NextFacts, OperationWish, RestartWish, Wish } from './next.ts';
import type { PodMember } from './pods.ts';
import { primaryIdOf, type ReportedNode, replicasOf, roleOf } from './topology.ts';

const RESTART_MS = 3_000;
/** Who comes back by itself does so within this time. */
const LATE_MS = 20_000;
/** A probe may fail now and then: a primary must not have served for so long before its place is given to an old replica. */
const AILING_MS = 8_000;

/** Nobody can stand in for a primary, and it keeps nothing. */
export const LOSES_DATA =
  'there are neither replicas nor volumes: a pod that is made anew would come back without its keys';

/** A pod whose server answers. */
export type Housed = PodMember & { readonly node: ReportedNode };

export function isOld({ isCurrent, isDeleting }: PodMember): boolean {
  return !isCurrent && !isDeleting;
}

/** Between two of them nothing may be under way: that more are to follow must be seen all the same. */
export function oldPodsWait(pods: readonly PodMember[]): readonly Waiting[] {
  const old = pods.filter(({ isCurrent }) => !isCurrent);
  if (old.length === 0) return [];
  const message = `${old.length} of ${pods.length} pods are made from what was asked for before, and follow one by one: ${namesOf(old)}`;
  return [wait('PodsOld', message, old)];
}

/** Why no old pod is made anew, where none is. */
export function rollingWaits(facts: NextFacts, cluster: ClusterView, housed: readonly Housed[]): readonly Waiting[] {
  return housed.some(isOld) ? rolling(facts, cluster, housed).waitingFor : [];
}

/** Its server can be talked to, whatever becomes of the agent beside it. */
function isServed({ isReady, isServing }: PodMember): boolean {
  return isReady || isServing === true;
}

/** Either what comes next, or why nothing does. */
interface Rolling {
  readonly wishes: readonly Wish[];
  readonly waitingFor: readonly Waiting[];
}

export function upgrades(facts: NextFacts, cluster: ClusterView, housed: readonly Housed[]): readonly Wish[] {
  return rolling(facts, cluster, housed).wishes;
}

function rolling(
  { desired, members: pods, findings, isImageHeld = false }: NextFacts,
  cluster: ClusterView,
  housed: readonly Housed[],
): Rolling {
  // What they would be made from is not what is asked for, and that is said.
  if (isImageHeld) return stand();
  // One at a time, and the next one when everything is well again.
  const old = housed.filter(isOld);
  const late = old.filter((pod) => isLeftBehind(pod, housed));
  // Several may be late at once: a machine had more than one primary, or a primary more than one replica.
  const isOfLate = ({ nodes: [id] }: Finding) => late.some(({ node }) => node.id === id);
  const isHarmless = (finding: Finding) =>
    finding.code === 'PLACEMENT' || (finding.code === 'REPLICA_LINK_DOWN' && isOfLate(finding));
  const amiss = findings.find((finding) => !isHarmless(finding) && !isClean([finding]));
  if (amiss) return stand(uncleanWait(amiss));
  if (pods.some(({ isDeleting }) => isDeleting)) return stand();
  const unready = pods.filter((pod) => pod.isCurrent && !pod.isReady);
  if (unready.length > 0) return stand(unreadyWait(unready));
  if (late[0])
    return take(restart(late[0], 'does not get in step with its new primary, and may once it is new, too', LATE_MS));
  const ailing = old.filter((pod) => !isServed(pod));
  // While one is away, none that serves is taken beside it.
  const due = ailing.length > 0 ? ailing : old;
  const replica = due
    .filter((pod) => roleOf(pod.node) === 'replica' && hasStandIn(pod, housed))
    .sort((a, b) => Number(a.isReady) - Number(b.isReady) || b.ordinal - a.ordinal)[0];
  if (replica) return take(restart(replica, 'is made anew from what is asked for now'));
  const primaries = due.filter(({ node }) => roleOf(node) === 'primary').reverse();
  for (const primary of primaries) {
    const step = handOver(primary, cluster, housed) ?? (desired.storage && restartAlone(primary, cluster));
    if (step) return take(step);
  }
  const isAlone = ({ node }: Housed) => roleOf(node) === 'primary' && replicasOf(cluster, node.id).length === 0;
  return stand(!desired.storage && due.every(isAlone) ? losesDataWait(due) : noStandInWait(due));
}

function take(wish: Wish): Rolling {
  return { wishes: [wish], waitingFor: [] };
}

function stand(...waitingFor: readonly Waiting[]): Rolling {
  return { wishes: [], waitingFor };
}

function uncleanWait({ message, nodes }: Finding): Waiting {
  const why = `no pod is made anew before the check is clean: ${message}`;
  return { reason: 'CheckNotClean', message: why, subjects: nodes.slice(0, 16) };
}

function unreadyWait(pods: readonly PodMember[]): Waiting {
  const message = `new pods are not ready, and old ones are made anew when they are: ${namesOf(pods)}`;
  return wait('PodNotReady', message, pods);
}

function losesDataWait(pods: readonly PodMember[]): Waiting {
  return wait('UpgradeLosesData', `${LOSES_DATA} (${namesOf(pods)}): set replicasPerPrimary to 1 first`, pods);
}

function noStandInWait(pods: readonly PodMember[]): Waiting {
  const message = `no other server of their shards serves, has all data and may take over for now: ${namesOf(pods)}`;
  return wait('NoStandIn', message, pods);
}

function wait(reason: string, message: string, pods: readonly PodMember[]): Waiting {
  return { reason, message, subjects: pods.slice(0, 16).map(({ name }) => name) };
}

function namesOf(pods: readonly PodMember[]): string {
  const names = pods.slice(0, 5).map(({ name }) => name);
  return `${names.join(', ')}${pods.length > 5 ? ` and ${pods.length - 5} more` : ''}`;
}

/** Whether somebody else of its shard has its data and serves: the last one is never taken. */
function hasStandIn({ node }: Housed, housed: readonly Housed[]): boolean {
  const primary = primaryIdOf(node);
  const isOfShard = (other: ReportedNode) =>
    other.id === primary || (primaryIdOf(other) === primary && isInSync(other));
  return housed.some((other) => other.node.id !== node.id && isServed(other) && isOfShard(other.node));
}

/** To a replica of the new kind; from a primary that does not serve also to one that will have to follow itself. */
function handOver(primary: Housed, cluster: ClusterView, housed: readonly Housed[]): OperationWish | undefined {
  const heirs = candidatesFor(cluster, primary.node.id).filter(isInSync);
  const isIn = (pods: readonly Housed[]) => heirs.find(({ id }) => pods.some(({ node }) => node.id === id));
  const fresh = isIn(housed.filter(({ isCurrent }) => isCurrent));
  const heir = fresh ?? (isServed(primary) ? undefined : isIn(housed.filter(isServed)));
  if (!heir) return undefined;
  const why = `${primary.name} is to be made anew: one of its ${fresh ? 'new replicas' : 'replicas that serve'} takes over first`;
  const request = { id: heir.id, mode: 'graceful' };
  const settleMs = fresh ? 0 : AILING_MS;
  return { what: 'operation', kind: 'failover', request, why, settleMs, needsApproval: false };
}

/** It has no replicas, because none were asked for: its slots are not served until it is back. Without a volume its data would be gone. */
function restartAlone(primary: Housed, cluster: ClusterView): RestartWish | undefined {
  return replicasOf(cluster, primary.node.id).length === 0
    ? restart(primary, 'is made anew from what is asked for now; nobody can stand in for it meanwhile')
    : undefined;
}

/**
 * An old replica of a new primary that is out of step. A server may not read what a newer one writes: it would try for ever, and be what
 * everybody waits for. Nobody misses it: it has not what its primary has, and begins anew in any case.
 */
function isLeftBehind({ node }: Housed, housed: readonly Housed[]): boolean {
  if (roleOf(node) !== 'replica' || node.report.value.replication.linkUp === true) return false;
  const primary = housed.find((pod) => pod.node.id === primaryIdOf(node));
  if (!primary || !isServed(primary)) return false;
  return primary.isCurrent && roleOf(primary.node) === 'primary' && !isFailed(primary.node);
}

function restart(pod: PodMember, why: string, settleMs = RESTART_MS): RestartWish {
  return { what: 'restart', pod, why: `${pod.name} ${why}`, settleMs };
}
