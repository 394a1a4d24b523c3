/**
 * The operations that run in this process, one per cluster at most. What must be remembered is in the cluster's status: its goal. Killed at
 * any line, the next process goes on from there; so this forgets everything at its end, and waits for nothing but its own work.
 */
import { asReeveError, Cancelled, type Clock, type Waiting } from '@reeve/runtime';
import type { Environment, RunEvent } from './environment.ts';
import { operationOfKind, procedureOfKind } from './operations.ts';
import type { RunEnd } from './procedure.ts';
import type { LoopEnd } from './pursue.ts';
import { resumeOperation } from './run.ts';

export type { RunEnd } from './procedure.ts';

interface Running {
  readonly id: string;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  end?: RunEnd;
  waitingFor: readonly Waiting[];
  progress: string | undefined;
}

export interface RunningView {
  readonly id: string;
  readonly end?: RunEnd;
  readonly waitingFor: readonly Waiting[];
  readonly progress?: string;
}

/** An order that waits for a lost agent does not end before that is back: nobody waits for it for longer than this. */
const STOP_MS = 5_000;

export class OperationRuns implements AsyncDisposable {
  readonly #wake: (key: string) => void;
  readonly #clock: Clock | undefined;
  readonly #running = new Map<string, Running>();
  /** The term is over: nothing may begin any more. */
  #isOver = false;

  /** Without a clock it is waited for whatever is stopped, for as long as it takes. */
  constructor(wake: (key: string) => void, clock?: Clock) {
    this.#wake = wake;
    this.#clock = clock;
  }

  of(key: string): RunningView | undefined {
    const running = this.#running.get(key);
    if (!running) return undefined;
    const { id, end, waitingFor, progress } = running;
    return { id, waitingFor, ...(end && { end }), ...(progress !== undefined && { progress }) };
  }

  /** Begins, or goes on with, an operation whose goal is written down. Wakes the key when it has ended. */
  start(
    key: string,
    operation: { readonly id: string; readonly kind: string; readonly goal: unknown },
    given: Omit<Environment, 'signal' | 'report'>,
  ): void {
    if (this.#running.has(key) || this.#isOver) return;
    const stop = new AbortController();
    const running: Running = { id: operation.id, stop, waitingFor: [], progress: undefined, ended: Promise.resolve() };
    this.#running.set(key, running);
    const report = (event: RunEvent) => note(running, event);
    const ended = this.#run(operation, { ...given, signal: stop.signal, report }).then((end) => {
      if (end) running.end = end;
      else this.#running.delete(key);
      this.#wake(key);
    });
    Object.assign(running, { ended });
  }

  /** The end is written down. */
  forget(key: string): void {
    this.#running.delete(key);
  }

  /**
   * Stops what runs, between two commands, and waits for it. What is written down of it stays. False: it has not ended yet; until it
   * has, nothing else begins.
   */
  async stop(key: string, reason: 'deleted' | 'superseded'): Promise<boolean> {
    const running = this.#running.get(key);
    if (!running) return true;
    running.stop.abort(new Cancelled(reason, key));
    const isOver = await this.#ends(running.ended);
    if (isOver) this.#running.delete(key);
    return isOver;
  }

  async #ends(ended: Promise<void>): Promise<boolean> {
    if (!this.#clock) return ended.then(() => true);
    const waiting = new AbortController();
    const late = this.#clock.sleep(STOP_MS, waiting.signal).then(
      () => false,
      () => false,
    );
    const isOver = await Promise.race([ended.then(() => true), late]);
    waiting.abort();
    return isOver;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    const all = [...this.#running.values()];
    for (const [key, { stop }] of this.#running) stop.abort(new Cancelled('shutdown', key));
    await Promise.all(all.map(({ ended }) => ended));
    this.#running.clear();
  }

  /** Undefined: it was stopped, and is to be gone on with. */
  async #run(
    operation: { readonly kind: string; readonly goal: unknown },
    environment: Environment,
  ): Promise<RunEnd | undefined> {
    const known = operationOfKind(operation.kind);
    const procedure = procedureOfKind(operation.kind);
    if (!known && !procedure) {
      const message = `operation ${operation.kind} is not known here: another version of Reeve began it`;
      return { outcome: 'failed', code: 'OPERATION_UNKNOWN', message };
    }
    try {
      if (known) return endOf(await resumeOperation(known, operation.goal, environment, undefined));
      return await procedure?.run(operation.goal, environment);
    } catch (error) {
      if (environment.signal.aborted) return undefined;
      const { code, message } = asReeveError(error);
      return { outcome: 'failed', code, message };
    }
  }
}

function endOf(end: LoopEnd): RunEnd | undefined {
  switch (end.status) {
    case 'reached':
      return { outcome: 'done' };
    case 'refused':
      return { outcome: 'refused', refused: end.refused };
    case 'stopped':
      return { outcome: 'failed', code: end.code, message: end.message };
    case 'interrupted':
      return undefined;
  }
}

function note(running: Running, event: RunEvent): void {
  if (event.event === 'waiting') running.waitingFor = event.waitingFor;
  else if (event.event === 'progress') running.progress = `${event.done} of ${event.total} ${event.unit}`;
  else if (event.event === 'started') {
    running.waitingFor = [];
    running.progress = event.command.why;
  }
}
