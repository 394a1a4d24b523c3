/** How fast something goes, over the last seconds only, and how long the rest will take. */

const WINDOW_MS = 10_000;
/** Below this much observed time a rate is a guess and is not shown. */
const LEAST_MS = 500;

interface Sample {
  readonly at: number;
  readonly done: number;
}

export class Rate {
  readonly #windowMs: number;
  #samples: readonly Sample[] = [];

  constructor(windowMs = WINDOW_MS) {
    this.#windowMs = windowMs;
  }

  add(at: number, done: number): void {
    const recent = this.#samples.filter((sample) => at - sample.at <= this.#windowMs);
    // The newest of the older samples stays: it is where the window begins.
    const before = this.#samples.filter((sample) => at - sample.at > this.#windowMs).at(-1);
    this.#samples = [...(before ? [before] : []), ...recent, { at, done }];
  }

  /** Per second; undefined while too little was seen. */
  perSecond(): number | undefined {
    const first = this.#samples[0];
    const last = this.#samples.at(-1);
    if (!first || !last || last.at - first.at < LEAST_MS) return undefined;
    return Math.max(0, last.done - first.done) / ((last.at - first.at) / 1000);
  }

  /** Milliseconds until `total` at this rate; undefined while unknown or standing still. */
  remainingMs(total: number): number | undefined {
    const rate = this.perSecond();
    const last = this.#samples.at(-1);
    if (!last || rate === undefined) return undefined;
    if (last.done >= total) return 0;
    return rate > 0 ? ((total - last.done) / rate) * 1000 : undefined;
  }
}
