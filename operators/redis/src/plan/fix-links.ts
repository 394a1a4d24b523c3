/** Members that lost each other, and replicas that follow nobody who leads. */
import type { Waiting } from '@reeve/runtime';
import type { ForgetNode, Meet, Replicate } from '../api/commands.ts';
import { countSlots } from '../api/slots.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import { bestPrimaryFor } from './add-node-placement.ts';
import { placedMembers } from './check-placement.ts';
import { isFailed, isVanished } from './moves-view.ts';
import { isMeeting } from './readdress.ts';
import {
  heardSlots,
  isReported,
  keyCount,
  knows,
  members,
  nodeName,
  nodeNames,
  nodeOf,
  ownSlots,
  type ReportedNode,
  refOf,
  reported,
  reportedPrimaries,
  shortId,
} from './topology.ts';

export interface MembershipRepair {
  readonly commands: readonly Meet[];
  readonly waiting: readonly Waiting[];
}

/**
 * Pairs of one cluster of which one does not know the other: introduced again. An empty primary is left out: whether
 * it was about to join or to leave, nobody can tell, and nothing hangs on it.
 */
export function repairMembership(view: ClusterView): MembershipRepair {
  const nodes = reported(view).filter((node) => !isSpare(node));
  const pairs: Meet['pairs'][number][] = [];
  const apart: NodeId[] = [];
  for (const from of nodes) {
    for (const to of nodes) {
      if (from === to || knows(view, from.id, to.id)) continue;
      apart.push(from.id);
      if (isMeeting(from, to.endpoint) || isMeeting(to, from.endpoint)) continue;
      pairs.push({ from: refOf(from), to: refOf(to), toBusPort: to.report.value.self.busPort });
    }
  }
  if (apart.length === 0) return { commands: [], waiting: [] };
  const waiting = {
    reason: 'Membership',
    message: `${nodeNames(view, [...new Set(apart)])} get to know all members`,
    subjects: [...new Set(apart)],
  };
  const meet: Meet = { type: 'meet', pairs, why: 'members of this cluster that do not know each other' };
  return { commands: pairs.length > 0 ? [meet] : [], waiting: [waiting] };
}

/**
 * Nodes that somebody still has in its table although they know nobody themselves: deleted and reset while that one was
 * away. It would bring them back by gossip. By their own word they are in no cluster, and they hold nothing.
 */
export function forgetLeftovers(view: ClusterView): readonly ForgetNode[] {
  return (
    reported(view)
      .filter((node) => isSpare(node) && node.report.value.others.length === 0 && keyCount(node) === 0)
      .map((node) => ({ node, knownTo: reported(view).filter(({ id }) => id !== node.id && knows(view, id, node.id)) }))
      .filter(({ knownTo }) => knownTo.length > 0)
      // One that is importing takes no news of those slots and still sees them there: its marks are ended first.
      .filter(({ node, knownTo }) => knownTo.every((by) => seesNothingOn(by, node.id)))
      .map(({ node, knownTo }) => ({
        type: 'forget-node',
        node: refOf(node),
        by: reported(view)
          .filter(({ id }) => id !== node.id)
          .map(refOf),
        reset: false,
        why: `${nodeName(view, node.id)} is in no cluster, but still known to ${nodeNames(
          view,
          knownTo.map(({ id }) => id),
        )}`,
      }))
  );
}

/**
 * Ids that somebody still has in its table, without an address, and most have not: a node that left and was reset, so that another id
 * answers where it was, while that one was away. A member that has moved is known to most. They own nothing, and nobody follows them.
 */
export function forgetGhosts(view: ClusterView): readonly ForgetNode[] {
  const all = reported(view);
  return members(view).flatMap((node): readonly ForgetNode[] => {
    if (!isVanished(node)) return [];
    const knownTo = all.filter(({ id }) => knows(view, id, node.id));
    const isFollowed = all.some(({ report: { value } }) =>
      [value.self, ...value.others].some(({ primaryId }) => primaryId === node.id),
    );
    if (isFollowed || knownTo.length === 0 || 2 * knownTo.length >= all.length) return [];
    const who = knownTo.map(({ id }) => id);
    const why = `${shortId(node.id)} is no member any more, but ${nodeNames(view, who)} did not hear of it`;
    return [{ type: 'forget-node', node: refOf(node), by: all.map(refOf), reset: false, why }];
  });
}

function seesNothingOn(by: ReportedNode, id: NodeId): boolean {
  const { others } = by.report.value;
  return others.every((line) => line.primaryId !== id && (line.id !== id || countSlots(line.slots) === 0));
}

function isSpare(node: ReportedNode): boolean {
  const { self } = node.report.value;
  return self.role === 'primary' && countSlots(self.slots) === 0;
}

/** Replicas whose primary is unknown, follows somebody itself, or is dead and owns nothing: they get another one. */
export function repairReplicas(view: ClusterView, spreadBy: readonly string[]): readonly Replicate[] {
  const commands: Replicate[] = [];
  let placed = placedMembers(view);
  const leaders = reportedPrimaries(view)
    .filter((node) => countSlots(ownSlots(node)) > 0)
    .map((node) => node.id);
  for (const node of reported(view)) {
    const { self } = node.report.value;
    if (self.role !== 'replica') continue;
    const primary = self.primaryId === undefined ? undefined : nodeOf(view, self.primaryId);
    const reason = orphanReason(view, primary);
    if (reason === undefined) continue;
    const chosen = leaderOf(view, primary?.id) ?? bestPrimaryFor(node, placed, leaders, spreadBy);
    const leader = reportedPrimaries(view).find(({ id }) => id === chosen);
    if (!leader || !knows(view, node.id, leader.id)) continue;
    placed = placed.map((member) =>
      member.id === node.id ? { ...member, role: 'replica', primaryId: leader.id } : member,
    );
    commands.push({
      type: 'replicate',
      replica: refOf(node),
      primary: refOf(leader),
      mustBeEmpty: false,
      why: `${nodeName(view, node.id)} ${reason}: it follows ${nodeName(view, leader.id)} from now on`,
    });
  }
  return commands;
}

function orphanReason(view: ClusterView, primary: ReturnType<typeof nodeOf>): string | undefined {
  if (!primary) return 'follows a node that nobody knows';
  if (isReported(primary)) {
    return primary.report.value.self.role === 'replica'
      ? `follows ${nodeName(view, primary.id)}, which is a replica itself`
      : undefined;
  }
  return (isFailed(primary) && countSlots(heardSlots(primary)) === 0) || isVanished(primary)
    ? `follows ${nodeName(view, primary.id)}, which is dead and owns nothing`
    : undefined;
}

/** The primary at the end of a chain of replicas. */
function leaderOf(view: ClusterView, id: NodeId | undefined): NodeId | undefined {
  const seen = new Set<NodeId>();
  for (let next = id; next !== undefined && !seen.has(next); ) {
    seen.add(next);
    const node = nodeOf(view, next);
    if (!node || !isReported(node)) return undefined;
    const { self } = node.report.value;
    if (self.role === 'primary') return node.id;
    next = self.primaryId;
  }
  return undefined;
}
