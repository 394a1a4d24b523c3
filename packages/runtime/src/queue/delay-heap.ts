/** Keys that become due at a time. Each key has one time, which can be moved and taken back: O(log n) each. */
interface Item {
  readonly key: string;
  at: number;
  readonly order: number;
  place: number;
}

export class DelayHeap {
  readonly #items: Item[] = [];
  readonly #byKey = new Map<string, Item>();
  #orders = 0;

  get size(): number {
    return this.#items.length;
  }

  /** When the first key is due. */
  get nextAt(): number | undefined {
    return this.#items[0]?.at;
  }

  /** Sets the time of a key, whatever it was before. */
  set(key: string, at: number): void {
    const known = this.#byKey.get(key);
    if (known) {
      const isEarlier = at < known.at;
      known.at = at;
      if (isEarlier) this.#up(known);
      else this.#down(known);
      return;
    }
    const item: Item = { key, at, order: this.#orders++, place: this.#items.length };
    this.#items.push(item);
    this.#byKey.set(key, item);
    this.#up(item);
  }

  delete(key: string): void {
    const item = this.#byKey.get(key);
    if (!item) return;
    this.#byKey.delete(key);
    const last = this.#items.pop() as Item;
    if (last === item) return;
    this.#put(last, item.place);
    this.#up(last);
    this.#down(last);
  }

  /** Takes out the first key that is due at `now`. */
  popDue(now: number): string | undefined {
    const first = this.#items[0];
    if (!first || first.at > now) return undefined;
    this.delete(first.key);
    return first.key;
  }

  clear(): void {
    this.#items.length = 0;
    this.#byKey.clear();
  }

  #up(item: Item): void {
    while (item.place > 0) {
      const parent = this.#items[(item.place - 1) >> 1] as Item;
      if (!isBefore(item, parent)) return;
      this.#swap(item, parent);
    }
  }

  #down(item: Item): void {
    for (;;) {
      const left = this.#items[2 * item.place + 1];
      if (!left) return;
      const right = this.#items[2 * item.place + 2];
      const child = right && isBefore(right, left) ? right : left;
      if (!isBefore(child, item)) return;
      this.#swap(child, item);
    }
  }

  #swap(a: Item, b: Item): void {
    const place = a.place;
    this.#put(a, b.place);
    this.#put(b, place);
  }

  #put(item: Item, place: number): void {
    item.place = place;
    this.#items[place] = item;
  }
}

/** At the same time: first in, first out. */
function isBefore(a: Item, b: Item): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
