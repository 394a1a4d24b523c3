/**
 * First in, first out, with items that can be taken back in O(1). Not a Map in insertion order: a Map skips every hole at
 * its head again for each look, which makes draining 100,000 keys quadratic.
 */
export interface Slot<T> {
  /** Undefined once it was taken out or taken back. */
  item: T | undefined;
}

export class Fifo<T> {
  #slots: Slot<T>[] = [];
  #head = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(item: T): Slot<T> {
    const slot: Slot<T> = { item };
    this.#slots.push(slot);
    this.#size++;
    return slot;
  }

  peek(): T | undefined {
    return this.#first()?.item;
  }

  shift(): T | undefined {
    const slot = this.#first();
    if (!slot) return undefined;
    const item = slot.item;
    this.remove(slot);
    return item;
  }

  /** Takes an item back; it must have been pushed here. */
  remove(slot: Slot<T>): void {
    if (slot.item === undefined) return;
    slot.item = undefined;
    this.#size--;
  }

  #first(): Slot<T> | undefined {
    while (this.#head < this.#slots.length) {
      const slot = this.#slots[this.#head] as Slot<T>;
      if (slot.item !== undefined) return slot;
      this.#head++;
      if (this.#head > 64 && this.#head * 2 > this.#slots.length) {
        this.#slots = this.#slots.slice(this.#head);
        this.#head = 0;
      }
    }
    this.#slots = [];
    this.#head = 0;
    return undefined;
  }
}
