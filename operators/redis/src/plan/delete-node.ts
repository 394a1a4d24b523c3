/** Takes a node out of a cluster: its slots go to the others, its replicas follow others, then everybody forgets it. */
import { type InFlight, isReached, type Plan, type Waiting } from '@reeve/runtime';
import type { Engine, ForgetNode, Pace, RedisCommand, Replicate } from '../api/commands.ts';
import type { Decision, Operation } from '../api/operation.ts';
import { countSlots, formatSlots, minusSlots, takeSlots, unionSlots } from '../api/slots.ts';
import type { ClusterView, Endpoint, NodeId, NodeView } from '../api/view.ts';
import { bestPrimaryFor } from './add-node-placement.ts';
import { placedMembers } from './check-placement.ts';
import { deletionProblems } from './delete-node-gate.ts';
import { isInSync } from './failover.ts';
import { whyKept } from './last-copy.ts';
import { LOOK_AGAIN_MS, type MoveGoal, moveGoal, planMoves, type SlotMove } from './moves.ts';
import { moveSteps, pairUp } from './moves-share.ts';
import { isFailed, lineAbout, slotsFromText, unreadMembers } from './moves-view.ts';
import type { Placed } from './placement-score.ts';
import { movedNodes } from './readdress.ts';
import {
  components,
  isReported,
  keyCount,
  members,
  nodeName,
  nodeNames,
  nodeOf,
  ownSlots,
  primaryIdOf,
  type ReportedNode,
  refOf,
  replicasOf,
  reported,
  reportedPrimaries,
  restrictTo,
  withoutNode,
} from './topology.ts';

export interface DeleteNodeRequest {
  readonly id: NodeId;
  readonly engine: Engine;
  readonly pace: Pace;
  /** Move its slots away first. Without it a node with slots is refused. */
  readonly drain: boolean;
  /** RESET HARD the node afterwards: it forgets the cluster too, and can come back at once, as somebody new. */
  readonly reset: boolean;
  /** What its replicas and their new primaries must not share, most important first. Default: zone, host. */
  readonly spreadBy?: readonly string[];
}

export interface DeleteNodeGoal {
  readonly id: NodeId;
  readonly endpoint: Endpoint;
  /** Who belongs to the cluster that it leaves, beside itself. */
  readonly members: readonly NodeId[];
  readonly moves: MoveGoal;
  /** Its replicas and whom they follow instead. */
  readonly replicas: readonly { readonly id: NodeId; readonly to: NodeId }[];
  readonly reset: boolean;
}

/** By the host at least: a replica beside its primary is worth little. */
const DEFAULT_SPREAD: readonly string[] = ['zone', 'host'];

export const deleteNodeOperation: Operation<DeleteNodeRequest, DeleteNodeGoal> = {
  kind: 'delete-node',
  needs: () => ({}),
  decide,
  // Once forgotten by all, nobody leads to it any more.
  goalNeeds: (goal) => ({ alsoAsk: [goal.endpoint] }),
  plan: planDelete,
};

function decide(request: DeleteNodeRequest, view: ClusterView): Decision<DeleteNodeGoal> {
  const gate = deletionProblems(request, view);
  if (gate.refused.length > 0) return { refused: gate.refused };
  const node = nodeOf(view, request.id);
  if (!node) return { refused: [] };
  const moves = drainMoves(view, request.id);
  const replicas = newPrimaries(view, request.id, request.spreadBy ?? DEFAULT_SPREAD);
  const goal: DeleteNodeGoal = {
    id: node.id,
    endpoint: node.endpoint,
    members: members(view)
      .map((member) => member.id)
      .filter((id) => id !== node.id),
    moves: moveGoal(moves, view, request.engine, request.pace),
    replicas,
    reset: request.reset,
  };
  const name = nodeName(view, node.id);
  return {
    goal,
    steps: [
      ...moveSteps(view, moves),
      ...replicas.map(({ id, to }) => `${nodeName(view, id)} becomes a replica of ${nodeName(view, to)}`),
      `all ${reported(view).filter((each) => each.id !== node.id).length} other nodes forget ${name}`,
      ...(request.reset && isReported(node) ? [`${name} forgets the cluster (RESET HARD)`] : []),
    ],
    reasons: gate.reasons,
  };
}

/** Its slots in as few moves as there are, to those with fewest first, so that the others end as even as they can. */
function drainMoves(view: ClusterView, id: NodeId): readonly SlotMove[] {
  const victim = nodeOf(view, id);
  let left = victim ? ownSlots(victim) : [];
  const voters = reportedPrimaries(view).filter((node) => node.id !== id && countSlots(ownSlots(node)) > 0);
  const holdings = voters.map((node) => ({ id: node.id, count: countSlots(ownSlots(node)) }));
  const moves: SlotMove[] = [];
  for (const { to, count } of pairUp(new Map([[id, countSlots(left)]]), fillUp(holdings, countSlots(left)))) {
    const slots = takeSlots(left, count);
    left = minusSlots(left, slots);
    moves.push({ source: id, target: to, slots: formatSlots(slots) });
  }
  return moves;
}

/** How much each gets when `amount` is poured over them: always the lowest first, ties by id. */
export function fillUp(
  holdings: readonly { readonly id: NodeId; readonly count: number }[],
  amount: number,
): ReadonlyMap<NodeId, number> {
  const levels = [...holdings].sort((a, b) => a.count - b.count || (a.id < b.id ? -1 : 1));
  // The highest level that `amount` fills, over the lowest k of them.
  let lowest = levels.length;
  const below = (k: number) => levels.slice(0, k).reduce((sum, { count }) => sum + count, 0);
  while (lowest > 1 && (levels[lowest - 1]?.count ?? 0) * lowest - below(lowest) > amount) lowest--;
  const total = below(lowest) + amount;
  const level = Math.floor(total / lowest);
  const extra = total - level * lowest;
  return new Map(levels.slice(0, lowest).map(({ id, count }, index) => [id, level - count + (index < extra ? 1 : 0)]));
}

/** Each replica in turn to the primary with fewest replicas, counted with those that were given one before it. */
function newPrimaries(view: ClusterView, id: NodeId, spreadBy: readonly string[]): DeleteNodeGoal['replicas'] {
  const orphans = replicasOf(view, id).filter(isReported);
  const candidates = reportedPrimaries(view)
    .filter((node) => node.id !== id && countSlots(ownSlots(node)) > 0)
    .map((node) => node.id);
  let placed: readonly Placed[] = placedMembers(view).filter((member) => member.id !== id && member.primaryId !== id);
  const assigned: { id: NodeId; to: NodeId }[] = [];
  for (const orphan of orphans) {
    const to = bestPrimaryFor(orphan, placed, candidates, spreadBy);
    if (to === undefined) continue;
    placed = [...placed, { id: orphan.id, annotations: orphan.annotations, role: 'replica', primaryId: to }];
    assigned.push({ id: orphan.id, to });
  }
  return assigned;
}

/**
 * The view of the cluster that the node leaves. Who asks at its address may find it in another one by now: there it is
 * none of our business.
 */
function clusterLeft(goal: DeleteNodeGoal, whole: ClusterView): ClusterView {
  const ours = new Set(goal.members);
  const others = withoutNode(whole, goal.id);
  const ids = components(others)
    .filter((group) => group.some((id) => ours.has(id)))
    .flat();
  const victim = nodeOf(whole, goal.id);
  const isLinked =
    victim?.heard.some(({ by }) => by.some((id) => ids.includes(id))) ||
    (victim?.report.known && victim.report.value.others.some((line) => ids.includes(line.id)));
  return restrictTo(whole, isLinked ? [...ids, goal.id] : ids);
}

function planDelete(
  goal: DeleteNodeGoal,
  whole: ClusterView,
  now: number,
  inFlight: readonly InFlight<RedisCommand>[],
): Plan<RedisCommand> {
  const wait = (...waitingFor: readonly Waiting[]): Plan<RedisCommand> => ({
    commands: [],
    waitingFor,
    wakeAt: now + LOOK_AGAIN_MS,
  });
  const view = clusterLeft(goal, whole);
  if (reported(view).every((node) => node.id === goal.id)) {
    return wait({ reason: 'NodeUnreachable', message: 'nobody of the cluster can be read', subjects: [] });
  }
  const more = slotsBeyond(goal, view);
  if (more !== undefined) {
    const message = `${nodeName(view, goal.id)} owns slots ${more}, which it did not own when this was approved`;
    return { commands: [], refused: [{ code: 'GOAL_OVERTAKEN', message, subjects: [goal.id] }] };
  }
  const kept = inFlight.length === 0 ? whyKeptHalfForgotten(goal, view) : undefined;
  if (kept) {
    return { commands: [], refused: [{ code: 'GOAL_OVERTAKEN', message: kept.message, subjects: kept.subjects }] };
  }
  const moves = planMoves(goal.moves, view, now, inFlight);
  if (!isReached(moves) && isStillKnown(goal, view)) return moves;
  const running = inFlight[0]?.command;
  if (running) return wait({ reason: 'Command', message: running.why, subjects: [goal.id] });
  const replicas = planReplicas(goal, view, wait, now);
  if (replicas) return replicas;
  return planForget(goal, view, wait, now);
}

/** After the last FORGET nobody can say anything about its slots any more, and need not. */
function isStillKnown(goal: DeleteNodeGoal, view: ClusterView): boolean {
  return reported(view).some((node) => node.id !== goal.id && lineAbout(node, goal.id) !== undefined);
}

/** Who is forgotten, be it by some, may not be elected: a fix introduces it again, and must not wait for this. */
function whyKeptHalfForgotten(goal: DeleteNodeGoal, view: ClusterView): Waiting | undefined {
  const victim = nodeOf(view, goal.id);
  const others = reported(view).filter((node) => node.id !== goal.id);
  if (!victim || !isReported(victim) || others.every((node) => lineAbout(node, goal.id))) return undefined;
  const kept = whyKept(view, victim);
  return kept?.reason === 'PrimaryUnavailable' ? kept : undefined;
}

function slotsBeyond(goal: DeleteNodeGoal, view: ClusterView): string | undefined {
  const node = nodeOf(view, goal.id);
  const expected = unionSlots(...goal.moves.moves.map((move) => slotsFromText(move.slots)));
  const more = node ? minusSlots(ownSlots(node), expected) : [];
  return countSlots(more) > 0 ? formatSlots(more) : undefined;
}

type Wait = (...waitingFor: readonly Waiting[]) => Plan<RedisCommand>;

/** Nobody may follow the node when it is forgotten: a replica cannot forget its primary. */
function planReplicas(
  goal: DeleteNodeGoal,
  view: ClusterView,
  wait: Wait,
  now: number,
): Plan<RedisCommand> | undefined {
  const followers = replicasOf(view, goal.id);
  const commands: Replicate[] = [];
  const waiting: Waiting[] = [];
  for (const follower of followers) {
    const chosen = nodeOf(view, goal.replicas.find((each) => each.id === follower.id)?.to ?? '');
    const to = chosen ? standingFor(goal, view, chosen) : undefined;
    const kept = isReported(follower) ? whyKept(view, follower) : undefined;
    if (!isReported(follower)) {
      if (isFailed(follower)) continue;
      const message = `${nodeName(view, follower.id)} follows the node and cannot be read`;
      waiting.push({ reason: 'NodeUnreachable', message, subjects: [follower.id] });
    } else if (kept) {
      waiting.push(kept);
    } else if (to) {
      commands.push({
        type: 'replicate',
        replica: refOf(follower),
        primary: refOf(to),
        mustBeEmpty: false,
        why: `${nodeName(view, goal.id)}, which it follows, leaves the cluster`,
      });
    } else if (chosen) {
      const message = `${nodeName(view, chosen.id)}, which ${nodeName(view, follower.id)} shall follow, is a primary again or has been failed over`;
      waiting.push({ reason: 'PrimaryUnavailable', message, subjects: [chosen.id] });
    } else {
      const message = `${nodeName(view, follower.id)} follows the node, and no primary was chosen for it or it is gone`;
      return { commands: [], refused: [{ code: 'GOAL_OVERTAKEN', message, subjects: [follower.id] }] };
    }
  }
  const syncing = goal.replicas
    .map(({ id }) => nodeOf(view, id))
    .filter((node) => node !== undefined)
    .filter(
      (node) => isReported(node) && primaryIdOf(node) !== goal.id && primaryIdOf(node) !== undefined && !isInSync(node),
    );
  for (const node of syncing) {
    waiting.push({ reason: 'ReplicaSync', message: `${nodeName(view, node.id)} is in sync`, subjects: [node.id] });
  }
  if (commands.length > 0) return { commands, wakeAt: now + LOOK_AGAIN_MS };
  return waiting.length > 0 ? wait(...waiting) : undefined;
}

/** The primary that was chosen, or the one that took over for it. */
function standingFor(goal: DeleteNodeGoal, view: ClusterView, chosen: NodeView): ReportedNode | undefined {
  const follows = isReported(chosen) ? chosen.report.value.self.primaryId : undefined;
  const ids = [chosen.id, follows, ...(goal.moves.standIns?.[chosen.id] ?? [])];
  return reportedPrimaries(view).find((node) => node.id !== goal.id && ids.includes(node.id));
}

function planForget(goal: DeleteNodeGoal, view: ClusterView, wait: Wait, now: number): Plan<RedisCommand> {
  const victim = nodeOf(view, goal.id);
  const others = reported(view).filter((node) => node.id !== goal.id);
  const remembering = others.filter((node) => lineAbout(node, goal.id) !== undefined);
  const itself = victim && isReported(victim) ? victim : undefined;
  // It must let go too, which its own table shows. A primary that holds keys refuses RESET: forgotten by all, it is left alone.
  const attached =
    goal.reset &&
    itself !== undefined &&
    (itself.report.value.self.role === 'replica' || keyCount(itself) === 0) &&
    others.some((node) => lineAbout(itself, node.id) !== undefined);
  if (remembering.length === 0 && !attached) return { commands: [] };
  const kept = itself && whyKept(view, itself);
  if (kept) return wait(kept);
  const moved = movedNodes(view);
  if (moved.length > 0) {
    const message = `${nodeNames(view, moved)} must be found at their new addresses first: run \`reeve redis fix\``;
    return wait({ reason: 'AddressSpread', message, subjects: moved });
  }
  // One that misses the FORGET brings the node back by gossip.
  const unread = unreadMembers(view).filter((node) => node.id !== goal.id);
  if (unread.length > 0) {
    const ids = unread.map((node) => node.id);
    return wait({ reason: 'NodeUnreachable', message: `${nodeNames(view, ids)} can be read`, subjects: ids });
  }
  // The dead follow whom they followed, for ever: nobody is told otherwise.
  const dead = new Set(view.nodes.filter((node) => !isReported(node) && isFailed(node)).map(({ id }) => id));
  const stillSees = remembering.filter(
    (node) =>
      countSlots(lineAbout(node, goal.id)?.slots ?? []) > 0 ||
      node.report.value.others.some((line) => line.primaryId === goal.id && !dead.has(line.id)),
  );
  if (stillSees.length > 0) {
    const ids = stillSees.map((node) => node.id);
    const message = `${nodeNames(view, ids)} hear that nothing depends on ${nodeName(view, goal.id)} any more`;
    return wait({ reason: 'GossipAgreement', message, subjects: ids });
  }
  const command: ForgetNode = {
    type: 'forget-node',
    node: victim ? refOf(victim) : { id: goal.id, endpoint: goal.endpoint },
    by: others.map(refOf),
    reset: goal.reset && itself !== undefined,
    why: 'it owns no slot and nobody who lives follows it: all forget it within the time in which it cannot come back',
  };
  return { commands: [command], wakeAt: now + LOOK_AGAIN_MS };
}
