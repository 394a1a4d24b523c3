/** The visible objects of one resource, in order of their places. */
import type { Entry } from './entry.ts';
import { Places } from './places.ts';

/** The character after the slash: places of a namespace lie from `ns/` up to, but not with, `ns0`. */
const AFTER_SLASH = '0';

export class Table {
  readonly #entries = new Map<string, Entry>();
  readonly #places = new Places();
  /** While a store is being read, order is not kept: sorting once is cheaper than a place for each. */
  #isLoading: boolean;

  constructor(isLoading = false) {
    this.#isLoading = isLoading;
  }

  loaded(): void {
    this.#places.fill(this.#entries.keys());
    this.#isLoading = false;
  }

  get size(): number {
    return this.#places.size;
  }

  get(place: string): Entry | undefined {
    return this.#entries.get(place);
  }

  put(entry: Entry): void {
    if (!this.#isLoading && !this.#entries.has(entry.place)) this.#places.add(entry.place);
    this.#entries.set(entry.place, entry);
  }

  remove(place: string): void {
    if (this.#entries.delete(place) && !this.#isLoading) this.#places.remove(place);
  }

  /**
   * All of a namespace (of all, if none is given) from a place on. `undone` holds what was different at the revision that
   * is asked for: an entry as it was then, or undefined for what was not there.
   */
  range(namespace: string | undefined, from: string, undone?: ReadonlyMap<string, Entry | undefined>): Entry[] {
    const [first, end] =
      namespace === undefined ? [from] : [larger(from, `${namespace}/`), `${namespace}${AFTER_SLASH}`];
    const found: Entry[] = [];
    for (const place of this.#places.between(first, end)) {
      if (!undone?.has(place)) found.push(this.#entries.get(place) as Entry);
    }
    if (undone === undefined || undone.size === 0) return found;
    for (const entry of undone.values()) {
      if (entry === undefined || entry.place < from) continue;
      if (namespace === undefined || entry.key.namespace === namespace) found.push(entry);
    }
    return found.sort((a, b) => (a.place < b.place ? -1 : 1));
  }
}

const larger = (a: string, b: string): string => (a > b ? a : b);
