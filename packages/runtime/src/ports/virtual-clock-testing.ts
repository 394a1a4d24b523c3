/** A clock for tests that moves when told. Not the simulation's: a unit test needs a time line, not a world. */
import type { Clock, Random } from './ports.ts';

interface Sleeper {
  readonly at: number;
  readonly order: number;
  wake(): void;
}

export class VirtualClock implements Clock {
  #now: number;
  #orders = 0;
  readonly #sleepers = new Set<Sleeper>();

  constructor(startMs = 1_000_000) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  /** How many sleeps are under way: nothing may be left over when a block has stopped. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason);
      };
      const sleeper: Sleeper = {
        at: this.#now + Math.max(0, ms),
        order: this.#orders++,
        wake: () => {
          this.#sleepers.delete(sleeper);
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Moves on by `ms`; whoever is due wakes in order of time, and runs until it waits again before the next one does. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settled();
    for (let next = this.#first(end); next; next = this.#first(end)) {
      this.#now = Math.max(this.#now, next.at);
      next.wake();
      await settled();
    }
    this.#now = end;
  }

  #first(end: number): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of this.#sleepers) {
      if (sleeper.at > end) continue;
      if (!first || sleeper.at < first.at || (sleeper.at === first.at && sleeper.order < first.order)) first = sleeper;
    }
    return first;
  }
}

/** Everything that waits for promises only has run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A random source that always says the same, so that delays can be named in a test. */
export function constantRandom(value: number): Random {
  return { next: () => value };
}

/** The same numbers in every run. */
export function seededRandom(seed: number): Random {
  let state = seed | 0;
  return {
    next() {
      state = (Math.imul(state, 1664525) + 1013904223) | 0;
      return (state >>> 0) / 0x100000000;
    },
  };
}
