/**
 * Primaries with slots that cannot be read. A replica that is alive takes over: by vote, by force, or, when the
 * majority is lost and a person said so, without a vote. Only when no replica is left, be it one that cannot be read,
 * may their slots be given to others, and only when a person gave those nodes up.
 */
import type { Refusal, Waiting } from '@reeve/runtime';
import type { Failover } from '../api/commands.ts';
import { countSlots } from '../api/slots.ts';
import type { ClusterView, NodeId, NodeView } from '../api/view.ts';
import { candidatesFor } from './failover.ts';
import { absentOwners, isFailed, isVanished, lineAbout } from './moves-view.ts';
import {
  flaggedBy,
  isReported,
  nodeName,
  nodeNames,
  nodeOf,
  quorum,
  type ReportedNode,
  refOf,
  replicasOf,
  reported,
} from './topology.ts';

export interface AbsentConsent {
  readonly takeover: boolean;
  readonly allowUnreachable: boolean;
  /** The nodes that were named when it was approved to do without them. */
  readonly givenUp: readonly NodeId[];
}

export interface AbsentVerdict {
  readonly commands: readonly Failover[];
  readonly waiting: readonly Waiting[];
  readonly refused: readonly Refusal[];
  /** Nodes whose slots are given to others. */
  readonly givenUp: readonly NodeId[];
}

export function judgeAbsent(view: ClusterView, consent: AbsentConsent): AbsentVerdict {
  const commands: Failover[] = [];
  const waiting: Waiting[] = [];
  const refused: Refusal[] = [];
  const givenUp: NodeId[] = [];
  for (const [id, slots] of absentOwners(view)) {
    const seenBy = whoSees(view, id);
    const heirs = candidatesFor(view, id);
    const name = nodeName(view, id);
    if (seenBy.length > 0 && seenBy.length <= reported(view).length / 2) {
      // A server shows a link as soon as it tries to make one: to a dead node it tries again ten times a second.
      waiting.push({
        reason: 'PrimaryUnavailable',
        message: `${name}, which owns ${countSlots(slots)} slots, is lost by all, or back: ${nodeNames(view, seenBy)} may have a link to it`,
        subjects: [id],
      });
    } else if (seenBy.length > 0) {
      refused.push({
        code: 'NODE_NOT_FAILED',
        message: `${name}, which owns ${countSlots(slots)} slots, cannot be read from here, but ${nodeNames(view, seenBy)} have a link to it: it is alive`,
        subjects: [id],
      });
    } else if (heirs.length > 0) {
      const verdict = takeOver(view, id, heirs, consent);
      if ('type' in verdict) commands.push(verdict);
      else if ('code' in verdict) refused.push(verdict);
      else waiting.push(verdict);
    } else if (unreadHeirs(view, id).length > 0) {
      const unread = unreadHeirs(view, id);
      const message = `${name} owns ${countSlots(slots)} slots and cannot be read; ${nodeNames(view, unread)} follows it, cannot be read either and may have its keys: wait until it can be read. If it is lost for good, end its pod or server, so that the others call it failed`;
      refused.push({ code: 'PRIMARIES_UNREACHABLE', message, subjects: [id, ...unread] });
    } else if (barredHeirs(view, id).length > 0) {
      const message = `${name} owns ${countSlots(slots)} slots and cannot be read; ${nodeNames(view, barredHeirs(view, id))} has a copy and must not take over: set cluster-replica-no-failover to no there`;
      refused.push({ code: 'PRIMARIES_UNREACHABLE', message, subjects: [id, ...barredHeirs(view, id)] });
    } else if (consent.allowUnreachable && consent.givenUp.includes(id)) {
      givenUp.push(id);
    } else if (consent.allowUnreachable) {
      waiting.push({
        reason: 'PrimaryUnavailable',
        message: `${name} cannot be read since this was approved: it comes back`,
        subjects: [id],
      });
    } else {
      refused.push({
        code: 'PRIMARIES_UNREACHABLE',
        message: `${name} owns ${countSlots(slots)} slots, cannot be read and has no living replica: its keys would be lost`,
        subjects: [id],
      });
    }
  }
  return { commands, waiting, refused, givenUp };
}

/** Absent owners that a person may give up: nobody sees them, nobody can take over for them. */
export function lostOwners(view: ClusterView): readonly NodeId[] {
  return [...absentOwners(view).keys()].filter(
    (id) =>
      whoSees(view, id).length === 0 &&
      candidatesFor(view, id).length === 0 &&
      unreadHeirs(view, id).length === 0 &&
      barredHeirs(view, id).length === 0,
  );
}

/** Replicas that nobody has buried: they may only be slow to answer, and hold everything. */
function unreadHeirs(view: ClusterView, id: NodeId): readonly NodeId[] {
  return replicasOf(view, id)
    .filter((node) => !node.report.known && !isVanished(node) && (isLoading(node) || !isGivenUpByAll(view, node)))
    .map((node) => node.id);
}

/** A server that reads its file longer than the node timeout may be called failed, and is not. */
function isLoading({ report }: NodeView): boolean {
  return !report.known && /\bLOADING\b/.test(report.why);
}

/** Without a majority nobody is ever called failed: then it counts that all who can be read suspect it. */
function isGivenUpByAll(view: ClusterView, node: NodeView): boolean {
  if (isFailed(node)) return true;
  return !quorum(view).has && reported(view).every(({ id }) => flaggedBy(node, 'fail?').includes(id));
}

/** Replicas that are there and were told not to take over: what they hold is not lost, and would be with the next primary that they follow. */
function barredHeirs(view: ClusterView, id: NodeId): readonly NodeId[] {
  const heirs = new Set(candidatesFor(view, id).map((node) => node.id));
  return replicasOf(view, id).flatMap((node) => (isReported(node) && !heirs.has(node.id) ? [node.id] : []));
}

function whoSees(view: ClusterView, id: NodeId): readonly NodeId[] {
  return reported(view)
    .filter((node) => {
      const line = lineAbout(node, id);
      return line?.linkUp === true && !line.flags.some((flag) => flag.startsWith('fail'));
    })
    .map((node) => node.id);
}

function takeOver(
  view: ClusterView,
  id: NodeId,
  heirs: readonly ReportedNode[],
  consent: AbsentConsent,
): Failover | Refusal | Waiting {
  const node = nodeOf(view, id);
  const heir = heirs[0];
  const name = nodeName(view, id);
  const votes = quorum(view);
  if (!node || !heir) return { reason: 'PrimaryUnavailable', message: `${name} comes back`, subjects: [id] };
  const heirName = nodeName(view, heir.id);
  const failover = (mode: Failover['mode'], why: string): Failover => ({
    type: 'failover',
    replica: refOf(heir),
    primary: refOf(node),
    mode,
    why,
  });
  if (!votes.has) {
    if (consent.takeover) {
      const why = `${name} is gone and the majority is lost: ${heirName} has most of its data and takes over without a vote`;
      return failover('takeover', why);
    }
    const message = `${name} cannot be read and only ${votes.reachable} of ${votes.size} voters are there: ${heirName} can take over only without a vote (--takeover)`;
    return { code: 'NO_QUORUM', message, subjects: [id, heir.id] };
  }
  if (isFailed(node) && consent.allowUnreachable) {
    return failover('force', `${name} is failed: ${heirName}, which has most of its data, takes over`);
  }
  return {
    reason: 'FailoverPending',
    message: `a replica of ${name} (${heirName}) is elected; if that does not happen: reeve redis failover --force`,
    subjects: [id, heir.id],
  };
}
