/**
 * The worker of DESIGN: observe → plan → execute commands → write the status, of which it is the only writer. The plan is asked anew at
 * every turn; what it says is in the status, so that people can read why nothing, or what, is happening.
 */
import type { KubeObject, Stored } from '@reeve/kube';
import { type BackoffOptions, backoffMs } from '../backoff/backoff.ts';
import type { Command, Outcome } from '../command/command.ts';
import { type Executors, isHandle } from '../command/executor.ts';
import { type Condition, setConditions } from '../conditions/conditions.ts';
import { canonicalJson } from '../digest/digest.ts';
import { asReeveError } from '../errors/errors.ts';
import { type Knowledge, unknown } from '../plan/known.ts';
import { isReached, type Plan, type Planner } from '../plan/plan.ts';
import { again, finished, requeueAfter, retry, type Verdict, wakeAt } from '../queue/verdict.ts';
import type { DeepReadonly } from '../resource/resource.ts';
import type { Reconcile, StatusOf } from './context.ts';
import { InFlightTable } from './in-flight.ts';
import { planConditions } from './plan-conditions.ts';

export interface Turn<T extends KubeObject, O, C extends Command> {
  readonly object: DeepReadonly<Stored<T>>;
  readonly observed: Knowledge<O>;
  readonly plan: Plan<C>;
  /** What was started in this turn, or ended since the last. */
  readonly outcomes: readonly { readonly command: C; readonly outcome: Outcome }[];
  readonly inFlight: number;
}

export interface PlanOptions<T extends KubeObject, O, C extends Command> {
  /** A fresh look. Default: what the observer saw last, if that still counts. What it throws makes the observation unknown. */
  observe?(work: Reconcile<T, O>): Promise<Knowledge<O>>;
  readonly plan: Planner<DeepReadonly<Stored<T>>, Knowledge<O>, C>;
  /** Every type of command that the plan produces. One without a handler is an error when the controller is taken in. */
  readonly types: readonly C['type'][];
  /** Where they run: `localExecutors(handlers, context)` for this process. */
  readonly executors: Executors<Pick<Reconcile<T, O>, 'api' | 'term' | 'key' | 'object'>, C>;
  /** More for the status than conditions, waitingFor and observedGeneration. */
  status?(turn: Turn<T, O, C>): Partial<StatusOf<T>>;
  /** Nothing is executed while this holds. Default: `spec.paused`. */
  isPaused?(object: DeepReadonly<Stored<T>>): boolean;
  /** How long to wait when the plan waits and does not say for how long. Default 30 s. */
  readonly patienceMs?: number;
}

/** What the worker needs of the controller around it. */
export interface PlanHost<T extends KubeObject> {
  /** The object as it is now, not as it was when the turn began. */
  current(key: string): DeepReadonly<Stored<T>> | undefined;
  /** Runs a change of the world: observations from before or during it do not count. */
  change<R>(key: string, work: () => Promise<R>): Promise<R>;
  /** The observer is to look soon. True if there is one, which then wakes the key. */
  nudge(key: string): boolean;
  wake(key: string): void;
  /** Uniform in [0, 1). */
  random(): number;
}

/** A command without effect is repeated ever more slowly. */
const repeatBackoff: BackoffOptions = { baseMs: 1_000, factor: 2, capMs: 300_000, jitter: 0.2 };

export class PlanWorker<T extends KubeObject, O, C extends Command> {
  readonly #options: PlanOptions<T, O, C>;
  readonly #host: PlanHost<T>;
  readonly #table: InFlightTable<C>;
  /** Commands that were done last: asked for again, they had no effect, and a loop must not be hot. */
  readonly #done = new Map<string, { readonly texts: ReadonlySet<string>; readonly repeats: number }>();

  constructor(options: PlanOptions<T, O, C>, host: PlanHost<T>) {
    this.#options = options;
    this.#host = host;
    this.#table = new InFlightTable((key) => host.wake(key));
  }

  async reconcile(work: Reconcile<T, O>): Promise<Verdict> {
    const { key, object, signal } = work;
    const ended = this.#table.ended(key);
    const observed = await this.#observe(work);
    // Changed since it was looked at, or never looked at: then soon, and the key is woken.
    if (!observed.known && !this.#options.observe) this.#host.nudge(key);
    signal.throwIfAborted();
    const plan = this.#options.plan(object, observed, work.now(), this.#table.of(key));
    const started = await this.#execute(work, plan);
    const outcomes = [...ended, ...started.outcomes];
    const turn: Turn<T, O, C> = { object, observed, plan, outcomes, inFlight: this.#table.of(key).length };
    await work.status(this.#statusOf(turn, work.now(), started.isPaused));
    // Only now: a turn that throws before this has told nobody how it ended, and its verdict does not count.
    this.#table.told(key, ended);
    return this.#verdict(key, turn, started.isPaused);
  }

  /** The object is gone: its long work is aborted. */
  forget(key: string): void {
    this.#done.delete(key);
    this.#table.abort(key, 'deleted');
  }

  /** The keys whose long work has not ended. */
  get busy(): readonly string[] {
    return this.#table.keys;
  }

  /** The term ends: all long work is aborted and waited for. */
  end(reason: 'shutdown' | 'lost-lease'): Promise<void> {
    return this.#table.abortAll(reason);
  }

  async #observe(work: Reconcile<T, O>): Promise<Knowledge<O>> {
    if (!this.#options.observe) return work.observed;
    try {
      return await this.#options.observe(work);
    } catch (error) {
      if (work.signal.aborted) throw error;
      return unknown(asReeveError(error).message);
    }
  }

  async #execute(work: Reconcile<T, O>, plan: Plan<C>) {
    const outcomes: { readonly command: C; readonly outcome: Outcome }[] = [];
    const running = new Set(this.#table.of(work.key).map(({ command }) => canonicalJson(command)));
    const commands = plan.commands.filter((command) => !running.has(canonicalJson(command)));
    let isPaused = commands.length > 0 && this.#isPaused(work);
    if (commands.length === 0 || isPaused) return { outcomes, isPaused };
    await this.#host.change(work.key, async () => {
      const executor = this.#options.executors.of(work);
      for (const command of commands) {
        work.signal.throwIfAborted();
        // Asked before each one: a pause stops before the next command, not after the plan.
        isPaused = this.#isPaused(work);
        if (isPaused) return;
        const link = this.#table.link(work.key, work.signal);
        const result = await executor.start(command, link.signal);
        if (isHandle(result)) link.keep(command, result, work.now());
        else {
          link.drop();
          outcomes.push({ command, outcome: result });
          if (result.status !== 'done') return; // the rest of the plan rests on it
        }
      }
    });
    return { outcomes, isPaused };
  }

  #isPaused({ key, object }: Reconcile<T, O>): boolean {
    const now = this.#host.current(key) ?? object;
    if (this.#options.isPaused) return this.#options.isPaused(now);
    return (now as { readonly spec?: { readonly paused?: unknown } }).spec?.paused === true;
  }

  #statusOf(turn: Turn<T, O, C>, now: number, isPaused: boolean): StatusOf<T> {
    const { object, plan } = turn;
    const { generation } = object.metadata as { readonly generation?: number };
    const before = (object as { readonly status?: { readonly conditions?: readonly Condition[] } }).status?.conditions;
    return {
      ...this.#options.status?.(turn),
      ...(generation !== undefined && { observedGeneration: generation }),
      conditions: setConditions(before, planConditions(turn, isPaused, generation), now),
      waitingFor: plan.waitingFor ?? [],
    } as unknown as StatusOf<T>;
  }

  /** How often in a row something was done that had been done before. */
  #repeats(key: string, outcomes: Turn<T, O, C>['outcomes']): number {
    const texts = new Set(outcomes.map(({ command }) => canonicalJson(command)));
    const before = this.#done.get(key);
    const isRepeated = before !== undefined && [...texts].some((text) => before.texts.has(text));
    const repeats = isRepeated ? before.repeats + 1 : 0;
    this.#done.set(key, { texts, repeats });
    return repeats;
  }

  #verdict(key: string, { plan, outcomes }: Turn<T, O, C>, isPaused: boolean): Verdict {
    if (outcomes.some(({ outcome }) => outcome.status !== 'done')) return retry;
    if (outcomes.length > 0) {
      const repeats = this.#repeats(key, outcomes);
      if (repeats > 0) return requeueAfter(backoffMs(repeats, repeatBackoff, this.#host.random()));
      const isObserved = this.#host.nudge(key);
      return isObserved && !this.#options.observe ? finished : again;
    }
    if (isReached(plan)) this.#done.delete(key);
    if (plan.wakeAt !== undefined) return wakeAt(plan.wakeAt);
    // Paused: the change of the spec wakes it. Reached: nothing to wait for.
    if (isPaused || isReached(plan)) return finished;
    return requeueAfter(this.#options.patienceMs ?? 30_000);
  }
}
