/**
 * The check: everything that is wrong with a cluster, or not known, from one observation. Pure.
 *
 * | code | severity |
 * |---|---|
 * | SPLIT_CLUSTER | broken: nodes that were asked together do not know each other |
 * | NODE_UNREACHABLE | broken for a primary with slots, degraded for any other member and for addresses that do not answer |
 * | NODE_FAILED | broken for a primary with slots, else degraded |
 * | NODE_SUSPECTED | degraded |
 * | STATE_FAIL, NO_QUORUM | broken |
 * | SLOT_UNCOVERED, SLOT_MULTIPLE_OWNERS | broken |
 * | VIEWS_DIFFER | broken: clients are sent to the wrong node |
 * | KEYS_OUTSIDE_SLOT | broken when there are any (nobody can read them), info when it was not looked for |
 * | SLOT_OPEN | degraded: served, but a move is unfinished |
 * | ROLES_DIFFER, EPOCH_COLLISION | degraded |
 * | SHARDS_DIFFER | info: shard ids follow roles by gossip, seconds later on a new cluster; clients that read them try other nodes meanwhile |
 * | MEMBERSHIP_DIFFERS | degraded; info for the rest of a handshake with a node that is known already |
 * | ADDRESS_CHANGED | degraded while a link to the old address is down, else info (two addresses that both work) |
 * | REPLICA_LINK_DOWN | degraded |
 * | REPLICA_MISSING | degraded when fewer than asked for, or none where other primaries have some; info when uneven |
 * | PLACEMENT | degraded when these nodes could be placed better against loss of data or quorum, else info |
 * | ATOMIC_JOB | info: slots are on their way |
 *
 * Clean = nothing broken, nothing degraded.
 */
import type { Finding } from '../api/findings.ts';
import { type ClusterView, formatEndpoint } from '../api/view.ts';
import { checkMembership, checkReachability, checkRoles, checkShards, checkState } from './check-nodes.ts';
import { checkPlacement } from './check-placement.ts';
import { checkEpochs, checkReplicas } from './check-replicas.ts';
import { checkAtomicJobs, checkCoverage, checkOpenSlots, checkStrayKeys, checkViews } from './check-slots.ts';
import { clusters, loners, nodeNames, reported, restrictTo } from './topology.ts';

export interface Expected {
  readonly replicasPerPrimary?: number;
  /** Placement keys in order of weight. Default: host. */
  readonly spreadBy?: readonly string[];
}

const SEVERITIES: readonly Finding['severity'][] = ['broken', 'degraded', 'info'];

/** What is wrong or unknown, worst first. */
export function checkCluster(view: ClusterView, expected: Expected = {}): readonly Finding[] {
  const lonely = loners(view).map((node) => node.id);
  const [main, ...apart] = clusters(view);
  const cluster = main ? restrictTo(view, main) : view;
  const findings = [
    ...checkSplit(view, apart),
    ...checkLoners(view, lonely, main !== undefined),
    ...checkReachability(cluster),
    ...checkState(cluster),
    ...checkCoverage(cluster),
    ...checkViews(cluster),
    ...checkOpenSlots(cluster),
    ...checkStrayKeys(cluster),
    ...checkRoles(cluster),
    ...checkShards(cluster),
    ...checkMembership(cluster),
    ...checkEpochs(cluster),
    ...checkReplicas(cluster, expected.replicasPerPrimary),
    ...checkPlacement(cluster, expected.spreadBy ?? ['host']),
    ...checkAtomicJobs(cluster),
  ];
  const at = entryAddress(cluster);
  return SEVERITIES.flatMap((severity) => findings.filter((finding) => finding.severity === severity)).map(
    (finding) => ({
      ...finding,
      remedy: finding.remedy.replaceAll('ADDRESS', at),
    }),
  );
}

export function isClean(findings: readonly Finding[]): boolean {
  return findings.every((finding) => finding.severity === 'info');
}

/** An address to name in remedies: of a node that answers. */
function entryAddress(view: ClusterView): string {
  const entry = reported(view)[0];
  return entry ? formatEndpoint(entry.endpoint) : 'HOST:PORT';
}

/** The biggest group is taken for the cluster and checked; what the others are is for a person to say. */
function checkSplit(view: ClusterView, apart: readonly (readonly string[])[]): readonly Finding[] {
  return apart.map((group) => ({
    code: 'SPLIT_CLUSTER',
    severity: 'broken',
    message: `${nodeNames(view, group)}: ${group.length === 1 ? 'this node does' : 'these nodes do'} not know the rest of the nodes that were asked, and ${group.length === 1 ? 'it was' : 'they were'} not checked`,
    nodes: group,
    remedy:
      'Find out whether this is another cluster (then ask each for itself) or a part that was cut off. Joining two clusters that both own slots loses data: Reeve does not do it.',
  }));
}

function checkLoners(view: ClusterView, ids: readonly string[], hasCluster: boolean): readonly Finding[] {
  if (!hasCluster || ids.length === 0) return [];
  return [
    {
      code: 'MEMBERSHIP_DIFFERS',
      severity: 'info',
      message: `in no cluster: ${nodeNames(view, ids)}`,
      nodes: ids,
      remedy: 'If it should be a member: reeve redis add-node ADDRESS --node HOST:PORT',
    },
  ];
}
