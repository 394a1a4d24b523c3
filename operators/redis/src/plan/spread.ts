/**
 * Spreads the primaries over hosts and zones again: failovers leave them where the surviving replicas were. By graceful
 * failovers to replicas that are in sync, as few as give the best spread, one after the other. Where it is asked for,
 * replicas that share something with their primary change places with others first, a pair at a time.
 */
import { type InFlight, isReached, type Plan, reached } from '@reeve/runtime';
import type { RedisCommand, Replicate } from '../api/commands.ts';
import type { Decision, Operation } from '../api/operation.ts';
import { countSlots } from '../api/slots.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import { placedMembers } from './check-placement.ts';
import { candidatesFor, isInSync, planFailover } from './failover.ts';
import { whyKept } from './last-copy.ts';
import { LOOK_AGAIN_MS } from './moves.ts';
import { movesGate, toleratedReasons } from './moves-gate.ts';
import { bestPrimaries } from './placement.ts';
import { type Placed, placementScore } from './placement-score.ts';
import { type ReplicaMove, replicaSwap } from './replica-swap.ts';
import {
  isReported,
  nodeName,
  nodeNames,
  nodeOf,
  ownSlots,
  primaryIdOf,
  refOf,
  replicasOf,
  reported,
  reportedPrimaries,
  roleOf,
} from './topology.ts';

export interface SpreadRequest {
  /** Annotations in order of weight: `zone`, `host`. */
  readonly spreadBy: readonly string[];
  /** Primaries that stay what they are. */
  readonly keep?: readonly NodeId[];
  /**
   * Replicas may change places, too. Each is filled anew, and one shard has a replica less meanwhile: never by default.
   */
  readonly moveReplicas?: boolean;
}

export interface SpreadGoal {
  /** In this order. */
  readonly promotions: readonly { readonly replica: NodeId; readonly primary: NodeId }[];
  /** Before these. Goals of earlier versions have none. */
  readonly moves?: readonly ReplicaMove[];
}

export const spreadOperation: Operation<SpreadRequest, SpreadGoal> = {
  kind: 'spread',
  needs: () => ({}),
  decide,
  goalNeeds: () => ({}),
  plan: planSpread,
};

function decide(request: SpreadRequest, view: ClusterView): Decision<SpreadGoal> {
  const gate = movesGate(view);
  if (gate.refused.length > 0) return { refused: gate.refused };
  const moves = request.moveReplicas ? swapOf(view, request) : [];
  if (moves.length > 0) {
    return {
      goal: { promotions: [], moves },
      steps: moves.map(({ replica, to }) => `${nodeName(view, replica)} becomes a replica of ${nodeName(view, to)}`),
      reasons: [
        `a replica shares the ${request.spreadBy.join(' or ')} of its primary, and failovers alone do not change that`,
        `until both are filled, ${nodeName(view, moves[0]?.from ?? '')} has a replica less`,
        ...toleratedReasons(gate),
      ],
    };
  }
  const voters = reportedPrimaries(view).filter((node) => countSlots(ownSlots(node)) > 0);
  const isKept = ({ id }: { readonly id: NodeId }) => request.keep?.includes(id) ?? false;
  const heirsOf = ({ id }: { readonly id: NodeId }) => candidatesFor(view, id).filter(isInSync);
  const shards = voters.map((primary) => [primary, ...(isKept(primary) ? [] : heirsOf(primary))]);
  const best = bestPrimaries(shards, new Set(voters.map((node) => node.id)), request.spreadBy);
  const promotions = voters
    .map((primary, index) => ({ primary: primary.id, replica: best[index] ?? primary.id }))
    .filter(({ primary, replica }) => primary !== replica);
  const members = placedMembers(view);
  const before = placementScore(members, request.spreadBy);
  const after = placementScore(promote(members, promotions), request.spreadBy);
  if (promotions.length === 0 || after >= before) {
    return {
      goal: { promotions: [] },
      steps: [],
      reasons: [
        before === 0
          ? `primaries and replicas are spread over ${request.spreadBy.join(', ')} as well as can be`
          : 'no failover to a replica that is in sync makes the spread better',
        ...keptReasons(voters.filter(isKept), view),
      ],
      nothingToDo: true,
    };
  }
  return {
    goal: { promotions },
    steps: promotions.map(
      ({ replica, primary }) => `${nodeName(view, replica)} takes over from ${nodeName(view, primary)}, gracefully`,
    ),
    reasons: [
      `${promotions.length} failovers, the fewest that spread the primaries best over ${request.spreadBy.join(', ')}`,
      ...toleratedReasons(gate),
      ...keptReasons(voters.filter(isKept), view),
    ],
  };
}

/** Only of shards that have all that they are known to have: whoever lacks a replica already can spare none. */
function swapOf(view: ClusterView, { spreadBy, keep = [] }: SpreadRequest): readonly ReplicaMove[] {
  const isWell = (primary: NodeId) => replicasOf(view, primary).every((node) => isReported(node) && isInSync(node));
  const followed = new Map(reported(view).map((node) => [node.id, primaryIdOf(node)]));
  const mayMove = (id: NodeId) => isWell(followed.get(id) ?? '');
  return replicaSwap(placedMembers(view), spreadBy, { mayMove, isKept: (id) => keep.includes(id) });
}

function keptReasons(kept: readonly { readonly id: NodeId }[], view: ClusterView): readonly string[] {
  if (kept.length === 0) return [];
  const names = nodeNames(
    view,
    kept.map(({ id }) => id),
  );
  return [`${names} stay: a failover task put them there`];
}

/** The members after failovers: the replica leads, the old primary and the other replicas follow it. */
function promote(members: readonly Placed[], promotions: SpreadGoal['promotions']): readonly Placed[] {
  const leader = new Map(promotions.map(({ primary, replica }) => [primary, replica]));
  const promoted = new Set(leader.values());
  return members.map(({ id, annotations, role, primaryId }): Placed => {
    if (promoted.has(id)) return { id, annotations, role: 'primary' };
    const follows = leader.get(id) ?? (primaryId === undefined ? undefined : (leader.get(primaryId) ?? primaryId));
    return follows === undefined ? { id, annotations, role } : { id, annotations, role: 'replica', primaryId: follows };
  });
}

function planSpread(
  goal: SpreadGoal,
  view: ClusterView,
  now: number,
  inFlight: readonly InFlight<RedisCommand>[],
): Plan<RedisCommand> {
  for (const move of goal.moves ?? []) {
    const plan = planMove(move, view, now, inFlight);
    if (!isReached(plan)) return plan;
  }
  for (const promotion of goal.promotions) {
    const plan = planFailover({ ...promotion, mode: 'graceful' }, view, now, inFlight);
    if (!isReached(plan)) return plan;
  }
  return reached;
}

function planMove(
  { replica: id, from, to }: ReplicaMove,
  view: ClusterView,
  now: number,
  inFlight: readonly InFlight<RedisCommand>[],
): Plan<RedisCommand> {
  const wait = (reason: string, message: string): Plan<RedisCommand> => ({
    commands: [],
    waitingFor: [{ reason, message, subjects: [id] }],
    wakeAt: now + LOOK_AGAIN_MS,
  });
  const overtaken = (message: string): Plan<RedisCommand> => ({
    commands: [],
    refused: [{ code: 'GOAL_OVERTAKEN', message, subjects: [id] }],
  });
  const running = inFlight[0]?.command;
  if (running) return wait('Command', running.why);
  const node = nodeOf(view, id);
  const primary = nodeOf(view, to);
  if (!node || !primary) return overtaken(`${nodeName(view, node ? to : id)} is not there any more`);
  if (!isReported(node)) return wait('NodeUnreachable', `${nodeName(view, id)} can be read`);
  const follows = primaryIdOf(node);
  if (follows === to) return isInSync(node) ? reached : wait('ReplicaSync', `${nodeName(view, id)} is in sync`);
  if (follows !== from) return overtaken(`${nodeName(view, id)} does not follow ${nodeName(view, from)} any more`);
  if (!isReported(primary)) return wait('NodeUnreachable', `${nodeName(view, to)} can be read`);
  if (roleOf(primary) !== 'primary') return overtaken(`${nodeName(view, to)} has been failed over`);
  const left = nodeOf(view, from);
  if (left && roleOf(left) === 'replica') return overtaken(`${nodeName(view, from)} has been failed over`);
  const kept = whyKept(view, node);
  if (kept) return wait(kept.reason, kept.message);
  if (!left || !isInSync(node)) {
    return wait('ReplicaSync', `${nodeName(view, id)} is in sync with ${nodeName(view, from)}, which it leaves`);
  }
  const command: Replicate = {
    type: 'replicate',
    replica: refOf(node),
    primary: refOf(primary),
    mustBeEmpty: false,
    leaves: refOf(left),
    why: `replicas of ${nodeName(view, from)} and ${nodeName(view, to)} change places, so that none shares one with its primary`,
  };
  return { commands: [command], wakeAt: now + LOOK_AGAIN_MS };
}
