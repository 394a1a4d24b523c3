/**
 * The way back of operations that move slots, as an operation of its own: the moves of a journal's goal, reversed, for
 * what has arrived or is on its way. It runs and resumes as a plain reshard: moves are all that is left of the goal.
 */
import type { Refusal } from '@reeve/runtime';
import type { Decision, Operation } from '../api/operation.ts';
import { countSlots, intersectSlots, type SlotRanges, unionSlots } from '../api/slots.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import { type DeleteNodeGoal, deleteNodeOperation } from '../plan/delete-node.ts';
import { type MoveGoal, planMoves, reverseMoves } from '../plan/moves.ts';
import { remainingWork } from '../plan/moves-remaining.ts';
import { atomicJobs, jobsUnknown, lineAbout, mainCluster, slotsFromText } from '../plan/moves-view.ts';
import { reshardOperation } from '../plan/reshard.ts';
import { isReported, nodeName, nodeOf, primaryIdOf, reported } from '../plan/topology.ts';

export interface RollbackRequest {
  /** Of the operation to take back, from its journal. */
  readonly kind: string;
  readonly goal: unknown;
  /** What the journal is called, for the reasons. */
  readonly journal: string;
}

export const rollbackOperation: Operation<RollbackRequest, MoveGoal> = {
  kind: reshardOperation.kind,
  goalNeeds: reshardOperation.goalNeeds,
  plan: reshardOperation.plan,
  // A deletion may have got so far that nobody leads to the node any more.
  needs: (request) => {
    const deletion = deletionOf(request);
    return deletion ? { alsoAsk: [deletion.endpoint] } : {};
  },
  decide,
};

function deletionOf({ kind, goal }: RollbackRequest): DeleteNodeGoal | undefined {
  return kind === deleteNodeOperation.kind ? (goal as DeleteNodeGoal) : undefined;
}

function movesOf(request: RollbackRequest): MoveGoal | undefined {
  const goal: unknown = deletionOf(request)?.moves ?? request.goal;
  const hasMoves = typeof goal === 'object' && goal !== null && Array.isArray((goal as { moves?: unknown }).moves);
  return hasMoves ? (goal as MoveGoal) : undefined;
}

function decide(request: RollbackRequest, seen: ClusterView): Decision<MoveGoal> {
  const { cluster: view } = mainCluster(seen);
  const moved = movesOf(request);
  if (!moved) return impossible(`'${request.kind}' moves no slots: there is nothing to move back`, [request.kind]);
  const deletion = deletionOf(request);
  const forgotten = deletion && forgottenBy(deletion, view);
  if (forgotten) return impossible(forgotten, [deletion.id]);
  const whole = reversed(moved);
  const refused = [...unreachable(whole, view), ...unknownJobs(view)];
  if (refused.length > 0) return { refused };
  const goal = goalBack(moved, whole, view);
  const plan = planMoves(goal, view, view.observedAt, []);
  if (plan.refused?.length) return { refused: plan.refused };
  return {
    goal,
    steps: goal.moves.map(
      ({ source, target, slots }) =>
        `move slots ${slots} back from ${nodeName(view, source)} to ${nodeName(view, target)}`,
    ),
    reasons: [`moves back what ${request.journal} moved`, ...(deletion ? replicasThatStay(deletion, view) : [])],
    nothingToDo: goal.moves.length === 0,
  };
}

function impossible(message: string, subjects: readonly string[]): { readonly refused: readonly Refusal[] } {
  return { refused: [{ code: 'ROLLBACK_IMPOSSIBLE', message, subjects }] };
}

function reversed(goal: MoveGoal): MoveGoal {
  return { ...goal, moves: goal.moves.map(({ source, target, slots }) => ({ source: target, target: source, slots })) };
}

/** Slots that a server still moves by itself (its tool was killed) will arrive: they must come back, too. */
function goalBack(moved: MoveGoal, whole: MoveGoal, view: ClusterView): MoveGoal {
  const arrived = new Set(reverseMoves(moved, view).moves.map(({ slots }) => slots));
  const onTheWay: SlotRanges = unionSlots(...atomicJobs(view).map((job) => job.slots));
  const isAffected = (slots: string) =>
    arrived.has(slots) || countSlots(intersectSlots(slotsFromText(slots), onTheWay)) > 0;
  return { ...whole, moves: whole.moves.filter(({ slots }) => isAffected(slots)) };
}

/** Whoever has forgotten the node takes no word from it: slots on it would be lost to its clients. */
function forgottenBy({ id }: DeleteNodeGoal, view: ClusterView): string | undefined {
  const others = reported(view).filter((node) => node.id !== id);
  const forgetful = others.filter((node) => lineAbout(node, id) === undefined);
  if (forgetful.length === 0) return undefined;
  return `${forgetful.length} of ${others.length} nodes have forgotten ${nodeName(view, id)} already: slots cannot go back to it`;
}

/** Those that slots must go back to, and cannot. */
function unreachable(whole: MoveGoal, view: ClusterView): readonly Refusal[] {
  const ids = new Set<NodeId>(remainingWork(whole, view).unavailable.flatMap(({ subjects }) => subjects));
  return [...ids].map((id) => {
    const node = nodeOf(view, id);
    const name = nodeName(view, id);
    if (!node || !isReported(node)) {
      const message = `${name}, to which slots must go back, cannot be read`;
      return { code: 'NODE_UNREACHABLE', message, subjects: [id] };
    }
    const primary = primaryIdOf(node);
    const message = `${name} has given away its last slot and follows ${primary === undefined ? 'another' : nodeName(view, primary)} now: slots cannot go back to it`;
    return { code: 'ROLLBACK_IMPOSSIBLE', message, subjects: [id] };
  });
}

function unknownJobs(view: ClusterView): readonly Refusal[] {
  return jobsUnknown(view).map(({ node, why }) => ({
    code: 'SLOTS_BUSY',
    message: `whether an atomic slot migration runs on ${nodeName(view, node.id)} is not known: ${why}`,
    subjects: [node.id],
  }));
}

function replicasThatStay({ id, replicas }: DeleteNodeGoal, view: ClusterView): readonly string[] {
  return replicas
    .map((replica) => nodeOf(view, replica.id))
    .filter((node) => node !== undefined)
    .filter((node) => primaryIdOf(node) !== undefined && primaryIdOf(node) !== id)
    .map((node) => `${nodeName(view, node.id)}, once its replica, stays where it is now: only slots are moved back`);
}
