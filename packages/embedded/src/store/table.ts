/** The visible objects of one resource, in order of their places. */
import type { Entry } from './entry.ts';

/** The character after the slash: places of a namespace lie from `ns/` up to, but not with, `ns0`. */
const AFTER_SLASH = '0';

export class Table {
  readonly #entries = new Map<string, Entry>();
  #places: string[] = [];
  /** While a store is being read, order is not kept: sorting once is cheaper than a place for each. */
  #isLoading: boolean;

  constructor(isLoading = false) {
    this.#isLoading = isLoading;
  }

  loaded(): void {
    this.#places = [...this.#entries.keys()].sort();
    this.#isLoading = false;
  }

  get size(): number {
    return this.#places.length;
  }

  get(place: string): Entry | undefined {
    return this.#entries.get(place);
  }

  put(entry: Entry): void {
    if (!this.#isLoading && !this.#entries.has(entry.place))
      this.#places.splice(this.#firstFrom(entry.place), 0, entry.place);
    this.#entries.set(entry.place, entry);
  }

  remove(place: string): void {
    if (this.#entries.delete(place) && !this.#isLoading) this.#places.splice(this.#firstFrom(place), 1);
  }

  /**
   * All of a namespace (of all, if none is given) from a place on. `undone` holds what was different at the revision that
   * is asked for: an entry as it was then, or undefined for what was not there.
   */
  range(namespace: string | undefined, from: string, undone?: ReadonlyMap<string, Entry | undefined>): Entry[] {
    const first = this.#firstFrom(namespace === undefined ? from : larger(from, `${namespace}/`));
    const end = namespace === undefined ? this.#places.length : this.#firstFrom(`${namespace}${AFTER_SLASH}`);
    const found: Entry[] = [];
    for (let at = first; at < end; at++) {
      const place = this.#places[at] as string;
      if (!undone?.has(place)) found.push(this.#entries.get(place) as Entry);
    }
    if (undone === undefined || undone.size === 0) return found;
    for (const entry of undone.values()) {
      if (entry === undefined || entry.place < from) continue;
      if (namespace === undefined || entry.key.namespace === namespace) found.push(entry);
    }
    return found.sort((a, b) => (a.place < b.place ? -1 : 1));
  }

  /** The index of the first place that is not before `place`. */
  #firstFrom(place: string): number {
    const places = this.#places;
    let low = 0;
    let high = places.length;
    // Names often come in order; then this is an append.
    if (high > 0 && (places[high - 1] as string) < place) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((places[middle] as string) < place) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const larger = (a: string, b: string): string => (a > b ? a : b);
