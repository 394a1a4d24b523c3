/**
 * Closed for a key while a cache has not seen what this process wrote on behalf of that key: its own object, or its children in
 * another cache. A worker that decided now would decide on the state before, and create the same child twice.
 */
export interface GateClock {
  caughtUp(key: string, version: string): boolean;
}

interface Expected {
  readonly cache: GateClock;
  readonly objectKey: string;
  readonly version: string;
}

export class Gate {
  readonly #expected = new Map<string, Expected[]>();

  /** `key`: for whom the write was; `objectKey`: what was written, to be seen by `cache`. */
  expect(key: string, cache: GateClock, objectKey: string, version: string): void {
    const open = this.#expected.get(key) ?? [];
    open.push({ cache, objectKey, version });
    this.#expected.set(key, open);
  }

  /** The objects that are still to be seen; empty: the key may run. */
  waitsFor(key: string): readonly string[] {
    const expected = this.#expected.get(key);
    if (!expected) return [];
    const left = expected.filter(({ cache, objectKey, version }) => !cache.caughtUp(objectKey, version));
    if (left.length === 0) this.#expected.delete(key);
    else this.#expected.set(key, left);
    return left.map(({ objectKey }) => objectKey);
  }

  isOpen(key: string): boolean {
    return this.waitsFor(key).length === 0;
  }

  /** The object is gone: nothing is expected for it any more. */
  forget(key: string): void {
    this.#expected.delete(key);
  }
}
