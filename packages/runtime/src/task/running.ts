/**
 * What one running task owns in this process: its steps and whatever it holds beside them, on one stack. Disposing of it aborts
 * the steps with the reason, waits for them, and lets go of the rest.
 */
import { type BackoffOptions, backoffMs } from '../backoff/backoff.ts';
import type { Command, Outcome, Progress } from '../command/command.ts';
import type { Executor } from '../command/executor.ts';
import { Flights } from '../command/flights.ts';
import type { Clock, Random } from '../ports/ports.ts';
import { Cancelled, type CancelReason } from '../worker/cancelled.ts';
import type { StepState } from './task.ts';

/** How often the world may change under a step before that counts as a failure. */
const STALE_LIMIT = 10;

/** Before what did not work is tried again. */
const PAUSE: BackoffOptions = { baseMs: 200, factor: 2, capMs: 10_000, jitter: 0.2 };

interface Step {
  readonly attempt: number;
  readonly stales: number;
  readonly notBefore?: number;
  readonly outcome?: Outcome;
}

export class RunningTask<C extends Command> {
  readonly #name: string;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #flights: Flights<C>;
  readonly #steps = new Map<string, Step>();
  /** What the task holds beside its steps. It may be needed by them: they end first. */
  readonly held = new AsyncDisposableStack();
  hasBegun = false;
  #stopping: Promise<void> | undefined;
  #isStopped = false;

  constructor(ports: { readonly clock: Clock; readonly random: Random }, name: string, wake: () => void) {
    this.#name = name;
    this.#clock = ports.clock;
    this.#random = ports.random;
    this.#flights = new Flights(ports, wake);
  }

  /** What ended is taken in; what the steps look like by now. */
  collect(): ReadonlyMap<string, StepState> {
    for (const { name, outcome } of this.#flights.collect()) {
      const { attempt = 1, stales = 0 } = this.#steps.get(name) ?? {};
      const isStale = outcome.status === 'stale';
      const judged = isStale && stales + 1 >= STALE_LIMIT ? tooStale(outcome.message) : outcome;
      const failures = outcome.status === 'done' ? 0 : attempt + stales;
      const notBefore = this.#clock.now() + backoffMs(failures, PAUSE, this.#random.next());
      const isStaleStill = judged.status === 'stale'; // else the next attempt has as many tries
      this.#steps.set(name, { attempt, stales: isStaleStill ? stales + 1 : 0, notBefore, outcome: judged });
    }
    return this.#steps;
  }

  /** When a step may be tried again. */
  notBefore(name: string): number {
    return this.#steps.get(name)?.notBefore ?? 0;
  }

  start(member: string, id: string, attempt: number, command: C, executor: Executor<C>): void {
    if (this.#flights.has(member) || this.#isStopped) return;
    this.#steps.set(member, { attempt, stales: this.#steps.get(member)?.stales ?? 0 });
    this.#flights.start(member, command, executor, { id, attempt });
  }

  progress(): Readonly<Record<string, Progress | undefined>> {
    return Object.fromEntries(this.#flights.inFlight().map(({ name, progress }) => [name, progress]));
  }

  /** It was told to stop, and starts nothing any more. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Aborts the steps, waits for them, lets go of what is held. Called again it waits for the same end, or tries again if it failed. */
  stop(reason: CancelReason): Promise<void> {
    this.#isStopped = true;
    this.#stopping ??= this.#stop(reason).catch((error: unknown) => {
      this.#stopping = undefined;
      throw error;
    });
    return this.#stopping;
  }

  async #stop(reason: CancelReason): Promise<void> {
    this.#flights.abort(new Cancelled(reason, this.#name));
    await this.#flights.landed();
    await this.held.disposeAsync();
  }
}

function tooStale(message: string): Outcome {
  return { status: 'failed', code: 'TASK_STEP_STALE', message };
}
