/**
 * The alarm for hot loops: a key that runs again and again although its spec stays the same. Backoff bounds failures; this finds what
 * succeeds in a circle: a reconcile that wakes itself, two controllers that undo each other.
 */
export interface HotLoopOptions {
  /** More runs than this in a second, without a change of the spec, are told. Default 10. */
  readonly perSecond?: number;
  /** Told again for the same key after this long at the earliest. Default 60 s. */
  readonly againMs?: number;
}

interface Heat {
  generation: number | undefined;
  since: number;
  runs: number;
  toldAt: number;
}

export class HotLoop {
  readonly #perSecond: number;
  readonly #againMs: number;
  readonly #keys = new Map<string, Heat>();

  constructor({ perSecond = 10, againMs = 60_000 }: HotLoopOptions = {}) {
    this.#perSecond = perSecond;
    this.#againMs = againMs;
  }

  /** A run begins. The runs of the last second if they are too many and that should be told, else undefined. */
  ran(key: string, generation: number | undefined, now: number): number | undefined {
    const heat = this.#keys.get(key);
    if (!heat || heat.generation !== generation || now - heat.since >= 1_000) {
      const toldAt = heat?.toldAt ?? Number.NEGATIVE_INFINITY;
      this.#keys.set(key, { generation, since: now, runs: 1, toldAt });
      return undefined;
    }
    heat.runs++;
    if (heat.runs <= this.#perSecond || now - heat.toldAt < this.#againMs) return undefined;
    heat.toldAt = now;
    return heat.runs;
  }

  forget(key: string): void {
    this.#keys.delete(key);
  }
}
