/**
 * Evens out the primaries by weight: by number of slots, or by what the slots cost (keys, bytes, measured load).
 * Moves as little as reaches the balance, between as few pairs of nodes as possible.
 */
import type { Refusal } from '@reeve/runtime';
import type { Engine, Pace } from '../api/commands.ts';
import type { Decision, Needs, Operation } from '../api/operation.ts';
import { countSlots, formatSlots, minusSlots, takeSlots } from '../api/slots.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import { moveGoal, planMoves, type MoveGoal, type SlotMove } from './moves.ts';
import { movesGate, toleratedReasons } from './moves-gate.ts';
import { moveSteps, pairUp } from './moves-share.ts';
import { balanceByCost, type Party } from './rebalance-cost.ts';
import { type Measure, measureSlots } from './rebalance-measure.ts';
import { isOverThreshold, slotTargets } from './rebalance-slots.ts';
import { nodeName, nodeOf, ownSlots, type ReportedNode, reportedPrimaries } from './topology.ts';

export interface RebalanceRequest {
  readonly by: 'slots' | Measure;
  /** Default 1; 0 takes all slots away from a node. */
  readonly weights: Readonly<Record<NodeId, number>>;
  /** Percent: nothing is moved while no node is further than this from its share. */
  readonly threshold: number;
  /** Give slots also to primaries that have none. A weight given for such a node says the same. */
  readonly useEmpty: boolean;
  readonly engine: Engine;
  readonly pace: Pace;
}

/** Fewer primaries with slots than this, and the loss of one leaves no majority. */
export const LEAST_PRIMARIES = 3;

export const rebalanceOperation: Operation<RebalanceRequest, MoveGoal> = {
  kind: 'rebalance',
  needs: (request): Needs => (request.by === 'slots' ? {} : { measureSlots: request.by }),
  decide,
  goalNeeds: () => ({}),
  plan: planMoves,
};

function decide(request: RebalanceRequest, view: ClusterView): Decision<MoveGoal> {
  const gate = movesGate(view);
  if (gate.refused.length > 0) return { refused: gate.refused };
  const parties = partiesOf(request, view);
  const wrong = badRequest(request, view, parties);
  if (wrong.length > 0) return { refused: wrong };

  const plan =
    request.by === 'slots' ? balanceBySlots(parties, request.threshold) : byCost(request, request.by, view, parties);
  if ('refused' in plan) return plan;
  const goal = moveGoal(plan.moves, view, request.engine, request.pace);
  return {
    goal,
    steps: moveSteps(view, plan.moves),
    reasons: [...plan.reasons, ...toleratedReasons(gate)],
    ...(goal.moves.length === 0 ? { nothingToDo: true } : {}),
  };
}

function partiesOf(request: RebalanceRequest, view: ClusterView): readonly Party[] {
  return reportedPrimaries(view).map((node) => {
    const slots = ownSlots(node);
    const left = countSlots(slots) === 0 && !request.useEmpty ? 0 : 1;
    return { id: node.id, weight: request.weights[node.id] ?? left, slots };
  });
}

function badRequest(request: RebalanceRequest, view: ClusterView, parties: readonly Party[]): readonly Refusal[] {
  const refused: Refusal[] = [];
  for (const [id, weight] of Object.entries(request.weights)) {
    if (!nodeOf(view, id)) {
      refused.push({ code: 'UNKNOWN_NODE', message: `no node of this cluster has the id ${id}`, subjects: [id] });
    } else if (!parties.some((party) => party.id === id)) {
      const message = `${nodeName(view, id)} is a replica: only primaries own slots`;
      refused.push({ code: 'NOT_A_PRIMARY', message, subjects: [id] });
    }
    if (!Number.isFinite(weight) || weight < 0) {
      refused.push({ code: 'BAD_WEIGHT', message: `${weight} is not a weight: it must be 0 or more`, subjects: [id] });
    }
  }
  if (!Number.isFinite(request.threshold) || request.threshold < 0) {
    refused.push({ code: 'BAD_WEIGHT', message: `${request.threshold} is not a threshold in percent`, subjects: [] });
  }
  if (refused.length > 0) return refused;
  const voters = parties.filter((party) => countSlots(party.slots) > 0).length;
  const left = parties.filter((party) => party.weight > 0);
  if (left.length === 0) {
    refused.push({
      code: 'BAD_WEIGHT',
      message: 'every primary has weight 0: the slots must go somewhere',
      subjects: [],
    });
  } else if (left.length < Math.min(LEAST_PRIMARIES, voters)) {
    const message = `${left.length} primaries would be left with slots: a cluster needs ${LEAST_PRIMARIES} to survive the loss of one`;
    refused.push({ code: 'TOO_FEW_PRIMARIES', message, subjects: left.map((party) => party.id) });
  }
  return refused;
}

interface Balance {
  readonly moves: readonly SlotMove[];
  readonly reasons: readonly string[];
}

/** Exported for its properties: the sum of what is moved is the least there is. */
export function balanceBySlots(parties: readonly Party[], threshold: number): Balance {
  const counts = parties.map(({ id, weight, slots }) => ({ id, weight, slots: countSlots(slots) }));
  const targets = slotTargets(counts);
  if (!isOverThreshold(counts, threshold)) {
    return { moves: [], reasons: [`every primary is within ${threshold} % of its share`] };
  }
  const surplus = new Map(counts.map(({ id, slots }) => [id, slots - (targets.get(id) ?? 0)]));
  const need = new Map([...surplus].map(([id, amount]) => [id, -amount]));
  const left = new Map(parties.map(({ id, slots }) => [id, slots]));
  const moves = pairUp(surplus, need).map(({ from, to, count }) => {
    const slots = takeSlots(left.get(from) ?? [], count);
    left.set(from, minusSlots(left.get(from) ?? [], slots));
    return { source: from, target: to, slots: formatSlots(slots) };
  });
  const moved = [...surplus.values()].reduce((sum, amount) => sum + Math.max(0, amount), 0);
  return {
    moves,
    reasons: [`${moved} slots move, the fewest that bring every primary within one slot of its share`],
  };
}

function byCost(
  request: RebalanceRequest,
  measure: Measure,
  view: ClusterView,
  parties: readonly Party[],
): Balance | { readonly refused: readonly Refusal[] } {
  const nodes = reportedPrimaries(view).filter((node: ReportedNode) => parties.some((party) => party.id === node.id));
  const measured = measureSlots(nodes, measure);
  if ('unmeasured' in measured) {
    const message = `${nodeName(view, measured.unmeasured)} does not tell ${measured.what} of its slots`;
    return { refused: [{ code: 'MEASURE_UNAVAILABLE', message, subjects: [measured.unmeasured] }] };
  }
  const balance = balanceByCost(parties, measured.costs, request.threshold);
  return { moves: balance.moves, reasons: [`measured: ${measured.what}`, ...balance.reasons] };
}
