/** Moves a number of slots to one primary, from all others or from those named: exactly that number. */
import type { Refusal } from '@reeve/runtime';
import type { Engine, Pace } from '../api/commands.ts';
import type { Decision, Needs, Operation } from '../api/operation.ts';
import { countSlots, formatSlots, takeSlots } from '../api/slots.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import { moveGoal, planMoves, type MoveGoal, type SlotMove } from './moves.ts';
import { movesGate, toleratedReasons } from './moves-gate.ts';
import { moveSteps, shareOut } from './moves-share.ts';
import { isReported, nodeName, nodeOf, ownSlots, type ReportedNode, reportedPrimaries } from './topology.ts';

export interface ReshardRequest {
  readonly slots: number;
  readonly to: NodeId;
  readonly from: 'all' | readonly NodeId[];
  readonly engine: Engine;
  readonly pace: Pace;
}

const nothingElse: Needs = {};

export const reshardOperation: Operation<ReshardRequest, MoveGoal> = {
  kind: 'reshard',
  needs: () => nothingElse,
  decide,
  goalNeeds: () => nothingElse,
  plan: planMoves,
};

function decide(request: ReshardRequest, view: ClusterView): Decision<MoveGoal> {
  const gate = movesGate(view);
  if (gate.refused.length > 0) return { refused: gate.refused };
  const wrong = badRequest(request, view);
  if (wrong.length > 0) return { refused: wrong };

  const sources = sourcesOf(request, view);
  const available = sources.reduce((sum, node) => sum + countSlots(ownSlots(node)), 0);
  if (request.slots > available) {
    const message = `${request.slots} slots are asked for, but the sources own ${available}`;
    return { refused: [{ code: 'NOT_ENOUGH_SLOTS', message, subjects: sources.map((node) => node.id) }] };
  }
  const moves = reshardMoves(request.slots, request.to, sources);
  const goal = moveGoal(moves, view, request.engine, request.pace);
  return {
    goal,
    steps: moveSteps(view, moves),
    reasons: [
      `exactly ${request.slots} slots, in proportion to what ${sources.length === 1 ? 'the source owns' : `the ${sources.length} sources own`}, the lowest of each first`,
      ...emptied(view, sources, moves),
      ...toleratedReasons(gate),
    ],
  };
}

/** Shares in proportion to the slots of each source; what rounding leaves goes to the largest remainders. */
function reshardMoves(count: number, to: NodeId, sources: readonly ReportedNode[]): readonly SlotMove[] {
  const shares = shareOut(
    count,
    sources.map((node) => ({ id: node.id, weight: countSlots(ownSlots(node)) })),
  );
  return sources
    .map((node) => ({
      source: node.id,
      target: to,
      slots: formatSlots(takeSlots(ownSlots(node), shares.get(node.id) ?? 0)),
    }))
    .filter((move) => move.slots !== '');
}

function sourcesOf(request: ReshardRequest, view: ClusterView): readonly ReportedNode[] {
  const { from } = request;
  return reportedPrimaries(view).filter((node) =>
    from === 'all' ? node.id !== request.to && countSlots(ownSlots(node)) > 0 : from.includes(node.id),
  );
}

function badRequest(request: ReshardRequest, view: ClusterView): readonly Refusal[] {
  const refused: Refusal[] = [];
  if (!Number.isInteger(request.slots) || request.slots <= 0) {
    refused.push({ code: 'BAD_SLOT_COUNT', message: `${request.slots} is not a number of slots`, subjects: [] });
  }
  const from = request.from === 'all' ? [] : request.from;
  for (const id of new Set([request.to, ...from])) {
    const problem = primaryProblem(view, id);
    if (problem) refused.push(problem);
  }
  if (from.includes(request.to)) {
    const message = `${nodeName(view, request.to)} is named as source and as target`;
    refused.push({ code: 'SOURCE_IS_TARGET', message, subjects: [request.to] });
  }
  return refused;
}

/** Why a node cannot give or take slots. */
function primaryProblem(view: ClusterView, id: NodeId): Refusal | undefined {
  const node = nodeOf(view, id);
  if (!node) return { code: 'UNKNOWN_NODE', message: `no node of this cluster has the id ${id}`, subjects: [id] };
  const name = nodeName(view, id);
  if (!isReported(node)) return { code: 'NODE_UNREACHABLE', message: `${name} cannot be read`, subjects: [id] };
  if (node.report.value.self.role !== 'primary') {
    return { code: 'NOT_A_PRIMARY', message: `${name} is a replica: only primaries own slots`, subjects: [id] };
  }
  return undefined;
}

function emptied(view: ClusterView, sources: readonly ReportedNode[], moves: readonly SlotMove[]): readonly string[] {
  return sources
    .filter((node) => moves.some((move) => move.source === node.id && move.slots === formatSlots(ownSlots(node))))
    .map((node) => `${nodeName(view, node.id)} gives all its slots away and then has no vote in failovers`);
}
