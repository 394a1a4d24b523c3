/**
 * One turn of a cluster's worker: go on with what runs, or take what is next. All wishes of one cluster (changes of topology and
 * tasks) come through here under one key, so that they exclude each other.
 */
import type { Candidate, Operation, OperationOutcome } from './operation.ts';
import type { Ledger, LedgerResource } from './ledger.ts';
import { decideOperation } from './pick.ts';

/** How the work of an operation stands after one turn. */
export type OperationTurn =
  /** It goes on. Whoever works on it wakes the key when there is something to do, or `wakeAt` does. */
  | { readonly state: 'running'; readonly wakeAt?: number; readonly step?: string }
  | { readonly state: 'ended'; readonly outcome: Exclude<OperationOutcome, 'yielded'>; readonly message?: string }
  /** It stopped between two steps and let go of everything: it will be taken again when its turn comes. */
  | { readonly state: 'yielded' };

export interface OperationWork {
  readonly operation: Operation;
  /** Begin no further step; when none is under way, answer `yielded`. */
  readonly mustYield: boolean;
  readonly signal: AbortSignal;
}

export type ClusterTurn =
  | { readonly state: 'resting' }
  | { readonly state: 'running'; readonly operation: Operation; readonly wakeAt?: number }
  /** Something changed (an operation ended, somebody else has the lock): come back at once. */
  | { readonly state: 'again' };

export async function operationTurn<T extends LedgerResource>(
  ledger: Ledger<T>,
  given: T,
  candidates: readonly Candidate[],
  work: (todo: OperationWork) => Promise<OperationTurn>,
  signal: AbortSignal,
): Promise<ClusterTurn> {
  let cluster = ledger.newest(given);
  let decision = decideOperation(cluster.status?.currentOperation, candidates);
  if (decision.do === 'take') {
    const { candidate } = decision;
    const after = await ledger.take(cluster, candidate, signal);
    if (!after) return { state: 'again' };
    cluster = after;
    decision = decideOperation(cluster.status?.currentOperation, candidates);
    if (decision.do !== 'continue') return { state: 'again' };
  }
  if (decision.do === 'rest') return { state: 'resting' };
  const { operation, mustYield } = decision;
  const turn = await work({ operation, mustYield, signal });
  if (turn.state === 'running') {
    if (turn.step !== undefined) await ledger.note(cluster, operation.id, turn.step, signal);
    return { state: 'running', operation, ...(turn.wakeAt !== undefined && { wakeAt: turn.wakeAt }) };
  }
  const how = turn.state === 'yielded' ? { outcome: 'yielded' as const } : withoutState(turn);
  await ledger.end(cluster, operation.id, how, signal);
  return { state: 'again' };
}

function withoutState({ outcome, message }: Extract<OperationTurn, { state: 'ended' }>) {
  return { outcome, ...(message !== undefined && { message }) };
}
