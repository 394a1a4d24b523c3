/** Keys by what an index function says of their value. Kept in step with the cache, one change at a time. */
export type IndexFunction<P> = (value: P) => readonly string[];

export class Indexes<P> {
  readonly #functions: Readonly<Record<string, IndexFunction<P>>>;
  readonly #keys = new Map<string, Map<string, Set<string>>>();

  constructor(functions: Readonly<Record<string, IndexFunction<P>>>) {
    this.#functions = functions;
    for (const name of Object.keys(functions)) this.#keys.set(name, new Map());
  }

  get isEmpty(): boolean {
    return this.#keys.size === 0;
  }

  has(index: string): boolean {
    return this.#keys.has(index);
  }

  keysOf(index: string, term: string): Iterable<string> {
    return this.#keys.get(index)?.get(term) ?? [];
  }

  /** `before` is what was indexed under this key so far. */
  update(key: string, before: P | undefined, after: P | undefined): void {
    for (const [name, termsOf] of Object.entries(this.#functions)) {
      const byTerm = this.#keys.get(name) as Map<string, Set<string>>;
      const old = before === undefined ? [] : termsOf(before);
      const fresh = after === undefined ? [] : termsOf(after);
      for (const term of old) {
        if (fresh.includes(term)) continue;
        const keys = byTerm.get(term);
        keys?.delete(key);
        if (keys?.size === 0) byTerm.delete(term);
      }
      for (const term of fresh) {
        const keys = byTerm.get(term);
        if (keys) keys.add(key);
        else byTerm.set(term, new Set([key]));
      }
    }
  }
}
