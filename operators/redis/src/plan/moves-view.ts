/** Questions about a view that matter while slots move or are mended: who is missing, what is under way, what is in doubt. */
import { valueOf, type Waiting } from '@reeve/runtime';
import {
  countSlots,
  formatSlots,
  intersectSlots,
  minusSlots,
  parseSlots,
  type SlotRanges,
  unionSlots,
} from '../api/slots.ts';
import type { AtomicJob, ClusterView, NodeId, NodeLine, NodeView } from '../api/view.ts';
import {
  clusters,
  flaggedBy,
  heardSlots,
  isHandshake,
  isReported,
  members,
  nodeName,
  nodeNames,
  ownSlots,
  type ReportedNode,
  reported,
  reportedPrimaries,
  restrictTo,
} from './topology.ts';

/** Slots of our own goals and commands: they were formatted by us. */
export function slotsFromText(text: string): SlotRanges {
  return parseSlots(text) ?? [];
}

/** Atomic migrations that have not ended, each once although both sides list it. */
export function atomicJobs(view: ClusterView): readonly AtomicJob[] {
  const jobs = new Map<string, AtomicJob>();
  for (const node of reported(view)) {
    for (const job of valueOf(node.report.value.atomicJobs) ?? []) {
      jobs.set(`${job.sourceId} ${job.targetId} ${formatSlots(job.slots)}`, job);
    }
  }
  return [...jobs.values()];
}

/** Reporting nodes that do not tell whether they have atomic migrations. */
export function jobsUnknown(view: ClusterView): readonly { readonly node: ReportedNode; readonly why: string }[] {
  return reported(view).flatMap((node) => {
    const { atomicJobs: jobs } = node.report.value;
    return jobs.known ? [] : [{ node, why: jobs.why }];
  });
}

export function lineAbout(node: ReportedNode, id: NodeId): NodeLine | undefined {
  const { self, others } = node.report.value;
  return self.id === id ? self : others.find((line) => line.id === id && !isHandshake(line));
}

/**
 * Slots that belong to nodes which could not be read, as far as the others know. What a late listener says does not
 * count once a node that reports claims the slot with a newer epoch: that is how servers settle it.
 */
export function absentOwners(view: ClusterView): ReadonlyMap<NodeId, SlotRanges> {
  const absent = new Map<NodeId, SlotRanges>();
  const claims = reportedPrimaries(view);
  for (const node of members(view)) {
    if (node.report.known) continue;
    const held: SlotRanges[] = [];
    for (const { line } of node.heard) {
      if (line.slots.length === 0 || isHandshake(line)) continue;
      const newer = claims.filter((claim) => claim.report.value.self.configEpoch > line.configEpoch);
      held.push(minusSlots(line.slots, unionSlots(...newer.map(ownSlots))));
    }
    const slots = unionSlots(...held);
    if (countSlots(slots) > 0) absent.set(node.id, slots);
  }
  return absent;
}

/** FAIL is a decision of the majority; one node that heard it is enough. */
export function isFailed(node: NodeView): boolean {
  return flaggedBy(node, 'fail').length > 0;
}

/**
 * An id that nobody answers to, that all who know it have no address for, and that owns nothing: a node that was reset and has another
 * one since. It never becomes failed, because nobody asks it.
 */
export function isVanished(node: NodeView): boolean {
  if (node.report.known || countSlots(heardSlots(node)) > 0) return false;
  const lines = node.heard.map(({ line }) => line).filter((line) => !isHandshake(line));
  return lines.length > 0 && lines.every(({ flags }) => flags.includes('noaddr'));
}

/** Members that we cannot read although the others do not call them failed: what they think is unknown. */
export function unreadMembers(view: ClusterView): readonly NodeView[] {
  return members(view).filter((node) => !node.report.known && !isFailed(node) && !isVanished(node));
}

/** Reasons not to start anything that changes who owns what: a failover is under way, or may be. */
export function inDoubt(view: ClusterView): readonly Waiting[] {
  const waiting: Waiting[] = [];
  for (const [id, slots] of absentOwners(view)) {
    waiting.push({
      reason: 'PrimaryUnavailable',
      message: `${nodeName(view, id)} cannot be read and owns ${countSlots(slots)} slots: it must come back or be failed over`,
      subjects: [id],
    });
  }
  for (const node of reportedPrimaries(view)) {
    const suspects = [...flaggedBy(node, 'fail'), ...flaggedBy(node, 'fail?')];
    if (suspects.length === 0 || countSlots(ownSlots(node)) === 0) continue;
    waiting.push({
      reason: 'PrimarySuspected',
      message: `${nodeName(view, node.id)} is taken for failed by ${nodeNames(view, [...new Set(suspects)])}: a failover may be under way`,
      subjects: [node.id],
    });
  }
  const disputed = reported(view).filter((node) => roleIsDisputed(node));
  if (disputed.length > 0) {
    waiting.push({
      reason: 'RolesSettling',
      message: `nodes do not agree yet on the role of ${nodeNames(
        view,
        disputed.map((node) => node.id),
      )}`,
      subjects: disputed.map((node) => node.id),
    });
  }
  return waiting;
}

/** Who is primary matters where slots are at stake: an empty node that changes sides disputes nothing. */
function roleIsDisputed(node: ReportedNode): boolean {
  const { self } = node.report.value;
  return node.heard.some(
    ({ line }) => !isHandshake(line) && line.role !== self.role && countSlots(unionSlots(line.slots, self.slots)) > 0,
  );
}

/** Nodes that report and do not have `owner` down for all of these slots. */
export function unawareOf(view: ClusterView, owner: NodeId, slots: SlotRanges): readonly NodeId[] {
  return reported(view)
    .filter((node) => countSlots(minusSlots(slots, lineAbout(node, owner)?.slots ?? [])) > 0)
    .map((node) => node.id);
}

export interface Claimant {
  readonly node: ReportedNode;
  readonly slots: SlotRanges;
}

/** The reporting primaries that claim some of these slots, with what they claim. */
export function claimants(view: ClusterView, slots: SlotRanges): readonly Claimant[] {
  return reportedPrimaries(view)
    .filter(isReported)
    .map((node) => ({ node, slots: intersectSlots(ownSlots(node), slots) }))
    .filter((claim) => countSlots(claim.slots) > 0);
}

/**
 * The cluster without nodes that are in none (fresh ones that were asked, too), and the groups of nodes that it does
 * not know: other clusters, or the rest of this one.
 */
export function mainCluster(view: ClusterView): {
  readonly cluster: ClusterView;
  readonly apart: readonly (readonly NodeId[])[];
} {
  const [main, ...apart] = clusters(view);
  return { cluster: main ? restrictTo(view, main) : view, apart };
}
