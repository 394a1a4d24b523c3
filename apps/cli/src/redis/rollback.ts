/** The way back of operations that move slots: the same moves, reversed, for what has arrived. */
import { type ClusterView, type MoveGoal, operationOfKind, reverseMoves } from '@reeve/redis';
import { cliError } from '../errors.ts';

export interface Rollback {
  readonly kind: string;
  readonly goal: MoveGoal;
  readonly steps: readonly string[];
  readonly view: ClusterView;
}

function isMoveGoal(goal: unknown): goal is MoveGoal {
  return typeof goal === 'object' && goal !== null && Array.isArray((goal as { moves?: unknown }).moves);
}

export function rollbackGoal(kind: string, goal: unknown, view: ClusterView): Rollback {
  if (!isMoveGoal(goal)) {
    throw cliError('ROLLBACK_IMPOSSIBLE', `'${kind}' moves no slots: there is nothing to move back`, [kind]);
  }
  // Run as a plain reshard, whatever it was before: moves are all that is left of it.
  const back = reverseMoves(goal, view);
  const name = operationOfKind('reshard')?.kind ?? 'reshard';
  const steps = back.moves.map(
    ({ source, target, slots }) => `move slots ${slots} from ${source.slice(0, 8)} to ${target.slice(0, 8)}`,
  );
  return { kind: name, goal: back, steps, view };
}
