/** The way back of operations that move slots: the same moves, reversed, for what has arrived. */
import { type ClusterView, type MoveGoal, reshardOperation, reverseMoves } from '@reeve/redis';
import { cliError } from '../errors.ts';

function isMoveGoal(goal: unknown): goal is MoveGoal {
  return typeof goal === 'object' && goal !== null && Array.isArray((goal as { moves?: unknown }).moves);
}

/** Run as a plain reshard, whatever it was before: moves are all that is left of it. */
export const rollbackOperation = reshardOperation;

export function rollbackGoal(kind: string, goal: unknown, view: ClusterView): MoveGoal {
  if (!isMoveGoal(goal)) {
    throw cliError('ROLLBACK_IMPOSSIBLE', `'${kind}' moves no slots: there is nothing to move back`, [kind]);
  }
  return reverseMoves(goal, view);
}

export function rollbackSteps({ moves }: MoveGoal): readonly string[] {
  return moves.map(
    ({ source, target, slots }) => `move slots ${slots} back from ${source.slice(0, 8)} to ${target.slice(0, 8)}`,
  );
}
