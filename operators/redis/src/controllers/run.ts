/**
 * Runs one operation on one cluster: observe → decide → approve → { observe → plan → execute } until the goal holds.
 * It remembers nothing that it needs: killed at any line, `resumeOperation` with the journal's goal finds the way on.
 */
import { digest, type Refusal } from '@reeve/runtime';
import { type Decided, isRefused, type Operation } from '../api/operation.ts';
import type { ClusterView } from '../api/view.ts';
import { judgeServer } from '../plan/create-nodes.ts';
import { reported } from '../plan/topology.ts';
import type { Environment } from './environment.ts';
import type { Journal } from './journal.ts';
import { observeFor, suffices } from './observing.ts';
import type { Decidable } from './procedure.ts';
import { type LoopEnd, pursue } from './pursue.ts';

export interface Proposal<Goal> {
  readonly kind: string;
  readonly decided: Decided<Goal>;
  readonly digest: string;
  readonly view: ClusterView;
}

export type RunResult<Goal> =
  | { readonly status: 'nothing-to-do'; readonly proposal: Proposal<Goal> }
  | { readonly status: 'declined'; readonly proposal: Proposal<Goal> }
  | {
      readonly status: 'refused';
      readonly refused: readonly Refusal[];
      readonly view: ClusterView;
      readonly started: boolean;
    }
  | LoopEnd;

/** The name of a goal that an approval carries. When the goal was set does not belong to it. */
export function goalDigest(kind: string, goal: unknown): string {
  if (typeof goal === 'object' && goal !== null && 'startedAt' in goal) {
    const { startedAt: _startedAt, ...rest } = goal;
    return digest({ kind, goal: rest });
  }
  return digest({ kind, goal });
}

/** Observes and decides, changes nothing: the dry run. */
export async function propose<Request, Goal>(
  operation: Decidable<Request, Goal>,
  request: Request,
  environment: Environment,
): Promise<Proposal<Goal> | { readonly refused: readonly Refusal[]; readonly view: ClusterView }> {
  const view = await observeFor(environment, (seen) => operation.needs(request, seen));
  // Whatever is asked: plans know the servers that they were tested with, and no others.
  const unfit = reported(view).flatMap(judgeServer);
  if (unfit.length > 0) return { refused: unfit, view };
  const decision = operation.decide(request, view);
  if (isRefused(decision)) return { refused: decision.refused, view };
  return { kind: operation.kind, decided: decision, digest: goalDigest(operation.kind, decision.goal), view };
}

export interface Approval<Goal> {
  /**
   * Asked once with the proposal. `digest`: the digest that was approved; a proposal made after that must have the
   * same one. `undefined`: declined.
   */
  approve(proposal: Proposal<Goal>): Promise<string | undefined>;
  /**
   * Any plan is approved beforehand (`--yes`): nobody took time to think, so the proposal itself is run. On a cluster
   * that clients write to, the plan of a moment later may always be another one.
   */
  readonly anyPlan?: boolean;
  /** Called with the approved goal before anything is changed. */
  begin(proposal: Proposal<Goal>): Promise<Journal | undefined>;
}

export async function runOperation<Request, Goal>(
  operation: Operation<Request, Goal>,
  request: Request,
  environment: Environment,
  approval: Approval<Goal>,
): Promise<RunResult<Goal>> {
  const first = await propose(operation, request, environment);
  if ('refused' in first) return { status: 'refused', refused: first.refused, view: first.view, started: false };
  if (first.decided.nothingToDo) return { status: 'nothing-to-do', proposal: first };
  const approved = await approval.approve(first);
  if (approved === undefined) return { status: 'declined', proposal: first };

  // The approval took its time: the world may have moved on. What is run is what was approved, or nothing.
  const fresh = approval.anyPlan ? first : await propose(operation, request, environment);
  if ('refused' in fresh) return { status: 'refused', refused: fresh.refused, view: fresh.view, started: false };
  if (fresh.digest !== approved) {
    const message = `the plan that was approved (${approved}) is not the plan of now (${fresh.digest}): the cluster changed in between`;
    return {
      status: 'refused',
      refused: [{ code: 'PLAN_STALE', message, subjects: [] }],
      view: fresh.view,
      started: false,
    };
  }
  const journal = await approval.begin(fresh);
  const { goal } = fresh.decided;
  const isEnough = suffices(fresh.view, {
    asked: operation.needs(request, fresh.view),
    needed: operation.goalNeeds(goal, fresh.view),
    now: environment.ports.clock.now(),
  });
  return pursue(operation, goal, environment, journal, isEnough ? fresh.view : undefined);
}

/** Goes on with a goal from a journal, from whatever state the cluster is in now. */
export async function resumeOperation<Request, Goal>(
  operation: Operation<Request, Goal>,
  goal: Goal,
  environment: Environment,
  journal: Journal | undefined,
): Promise<LoopEnd> {
  await journal?.append({ entry: 'resumed' });
  return pursue(operation, renewed(goal, environment.ports.clock.now()), environment, journal);
}

/** A time limit that a goal carries begins anew: a goal may be resumed days after it was set. */
function renewed<Goal>(goal: Goal, now: number): Goal {
  return typeof goal === 'object' && goal !== null && 'startedAt' in goal ? { ...goal, startedAt: now } : goal;
}
