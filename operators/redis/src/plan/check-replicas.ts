/** Checks of the copies: links, counts, and epochs, by which a cluster settles who is right. */
import type { Finding } from '../api/findings.ts';
import type { ClusterView, NodeView } from '../api/view.ts';
import {
  likelySlots,
  nodeName,
  nodeNames,
  nodeOf,
  primaries,
  type ReportedNode,
  replicasByPrimary,
  reported,
  reportedPrimaries,
} from './topology.ts';

export function checkEpochs(view: ClusterView): readonly Finding[] {
  const byEpoch = Map.groupBy(reportedPrimaries(view), (node) => node.report.value.self.configEpoch);
  return [...byEpoch]
    .filter(([, nodes]) => nodes.length > 1)
    .map(([epoch, nodes]) => ({
      code: 'EPOCH_COLLISION',
      severity: 'degraded',
      message: `config epoch ${epoch} is that of ${nodes.length} primaries: ${nodeNames(
        view,
        nodes.map((node) => node.id),
      )}; who wins a dispute over slots is left to chance`,
      nodes: nodes.map((node) => node.id),
      remedy: 'The servers usually settle it within seconds. If it stays: reeve redis fix ADDRESS',
    }));
}

export function checkReplicas(view: ClusterView, wanted: number | undefined): readonly Finding[] {
  return [...checkLinks(view), ...checkCounts(view, wanted)];
}

function checkLinks(view: ClusterView): readonly Finding[] {
  const findings: Finding[] = [];
  for (const node of reported(view)) {
    const { self, replication } = node.report.value;
    if (self.role !== 'replica' || (replication.role === 'replica' && replication.linkUp === true)) continue;
    const primary = self.primaryId === undefined ? 'its primary' : nodeName(view, self.primaryId);
    const why =
      replication.role !== 'replica'
        ? 'replication has not begun'
        : replication.syncInProgress
          ? 'a full sync is running'
          : 'the link is down';
    findings.push({
      code: 'REPLICA_LINK_DOWN',
      severity: 'degraded',
      message: `${nodeName(view, node.id)} is not in step with ${primary}: ${why}`,
      nodes: self.primaryId === undefined ? [node.id] : [node.id, self.primaryId],
      remedy: linkRemedy(view, node),
    });
  }
  return findings;
}

/** A new address of the primary is a finding of its own, with its own remedy. */
function linkRemedy(view: ClusterView, replica: ReportedNode): string {
  const { self, replication } = replica.report.value;
  if (replication.syncInProgress) return 'Wait until the sync is done.';
  const primary = self.primaryId === undefined ? undefined : nodeOf(view, self.primaryId);
  if (primary && !primary.report.known) return 'It follows once its primary is back, or failed over.';
  return 'A person must look: the log of the replica says why it does not get through to its primary (masterauth and masteruser, TLS, a firewall). Once that is mended it comes back by itself.';
}

function checkCounts(view: ClusterView, wanted: number | undefined): readonly Finding[] {
  const replicas = replicasByPrimary(view);
  const served = primaries(view)
    .filter((node) => likelySlots(node).length > 0)
    .map((node) => ({ node, own: replicas.get(node.id) ?? [] }))
    .map(({ node, own }) => ({
      node,
      present: own.filter((replica) => replica.report.known).length,
      unread: own.filter((replica) => !replica.report.known).length,
    }));
  const most = Math.max(0, ...served.map(({ present }) => present));
  const least = Math.min(...served.map(({ present }) => present));
  const missing = served.filter(({ present }) => (wanted === undefined ? present === 0 && most > 0 : present < wanted));
  const findings = missing.map(({ node, present, unread }) => missingFinding(view, node, present, unread, wanted));
  if (findings.length === 0 && wanted === undefined && most - least > 1) {
    const fewest = served.filter(({ present }) => present === least).map(({ node }) => node.id);
    findings.push({
      code: 'REPLICA_MISSING',
      severity: 'info',
      message: `replicas are uneven: from ${least} (${nodeNames(view, fewest, 3)}) to ${most} for a primary`,
      nodes: fewest,
      remedy: 'reeve redis add-node ADDRESS --node HOST:PORT --replica adds one where it is needed most',
    });
  }
  return findings;
}

function missingFinding(
  view: ClusterView,
  node: NodeView,
  present: number,
  unread: number,
  wanted: number | undefined,
): Finding {
  const counted = wanted === undefined ? 'no replica, other primaries have' : `${present} of ${wanted} replicas`;
  return {
    code: 'REPLICA_MISSING',
    severity: 'degraded',
    message: `${nodeName(view, node.id)} has ${counted}${unread > 0 ? ` (${unread} more cannot be read)` : ''}`,
    nodes: [node.id],
    remedy: 'reeve redis add-node ADDRESS --node HOST:PORT --replica adds one where it is needed most',
  };
}
