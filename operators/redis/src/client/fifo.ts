/**
 * Entries that are added at the end and settled mostly at the front, some before their turn. For pipelines of tens of
 * thousands of calls, where a Set costs as much as the call.
 */
export class Fifo<Entry extends { settled: boolean }> {
  #entries: Entry[] = [];
  #head = 0;
  #openCount = 0;

  get openCount(): number {
    return this.#openCount;
  }

  push(entry: Entry): void {
    this.#entries.push(entry);
    this.#openCount++;
  }

  /** Marks an entry as settled; it is no longer among the open ones. */
  settle(entry: Entry): void {
    if (entry.settled) return;
    entry.settled = true;
    this.#openCount--;
    while (this.#entries[this.#head]?.settled) this.#head++;
    // Moving the rest to the front only when it is the smaller part keeps the cost per entry constant.
    if (this.#head > 512 && this.#head * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
  }

  /** The open entries in their order. Entries may be settled meanwhile; those added meanwhile are not among them. */
  open(): readonly Entry[] {
    const open: Entry[] = [];
    for (let index = this.#head; index < this.#entries.length; index++) {
      const entry = this.#entries[index];
      if (entry && !entry.settled) open.push(entry);
    }
    return open;
  }
}
