/** Cancellations under way: begun once, waited for a little in each turn, told when they are over. */
import type { Clock } from '../ports/ports.ts';
import { Cancelled } from '../worker/cancelled.ts';

/** How long a turn waits for it; a worker has other keys. */
const PATIENCE_MS = 2_000;

interface Cancellation {
  readonly over: Promise<void>;
  state: 'running' | 'over' | 'failed';
  error?: unknown;
}

export class Cancellations {
  readonly #clock: Clock;
  readonly #all = new Map<string, Cancellation>();
  readonly #abandon = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True when `stop` has ended. False: later; `wake` is called then. What it throws is thrown here, and it can be tried again. */
  async isOver(
    uid: string,
    stop: (signal: AbortSignal) => Promise<void>,
    wake: () => void,
    signal: AbortSignal,
  ): Promise<boolean> {
    const cancellation = this.#all.get(uid) ?? this.#begin(uid, stop, wake);
    if (cancellation.state === 'running') await this.#patiently(cancellation.over, signal);
    if (cancellation.state === 'failed') {
      this.#all.delete(uid);
      throw cancellation.error;
    }
    return cancellation.state === 'over';
  }

  has(uid: string): boolean {
    return this.#all.has(uid);
  }

  forget(uid: string): void {
    this.#all.delete(uid);
  }

  /** This process ends: nobody waits any more. The finalizer stays, and the next process cancels again. */
  abandon(): void {
    this.#abandon.abort(new Cancelled('shutdown', '*'));
  }

  #begin(uid: string, stop: (signal: AbortSignal) => Promise<void>, wake: () => void): Cancellation {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancellation: Cancellation = { over: promise, state: 'running' };
    this.#all.set(uid, cancellation);
    stop(this.#abandon.signal).then(
      () => {
        cancellation.state = 'over';
        resolve();
        wake();
      },
      (error: unknown) => {
        cancellation.state = 'failed';
        cancellation.error = error;
        resolve();
        wake();
      },
    );
    return cancellation;
  }

  /** Until it is over, the patience ends, or the worker is told to stop. */
  async #patiently(over: Promise<void>, signal: AbortSignal): Promise<void> {
    const enough = new AbortController();
    const onAbort = () => enough.abort();
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    const patience = this.#clock.sleep(PATIENCE_MS, enough.signal).catch(() => undefined);
    await Promise.race([over, patience]);
    enough.abort();
    signal.removeEventListener('abort', onAbort);
  }
}
