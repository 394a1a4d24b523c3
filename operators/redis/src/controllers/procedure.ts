/**
 * A procedure = what is asked of a cluster and is no change of its topology: decided as an operation is, and then run from its beginning to
 * its end. Killed at any line it is run again from its beginning with the same goal, which must do no harm and come to the same end.
 */
import type { Refusal } from '@reeve/runtime';
import type { Operation } from '../api/operation.ts';
import type { ClusterView } from '../api/view.ts';
import type { Environment } from './environment.ts';

export type RunEnd =
  | { readonly outcome: 'done'; readonly message?: string }
  | { readonly outcome: 'refused'; readonly refused: readonly Refusal[] }
  | { readonly outcome: 'failed'; readonly code: string; readonly message: string };

/** What can be proposed: an operation, or a procedure. */
export type Decidable<Request, Goal> = Pick<Operation<Request, Goal>, 'kind' | 'needs' | 'decide'>;

export interface Procedure<Request, Goal> extends Decidable<Request, Goal> {
  /** What it does, for whoever looks at one that runs. */
  steps(goal: Goal, view: ClusterView): readonly string[];
  run(goal: Goal, environment: Environment): Promise<RunEnd>;
}

export function refusedEnd(code: string, message: string, subjects: readonly string[] = []): RunEnd {
  return { outcome: 'refused', refused: [{ code, message, subjects }] };
}

/** Why a run did not come to its goal, with codes. Undefined: it did. */
export function failuresOf(end: RunEnd): readonly { readonly code: string; readonly message: string }[] | undefined {
  if (end.outcome === 'done') return undefined;
  return end.outcome === 'failed' ? [end] : end.refused;
}

export function failureText(end: RunEnd): string | undefined {
  return failuresOf(end)
    ?.map(({ code, message }) => `${code}: ${message}`)
    .join('; ');
}
