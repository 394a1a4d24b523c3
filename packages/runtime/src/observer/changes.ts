/**
 * What worker and observer of a key share: a lock, and a stamp that grows with every change. While a worker changes the world and
 * has not written the status yet, world and status differ, and an observer that looked now would "correct" one of them back.
 * The stamp makes waiting unnecessary: an observation that began before the last change ended is thrown away.
 */
interface KeyState {
  stamp: number;
  /** The end of the queue of those who want the lock. */
  tail: Promise<void>;
  holders: number;
  isForgotten: boolean;
}

/** What an observer takes along when it begins to look. */
export interface Look {
  readonly key: string;
  readonly stamp: number;
}

export class Changes {
  readonly #keys = new Map<string, KeyState>();
  /** One counter for all keys: a key that was forgotten and comes back can never meet its old stamp. */
  #stamps = 0;

  /** Runs a change of the world and the status write that belongs to it, alone for this key. */
  change<T>(key: string, work: () => Promise<T>): Promise<T> {
    return this.#locked(key, async (state) => {
      state.stamp = ++this.#stamps; // what began before is old
      try {
        return await work();
      } finally {
        state.stamp = ++this.#stamps; // and so is what began while it ran
      }
    });
  }

  /** An observer begins to look. */
  look(key: string): Look {
    return { key, stamp: this.#stateOf(key).stamp };
  }

  /** True if nothing was changed since the look began, and nothing is being changed. */
  isCurrent(look: Look): boolean {
    const state = this.#keys.get(look.key);
    return state !== undefined && state.stamp === look.stamp && state.holders === 0;
  }

  /**
   * Runs `deliver` under the lock if the look is still current by then: for observers that write to the API themselves.
   * What they write is a change like any other for all who look meanwhile; what they saw themselves goes on to count, by the
   * look that is given back: nobody else changed anything since. Undefined if it was thrown away.
   */
  deliver(look: Look, deliver: () => Promise<void>): Promise<Look | undefined> {
    return this.#locked(look.key, async (state) => {
      if (state.stamp !== look.stamp) return undefined;
      try {
        await deliver();
      } finally {
        state.stamp = ++this.#stamps; // also if it threw: nobody knows how far it came
      }
      return { key: look.key, stamp: state.stamp };
    });
  }

  /** The object is gone: its key needs no memory, and a look that is under way counts no more. */
  forget(key: string): void {
    const state = this.#keys.get(key);
    if (!state) return;
    state.stamp = ++this.#stamps;
    state.isForgotten = true;
    if (state.holders === 0) this.#keys.delete(key);
  }

  #stateOf(key: string): KeyState {
    const state = this.#keys.get(key) ?? {
      stamp: ++this.#stamps,
      tail: Promise.resolve(),
      holders: 0,
      isForgotten: false,
    };
    this.#keys.set(key, state);
    return state;
  }

  async #locked<T>(key: string, work: (state: KeyState) => Promise<T>): Promise<T> {
    const state = this.#stateOf(key);
    state.holders++;
    const before = state.tail;
    const { promise, resolve } = Promise.withResolvers<void>();
    state.tail = promise;
    await before;
    try {
      return await work(state);
    } finally {
      state.holders--;
      if (state.holders === 0 && state.isForgotten) this.#keys.delete(key);
      resolve();
    }
  }
}
