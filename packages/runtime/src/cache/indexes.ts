/** Keys by what an index function says of their value. Kept in step with the cache, one change at a time. */
export type IndexFunction<P> = (value: P) => readonly string[];

export class Indexes<P> {
  readonly #functions: Map<string, IndexFunction<P>>;
  readonly #keys = new Map<string, Map<string, Set<string>>>();
  readonly #failed: (key: string, index: string, error: unknown) => void;

  /** `failed`: a function threw for a value, which is then in none of its terms. */
  constructor(
    functions: Readonly<Record<string, IndexFunction<P>>>,
    failed: (key: string, index: string, error: unknown) => void,
  ) {
    this.#failed = failed;
    this.#functions = new Map(Object.entries(functions));
    for (const name of this.#functions.keys()) this.#keys.set(name, new Map());
  }

  /** The function of an index, to tell whether two who want one of the same name mean the same. */
  functionOf(index: string): IndexFunction<P> | undefined {
    return this.#functions.get(index);
  }

  /** One more, filled with what is there. */
  add(index: string, termsOf: IndexFunction<P>, values: Iterable<readonly [key: string, value: P]>): void {
    this.#functions.set(index, termsOf);
    const byTerm = new Map<string, Set<string>>();
    this.#keys.set(index, byTerm);
    for (const [key, value] of values) put(byTerm, key, [], this.#terms(key, index, value));
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
    for (const [name, termsOf] of this.#functions) {
      const old = before === undefined ? [] : known(termsOf, before);
      const fresh = after === undefined ? [] : this.#terms(key, name, after);
      put(this.#keys.get(name) as Map<string, Set<string>>, key, old, fresh);
    }
  }

  /** Of a value that is new to the index. */
  #terms(key: string, index: string, value: P): readonly string[] {
    try {
      return this.#functions.get(index)?.(value) ?? [];
    } catch (error) {
      this.#failed(key, index, error);
      return [];
    }
  }
}

/** Of a value that the index was told before: if it throws again, it was in no term. */
function known<P>(termsOf: IndexFunction<P>, value: P): readonly string[] {
  try {
    return termsOf(value);
  } catch {
    return [];
  }
}

function put(byTerm: Map<string, Set<string>>, key: string, old: readonly string[], fresh: readonly string[]): void {
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
