/** Checks of the members: who is there, what they think of each other. */
import type { Finding } from '../api/findings.ts';
import {
  type ClusterView,
  formatEndpoint,
  type Heard,
  type NodeId,
  type NodeLine,
  type NodeView,
} from '../api/view.ts';
import {
  flaggedBy,
  isHandshake,
  isReported,
  likelySlots,
  members,
  nodeName,
  nodeNames,
  primaries,
  quorum,
  reported,
  roleOf,
  sameEndpoint,
  whoSay,
} from './topology.ts';

function servesSlots(node: NodeView): boolean {
  return roleOf(node) === 'primary' && likelySlots(node).length > 0;
}

export function checkReachability(view: ClusterView): readonly Finding[] {
  const findings: Finding[] = [];
  for (const node of members(view)) {
    const severity = servesSlots(node) ? 'broken' : 'degraded';
    const kind = roleOf(node) === 'replica' ? 'replica' : servesSlots(node) ? 'primary with slots' : 'primary';
    if (!node.report.known) {
      findings.push({
        code: 'NODE_UNREACHABLE',
        severity,
        message: `${nodeName(view, node.id)} (${kind}) cannot be read, what it thinks is unknown: ${node.report.why}`,
        nodes: [node.id],
        remedy: 'Start it or make it reachable from here. If it is gone for good: reeve redis fix ADDRESS',
      });
    }
    const failedFor = flaggedBy(node, 'fail');
    if (failedFor.length > 0) {
      findings.push({
        code: 'NODE_FAILED',
        severity,
        message: `${nodeName(view, node.id)} (${kind}) is failed in the eyes of ${nodeNames(view, failedFor, 3)}`,
        nodes: [node.id],
        remedy: servesSlots(node)
          ? 'Start it again, or fail over to a replica of it: reeve redis failover ADDRESS --node HOST:PORT'
          : 'Take it out of the cluster: reeve redis del-node ADDRESS --node ID. Or start it again; if it brings back marks of a move that is over: reeve redis fix ADDRESS',
      });
    }
    const suspectedBy = failedFor.length > 0 ? [] : flaggedBy(node, 'fail?');
    if (suspectedBy.length > 0) {
      findings.push({
        code: 'NODE_SUSPECTED',
        severity: 'degraded',
        message: `${nodeName(view, node.id)} (${kind}) does not answer ${nodeNames(view, suspectedBy, 3)}`,
        nodes: [node.id],
        remedy:
          'Wait: within the node timeout it is either back or failed. Then check again: reeve redis check ADDRESS',
      });
    }
    findings.push(...checkAddress(view, node));
  }
  for (const { endpoint, code, why } of view.silent) {
    findings.push({
      code: 'NODE_UNREACHABLE',
      severity: 'degraded',
      message: `nothing is known of ${formatEndpoint(endpoint)}: ${why} (${code})`,
      nodes: [],
      remedy: 'Make it reachable, or leave it out if no node is meant to be there.',
    });
  }
  return findings;
}

/** A node that answers elsewhere than the others look for it. Two addresses that both work are none of our business. */
function checkAddress(view: ClusterView, node: NodeView): readonly Finding[] {
  if (!isReported(node)) return [];
  const elsewhere = node.heard.filter(({ line }) => line.host !== '' && !sameEndpoint(line, node.endpoint));
  const first = elsewhere[0];
  if (!first) return [];
  const cutOff = elsewhere.filter(({ line }) => !line.linkUp);
  return [
    {
      code: 'ADDRESS_CHANGED',
      severity: cutOff.length > 0 ? 'degraded' : 'info',
      message: `${nodeName(view, node.id)} is at ${formatEndpoint(first.line)} for ${nodeNames(
        view,
        whoSay(elsewhere),
        3,
      )}${cutOff.length > 0 ? ', where they do not reach it' : ''}`,
      nodes: [node.id],
      remedy:
        cutOff.length > 0
          ? 'reeve redis fix ADDRESS introduces it again (MEET) at its new address'
          : 'Nothing, if both addresses lead to it.',
    },
  ];
}

export function checkState(view: ClusterView): readonly Finding[] {
  const findings: Finding[] = [];
  const failing = reported(view).filter((node) => node.report.value.info.state !== 'ok');
  if (failing.length > 0) {
    findings.push({
      code: 'STATE_FAIL',
      severity: 'broken',
      message: `cluster_state is fail on ${nodeNames(
        view,
        failing.map((node) => node.id),
      )}: ${failing.length === reported(view).length ? 'the cluster serves nothing' : 'these nodes refuse clients'}`,
      nodes: failing.map((node) => node.id),
      remedy: 'The other findings say why; it follows by itself once they are mended: reeve redis fix ADDRESS',
    });
  }
  const votes = quorum(view);
  if (votes.size > 0 && !votes.has) {
    const missing = primaries(view).filter((node) => servesSlots(node) && !node.report.known);
    findings.push({
      code: 'NO_QUORUM',
      severity: 'broken',
      message: `${votes.reachable} of ${votes.size} primaries with slots are there, a majority is ${Math.floor(votes.size / 2) + 1}: no failover can be voted for`,
      nodes: missing.map((node) => node.id),
      remedy:
        'Start the missing primaries. Only if they are gone for good: reeve redis fix ADDRESS --takeover (writes that no replica got are lost)',
    });
  }
  return findings;
}

export function checkRoles(view: ClusterView): readonly Finding[] {
  const findings: Finding[] = [];
  const nodes = new Map(view.nodes.map((node) => [node.id, node]));
  for (const node of members(view)) {
    const opinions =
      isDisputed(node) && !isPastDispute(node) ? Map.groupBy(opinionsOf(node), ({ line }) => placeIn(line)) : undefined;
    if (opinions && opinions.size > 1) {
      const said = [...opinions].map(([primaryId, held]) => {
        const by = [...whoSay(held)].sort((a, b) => Number(b === node.id) - Number(a === node.id));
        const role =
          primaryId === '' ? 'primary' : `replica of ${primaryId === '-' ? 'nobody' : nodeName(view, primaryId)}`;
        return `${role} for ${by[0] === node.id && by.length === 1 ? 'itself' : nodeNames(view, by, 2)}`;
      });
      findings.push({
        code: 'ROLES_DIFFER',
        severity: 'degraded',
        message: `${nodeName(view, node.id)} is ${said.join(', ')}`,
        nodes: [node.id],
        remedy: 'Normal for a moment after a failover. If it stays: reeve redis fix ADDRESS',
      });
    }
    if (!isReported(node)) continue;
    const { self } = node.report.value;
    const primary = self.role === 'replica' && self.primaryId !== undefined ? nodes.get(self.primaryId) : undefined;
    if (self.role === 'replica' && (!primary || roleOf(primary) === 'replica')) {
      findings.push({
        code: 'ROLES_DIFFER',
        severity: 'degraded',
        message: primary
          ? `${nodeName(view, node.id)} replicates ${nodeName(view, primary.id)}, which is a replica itself`
          : `${nodeName(view, node.id)} is a replica of a node that nobody knows`,
        nodes: primary ? [node.id, primary.id] : [node.id],
        remedy: 'reeve redis fix ADDRESS gives it a primary',
      });
    }
  }
  return findings;
}

/** Whom a line makes it a replica of; nothing for a primary. */
function placeIn({ role, primaryId }: NodeLine): string {
  return role === 'primary' ? '' : (primaryId ?? '-');
}

function isDisputed({ report, heard }: NodeView): boolean {
  const first = report.known ? report.value.self : heard[0]?.line;
  return first !== undefined && heard.some(({ line }) => placeIn(line) !== placeIn(first));
}

/**
 * Dead, and without slots for anybody: what it was only it could say, so that those who heard it last and those who did not will differ for
 * ever. It costs nobody anything, and must keep nobody from taking it out, nor others in.
 */
function isPastDispute(node: NodeView): boolean {
  return !isReported(node) && flaggedBy(node, 'fail').length > 0 && likelySlots(node).length === 0;
}

/** Whom a dead replica followed is known to those who heard it say so. Who came later heard of it only, and never will know. */
function opinionsOf(node: NodeView): readonly Heard[] {
  const own = isReported(node) ? [{ by: [node.id], line: node.report.value.self }] : [];
  const isHearsay = (line: NodeLine) => !isReported(node) && line.role === 'replica' && line.primaryId === undefined;
  return [...own, ...node.heard.filter(({ line }) => !isHandshake(line) && !isHearsay(line))];
}

/** Of each node that is read: whom its table lacks, and for whom it has no address. */
interface Gaps {
  readonly missing: NodeId[];
  readonly lost: NodeId[];
}

/**
 * Asked of the lines, who has them, and not of the tables: nearly all have the same lines. No id is in a table twice: a node of whom as
 * many tell as there are is known to all.
 */
function gapsOf(view: ClusterView, all: readonly NodeView[]): ReadonlyMap<NodeId, Gaps> {
  const gaps = new Map<NodeId, Gaps>(reported(view).map(({ id }) => [id, { missing: [], lost: [] }]));
  for (const { id, report, heard } of all) {
    const told = heard.filter(({ line }) => !isHandshake(line));
    const count = told.reduce((sum, { by }) => sum + by.length, 0);
    if (count !== gaps.size - (report.known ? 1 : 0)) {
      const knowing = new Set(told.flatMap(({ by }) => by));
      for (const [by, { missing }] of gaps) if (by !== id && !knowing.has(by)) missing.push(id);
    }
    for (const by of whoSay(told.filter(({ line }) => line.flags.includes('noaddr')))) gaps.get(by)?.lost.push(id);
  }
  return gaps;
}

export function checkMembership(view: ClusterView): readonly Finding[] {
  const findings: Finding[] = [];
  const all = members(view);
  const gaps = gapsOf(view, all);
  for (const node of reported(view)) {
    const { others } = node.report.value;
    const { missing, lost } = gaps.get(node.id) ?? { missing: [], lost: [] };
    if (missing.length > 0) {
      findings.push({
        code: 'MEMBERSHIP_DIFFERS',
        severity: 'degraded',
        message: `${nodeName(view, node.id)} does not know ${nodeNames(view, missing)}`,
        nodes: [node.id, ...missing],
        remedy: 'Normal for a moment after a node joined or left. If it stays: reeve redis fix ADDRESS',
      });
    }
    if (lost.length > 0) {
      findings.push({
        code: 'MEMBERSHIP_DIFFERS',
        severity: 'degraded',
        message: `${nodeName(view, node.id)} has no address for ${nodeNames(view, lost)}`,
        nodes: [node.id, ...lost],
        remedy: 'If the node is gone: reeve redis del-node ADDRESS --node ID',
      });
    }
    // All other lines are about members: with no more than those there is no need to look.
    const hasMore = others.length > all.length - 1 - missing.length;
    for (const line of hasMore ? others.filter(isHandshake) : []) {
      // What is left of a handshake with somebody who is known by now goes away with the node timeout.
      const isKnown = others.some((other) => !isHandshake(other) && sameEndpoint(other, line));
      findings.push({
        code: 'MEMBERSHIP_DIFFERS',
        severity: isKnown ? 'info' : 'degraded',
        message: `${nodeName(view, node.id)} is shaking hands with ${formatEndpoint(line)}${isKnown ? ', which it knows already' : ''}`,
        nodes: [node.id],
        remedy: 'Wait: it ends within the node timeout. Then check again: reeve redis check ADDRESS',
      });
    }
  }
  return findings;
}

/** Looked at only where it was asked for: an answer that says nothing is no finding. */
export function checkShards(view: ClusterView): readonly Finding[] {
  return reported(view).flatMap((node): Finding[] => {
    const { misplacedInShards: misplaced } = node.report.value;
    if (!misplaced.known || misplaced.value.length === 0) return [];
    return [
      {
        code: 'SHARDS_DIFFER',
        severity: 'info',
        message: `CLUSTER SHARDS of ${nodeName(view, node.id)} places ${nodeNames(view, misplaced.value)} elsewhere than its CLUSTER NODES: clients that read it ask the wrong nodes`,
        nodes: [node.id, ...misplaced.value.filter((id) => id !== node.id)],
        remedy:
          'It usually follows within seconds. If it stays, let the replicas named follow their primary anew: CLUSTER REPLICATE with its id, on each of them.',
      },
    ];
  });
}
