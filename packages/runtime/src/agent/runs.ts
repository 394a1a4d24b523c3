/** The orders that this life of an agent carries out: begun at most once per attempt, within their time, stopped when told. */
import type { DoneCheck, Outcome, Progress } from '../command/command.ts';
import { isHandle, type LocalExecutor } from '../command/executor.ts';
import { Flights } from '../command/flights.ts';
import { asReeveError, ReeveError } from '../errors/errors.ts';
import { type Deadline, deadline } from '../ports/deadline.ts';
import type { Clock } from '../ports/ports.ts';
import { Cancelled } from '../worker/cancelled.ts';
import type { Order, OrderResult } from './member.ts';
import { commandOf, orderKey } from './orders.ts';

/** A look at the world that takes longer will not come. */
const CHECK_MS = 30_000;

interface OrderRun {
  readonly stop: AbortController;
  readonly limit: Deadline;
}

export class OrderRuns {
  readonly begun = new Set<string>();
  readonly ended = new Map<string, Outcome>();
  /** What the world said about orders of earlier lives. */
  readonly checked = new Map<string, DoneCheck>();
  readonly #checking = new Set<string>();
  readonly #stopped = new AbortController();
  readonly #news: () => void;
  readonly #clock: Clock;
  readonly #executor: LocalExecutor;
  readonly #flights: Flights;
  readonly #runs = new Map<string, OrderRun>();

  constructor(clock: Clock, executor: LocalExecutor, news: () => void) {
    this.#clock = clock;
    this.#executor = executor;
    this.#news = news;
    this.#flights = new Flights({ clock }, news);
  }

  get progress(): ReadonlyMap<string, Progress | undefined> {
    return new Map(this.#flights.inFlight().map(({ name, progress }) => [name, progress]));
  }

  /** Nothing happens if it was begun before. */
  begin(order: Order): void {
    const key = orderKey(order);
    if (this.begun.has(key)) return;
    this.begun.add(key);
    const stop = new AbortController();
    const tooLong = () => new ReeveError('ORDER_DEADLINE', `${order.verb} took longer than ${order.deadlineSeconds} s`);
    const limit = deadline(this.#clock, order.deadlineSeconds * 1_000, tooLong, stop.signal);
    this.#runs.set(key, { stop, limit });
    const executor = {
      start: async (command: Parameters<LocalExecutor['start']>[0], ended: AbortSignal) => {
        ended.addEventListener('abort', () => stop.abort(ended.reason), { once: true });
        const result = await this.#executor.start(command, limit.signal);
        if (!isHandle<Outcome>(result)) return this.#judge(result, limit.signal);
        const settled = result.settled.then((outcome) => this.#judge(outcome, limit.signal));
        return { progress: () => result.progress(), settled };
      },
    };
    this.#flights.start(key, commandOf(order), executor);
  }

  cancel(key: string): void {
    this.#runs.get(key)?.stop.abort(new ReeveError('ORDER_CANCELLED', 'the order was cancelled'));
  }

  cancelAll(): void {
    for (const key of this.#runs.keys()) this.cancel(key);
  }

  /** Takes in what ended. */
  collect(): void {
    for (const { name, outcome } of this.#flights.collect()) {
      this.ended.set(name, outcome);
      this.#runs.get(name)?.limit[Symbol.dispose]();
      this.#runs.delete(name);
    }
  }

  /** Asks the world about an order that an earlier life had begun, once. What does not answer in time is unknown. */
  check(order: Order): void {
    const key = orderKey(order);
    if (this.#checking.has(key)) return;
    this.#checking.add(key);
    void this.#ask(order).then((answer) => {
      this.checked.set(key, answer);
      this.#news();
    });
  }

  async #ask(order: Order): Promise<DoneCheck> {
    const tooLong = () => new ReeveError('ORDER_DEADLINE', `whether ${order.verb} is done could not be told in time`);
    using limit = deadline(this.#clock, CHECK_MS, tooLong, this.#stopped.signal);
    return await new Promise<DoneCheck>((resolve) => {
      limit.signal.addEventListener('abort', () => resolve('unknown'), { once: true });
      void this.#executor.isDone(commandOf(order), limit.signal).then(resolve);
    });
  }

  /** The attempts that are still of interest are those with a result. */
  #isOpen(key: string, results: readonly OrderResult[]): boolean {
    return results.some((result) => orderKey(result) === key);
  }

  forget(results: readonly OrderResult[]): void {
    for (const key of this.checked.keys()) {
      if (this.#isOpen(key, results)) continue;
      this.checked.delete(key);
      this.#checking.delete(key);
    }
    for (const key of this.ended.keys()) {
      if (this.#isOpen(key, results)) continue;
      this.ended.delete(key);
      this.begun.delete(key);
    }
  }

  async stop(reason: 'shutdown'): Promise<void> {
    this.#stopped.abort(new Cancelled(reason, 'orders'));
    this.#flights.abort(new Cancelled(reason, 'orders'));
    await this.#flights.landed();
    this.collect();
  }

  /** A handler that was stopped says that it failed; why it was stopped is what counts. What it finished in spite of that is done. */
  #judge(outcome: Outcome, signal: AbortSignal): Outcome {
    if (outcome.status !== 'failed' || !signal.aborted) return outcome;
    const { code, message } = asReeveError(signal.reason);
    return { status: 'failed', code, message };
  }
}
