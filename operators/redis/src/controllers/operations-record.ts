/**
 * What the status says of a cluster's operations, as one turn changes it: which one runs, what was done, what
 * failed or was refused, which approvals are used up.
 */
import { type DeepReadonly, timestamp } from '@reeve/runtime';
import type { CurrentOperation, PastOperation, RedisClusterStatus } from '../api/cluster.ts';
import type { ClusterView, NodeId } from '../api/view.ts';
import { choicesAfter, standingChoices } from '../plan/chosen-primaries.ts';
import { type Choosing, type Setback, setbacksAfterChoice, setbacksAfterRun } from '../plan/setbacks.ts';
import { BACKUP } from './backup/backup.ts';
import { failuresOf, failureText, type RunEnd } from './procedure.ts';
import { MOST_TEXT } from './turn-status.ts';

const HISTORY = 10;

export interface Begun {
  readonly id: string;
  readonly kind: string;
  readonly why: string;
  readonly trigger: CurrentOperation['trigger'];
  readonly goal: unknown;
  /** The digest that a person approved, if one had to. */
  readonly approval?: string | undefined;
}

/** Those that the history still has: the number of all is in the status. */
export function usedApprovals(history: DeepReadonly<RedisClusterStatus>['operations'] = []): readonly string[] {
  return history.flatMap(({ approval }) => approval ?? []);
}

export class OperationsRecord {
  #current: CurrentOperation | undefined;
  #history: readonly PastOperation[];
  #chosen: readonly NodeId[];
  #approvals: number;
  #setbacks: readonly Setback[];
  #hasLeftDraft = false;

  constructor(before: DeepReadonly<RedisClusterStatus>) {
    this.#current = before.currentOperation as CurrentOperation | undefined;
    this.#history = (before.operations ?? []) as readonly PastOperation[];
    this.#chosen = before.chosenPrimaries ?? [];
    this.#approvals = before.approvals ?? 0;
    this.#setbacks = before.setbacks ?? [];
  }

  get current(): CurrentOperation | undefined {
    return this.#current;
  }

  /** Newest first. */
  get history(): readonly PastOperation[] {
    return this.#history;
  }

  /** Primaries that a person chose. */
  get chosen(): readonly NodeId[] {
    return this.#chosen;
  }

  /** How many were used up. */
  get approvals(): number {
    return this.#approvals;
  }

  /** Those of them that are still known. */
  get usedApprovals(): readonly string[] {
    return usedApprovals(this.#history);
  }

  get setbacks(): readonly Setback[] {
    return this.#setbacks;
  }

  /** A backup was given up in this turn. */
  get hasLeftDraft(): boolean {
    return this.#hasLeftDraft;
  }

  saw(view: ClusterView, isWhole: boolean): void {
    this.#chosen = standingChoices(this.#chosen, view, isWhole);
  }

  chose(choosing: Choosing): void {
    this.#setbacks = setbacksAfterChoice(this.#setbacks, choosing);
  }

  /** Its approval is used up by the same write that makes it the goal: whoever dies before has done neither, whoever dies after goes on. */
  begin({ id, kind, why, trigger, goal, approval }: Begun, now: number): void {
    this.#current = {
      id,
      kind,
      why: why.slice(0, MOST_TEXT),
      trigger,
      startedAt: timestamp(now),
      goal: goal as CurrentOperation['goal'],
      ...(approval !== undefined && { approval }),
    };
    if (approval !== undefined) this.#approvals++;
  }

  end(end: RunEnd, now: number): void {
    const { kind, trigger } = this.#current ?? {};
    const isAsked = trigger?.kind === 'RedisTask';
    // What a person asked for in vain is the task's to tell.
    if (kind !== undefined && (end.outcome === 'done' || !isAsked)) {
      this.#setbacks = setbacksAfterRun(this.#setbacks, kind, failuresOf(end));
    }
    this.past(end.outcome, now, failureText(end));
  }

  past(outcome: PastOperation['outcome'], now: number, message?: string): void {
    if (!this.#current) return;
    const { goal, ...operation } = this.#current;
    const { kind, trigger } = operation;
    if (outcome === 'done') {
      this.#chosen = choicesAfter(this.#chosen, { kind, goal, isAsked: trigger.kind === 'RedisTask' });
    }
    const past = {
      ...operation,
      endedAt: timestamp(now),
      outcome,
      ...(message !== undefined && { message: message.slice(0, MOST_TEXT) }),
    };
    this.#history = [past, ...this.#history].slice(0, HISTORY);
    this.#hasLeftDraft ||= kind === BACKUP && outcome !== 'done';
    this.#current = undefined;
  }
}
