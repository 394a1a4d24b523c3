/**
 * Workers of one type: they take keys from one queue or several and run `reconcile`, each key with a signal of its own. What
 * becomes of a key is what reconcile returns; what it throws is a failure with backoff; a key that was cancelled always comes back.
 */
import type { Clock } from '../ports/ports.ts';
import { takeFrom, type WorkQueue } from '../queue/queue.ts';
import type { Taken } from '../queue/takers.ts';
import { again, finished, retry, type Verdict } from '../queue/verdict.ts';
import { Cancelled, type CancelReason } from './cancelled.ts';

export interface Work {
  readonly key: string;
  /** Where the key came from: a worker may add to its queue, and others. */
  readonly queue: WorkQueue;
  /** Aborted with a `Cancelled`. Pass it on to everything that takes time. */
  readonly signal: AbortSignal;
}

export interface WorkerOptions {
  /** They take turns: a busy queue does not keep the workers from the others. */
  readonly queues: readonly WorkQueue[];
  /** Only keys of this route. Default: all. */
  readonly route?: string;
  /** How many keys at a time. Default 1. */
  readonly concurrency?: number;
  /** Default 60 s. Long work is started and asked about later, not awaited here. */
  readonly timeoutMs?: number;
  /**
   * A reconcile that goes on this long after its signal was aborted is stuck, default 30 s: another worker takes its place, its
   * key stays its own. There is no way to end it, and giving its key away would be two workers on one key.
   */
  readonly graceMs?: number;
  /** Nothing returned: done. */
  reconcile(work: Work): Promise<Verdict | undefined>;
  /** For logs and metrics. */
  failed?(key: string, error: unknown): void;
  cancelled?(key: string, reason: CancelReason): void;
  stuck?(key: string): void;
}

interface Running {
  readonly controller: AbortController;
  readonly queue: WorkQueue;
}

export class Workers {
  readonly #clock: Clock;
  readonly #options: WorkerOptions;
  readonly #running = new Map<string, Set<Running>>();
  readonly #intake = new AbortController();
  readonly #loops = new Set<Promise<void>>();
  #turn = 0;

  constructor(ports: { readonly clock: Clock }, options: WorkerOptions) {
    this.#clock = ports.clock;
    this.#options = options;
  }

  /** Keys that are being worked on. */
  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  start(): void {
    if (this.#loops.size > 0) return;
    for (let i = 0; i < (this.#options.concurrency ?? 1); i++) this.#open();
  }

  /** Aborts the work on a key. True if there was some. */
  cancel(key: string, reason: CancelReason): boolean {
    const all = this.#running.get(key);
    for (const { controller } of all ?? []) abort(controller, key, reason);
    return all !== undefined;
  }

  cancelAll(reason: CancelReason): void {
    for (const key of this.running) this.cancel(key, reason);
  }

  /**
   * Takes no more keys, aborts what runs, and waits for it until `patience` aborts. Returns the keys that did not end. The lease
   * is given back after this, not before.
   */
  async stop(reason: 'shutdown' | 'lost-lease' = 'shutdown', patience?: AbortSignal): Promise<readonly string[]> {
    this.#intake.abort(new Cancelled(reason, '*'));
    this.cancelAll(reason);
    const all = Promise.all(this.#loops);
    if (!patience) await all;
    else {
      await new Promise<void>((resolve) => {
        if (patience.aborted) resolve();
        patience.addEventListener('abort', () => resolve(), { once: true });
        void all.then(() => resolve());
      });
    }
    return this.running;
  }

  #open(): void {
    const loop = this.#loop().finally(() => this.#loops.delete(loop));
    this.#loops.add(loop);
  }

  async #loop(): Promise<void> {
    const { route } = this.#options;
    for (;;) {
      const queues = this.#inTurn();
      let taken: Taken<WorkQueue> | undefined;
      try {
        taken = await takeFrom(queues, this.#intake.signal, route);
      } catch {
        return; // stopped while it waited
      }
      if (!taken) return; // all queues are closed
      if (!(await this.#work(taken))) return;
    }
  }

  #inTurn(): readonly WorkQueue[] {
    const { queues } = this.#options;
    const first = this.#turn++ % queues.length;
    return first === 0 ? queues : [...queues.slice(first), ...queues.slice(0, first)];
  }

  /** One key. False if it was stuck so long that another worker has taken the place of this one. */
  async #work({ key, queue }: Taken<WorkQueue>): Promise<boolean> {
    const { timeoutMs = 60_000, graceMs = 30_000, stuck } = this.#options;
    const running: Running = { controller: new AbortController(), queue };
    const { controller } = running;
    const all = this.#running.get(key) ?? new Set();
    this.#running.set(key, all.add(running));
    const over = new AbortController();
    let isReplaced = false;
    this.#unlessOver(timeoutMs, over.signal, () => abort(controller, key, 'timeout'));
    const onAbort = () =>
      this.#unlessOver(graceMs, over.signal, () => {
        isReplaced = true;
        stuck?.call(this.#options, key);
        if (!this.#intake.signal.aborted) this.#open();
      });
    controller.signal.addEventListener('abort', onAbort, { once: true });
    if (this.#intake.signal.aborted) abort(controller, key, (this.#intake.signal.reason as Cancelled).reason);
    const verdict = await this.#judge({ key, queue, signal: controller.signal });
    over.abort('over'); // a reason costs less than none: for that an exception is made
    all.delete(running);
    if (all.size === 0) this.#running.delete(key);
    queue.done(key, verdict);
    return !isReplaced;
  }

  #unlessOver(ms: number, over: AbortSignal, act: () => void): void {
    this.#clock.sleep(ms, over).then(
      () => {
        if (!over.aborted) act();
      },
      () => undefined, // it ended in time
    );
  }

  async #judge(work: Work): Promise<Verdict> {
    const { key, signal } = work;
    let verdict: Verdict = retry;
    let failure: { readonly error: unknown } | undefined;
    try {
      verdict = (await this.#options.reconcile(work)) ?? finished;
    } catch (error) {
      failure = { error };
    }
    const reason = signal.aborted ? (signal.reason as Cancelled).reason : undefined;
    if (reason === undefined) {
      if (failure) this.#options.failed?.(key, failure.error);
      return verdict;
    }
    // Whatever it returned: it may have stopped in the middle, and nobody else would bring the key back.
    this.#options.cancelled?.(key, reason);
    return reason === 'superseded' || reason === 'deleted' ? again : retry;
  }
}

/** The first reason counts. */
function abort(controller: AbortController, key: string, reason: CancelReason): void {
  if (!controller.signal.aborted) controller.abort(new Cancelled(reason, key));
}
