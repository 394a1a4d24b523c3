/**
 * Spreads the primaries over hosts and zones again: failovers leave them where the surviving replicas were. Only by
 * graceful failovers to replicas that are in sync, as few as give the best spread, one after the other.
 */
import { type InFlight, isReached, type Plan, reached } from '@reeve/runtime';
import type { RedisCommand } from '../api/commands.ts';
import type { Decision, Operation } from '../api/operation.ts';
import { countSlots } from '../api/slots.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import { placedMembers } from './check-placement.ts';
import { candidatesFor, isInSync, planFailover } from './failover.ts';
import { movesGate, toleratedReasons } from './moves-gate.ts';
import { bestPrimaries } from './placement.ts';
import { type Placed, placementScore } from './placement-score.ts';
import { nodeName, nodeNames, ownSlots, reportedPrimaries } from './topology.ts';

export interface SpreadRequest {
  /** Annotations in order of weight: `zone`, `host`. */
  readonly spreadBy: readonly string[];
  /** Primaries that stay what they are. */
  readonly keep?: readonly NodeId[];
}

export interface SpreadGoal {
  /** In this order. */
  readonly promotions: readonly { readonly replica: NodeId; readonly primary: NodeId }[];
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
  for (const promotion of goal.promotions) {
    const plan = planFailover({ ...promotion, mode: 'graceful' }, view, now, inFlight);
    if (!isReached(plan)) return plan;
  }
  return reached;
}
