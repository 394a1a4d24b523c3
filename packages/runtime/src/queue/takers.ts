/** Workers that wait for a key, at one queue or at several at once, first come, first served. */
import { Fifo, type Slot } from './fifo.ts';

/** What a taker waits at. */
export interface KeySource {
  readonly takers: Takers;
  takeNow(route?: string): string | undefined;
}

export interface Taken<Q> {
  readonly queue: Q;
  readonly key: string;
}

interface Taker {
  readonly route: string | undefined;
  readonly places: { readonly takers: Takers; readonly slot: Slot<Taker> }[];
  /** How many of its queues may still give something. */
  open: number;
  answer(taken: Taken<KeySource> | undefined): void;
}

export class Takers {
  readonly #waiting = new Fifo<Taker>();

  /** A key with this route became ready at `queue`. */
  offer(queue: KeySource, route: string): void {
    const passed: Taker[] = [];
    for (let taker = this.#waiting.peek(); taker; taker = this.#waiting.peek()) {
      if (taker.route === undefined || taker.route === route) {
        const key = queue.takeNow(taker.route);
        if (key !== undefined) taker.answer({ queue, key });
        break;
      }
      // Not for this one: it goes to the end of those who wait, which costs it nothing but its place.
      passed.push(taker);
      this.#leave(taker);
    }
    for (const taker of passed) this.#join(taker);
  }

  /** This queue will give nothing any more. */
  closeAll(): void {
    for (let taker = this.#waiting.peek(); taker; taker = this.#waiting.peek()) {
      this.#leave(taker);
      taker.open--;
      if (taker.open === 0) taker.answer(undefined);
    }
  }

  static wait<Q extends KeySource>(
    queues: readonly Q[],
    signal: AbortSignal | undefined,
    route: string | undefined,
  ): Promise<Taken<Q> | undefined> {
    return new Promise((resolve, reject) => {
      const leaveAll = () => {
        signal?.removeEventListener('abort', onAbort);
        for (const { takers, slot } of taker.places) takers.#waiting.remove(slot);
      };
      const onAbort = () => {
        leaveAll();
        reject(signal?.reason);
      };
      const taker: Taker = {
        route,
        places: [],
        open: queues.length,
        answer(taken) {
          leaveAll();
          resolve(taken as Taken<Q> | undefined); // only its own queues answer it
        },
      };
      for (const queue of queues) queue.takers.#join(taker);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  #join(taker: Taker): void {
    taker.places.push({ takers: this, slot: this.#waiting.push(taker) });
  }

  #leave(taker: Taker): void {
    const at = taker.places.findIndex(({ takers }) => takers === this);
    const [place] = taker.places.splice(at, 1);
    if (place) this.#waiting.remove(place.slot);
  }
}
