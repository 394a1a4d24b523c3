/** Puts pieces together in memory that is used again: a buffer for each of them costs more than to copy them twice. */
import type { Held } from './arrivals.ts';

const USUAL = 64 * 1024;
/** More is let go of once it is empty. */
const MOST_KEPT = 512 * 1024;

export class ByteStore implements Held {
  readonly enough = 256 * 1024;
  readonly #lends: () => boolean;
  #bytes: Buffer = Buffer.allocUnsafeSlow(USUAL);
  #size = 0;
  /** What was taken last, if it was lent. */
  #lent: Buffer | undefined;

  /**
   * @param lends what is taken need only last until the next is. A copy for good is memory outside of the engine's own, and each 64 MB
   * of it make the engine look through all it has: that cost more than the events, where many objects are kept.
   */
  constructor(lends: () => boolean = () => false) {
    this.#lends = lends;
  }

  get size(): number {
    return this.#size;
  }

  add(piece: Uint8Array): void {
    const size = this.#size + piece.length;
    if (size > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(size, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#size);
      this.#bytes = larger;
    }
    this.#bytes.set(piece, this.#size);
    this.#size = size;
  }

  take(): Buffer {
    const held = this.#bytes.subarray(0, this.#size);
    const taken = this.#lends() ? held : Buffer.from(held);
    const next = taken === held ? this.#lent : this.#bytes;
    this.#lent = taken === held ? this.#bytes : undefined;
    this.#bytes = next !== undefined && next.length <= MOST_KEPT ? next : Buffer.allocUnsafeSlow(USUAL);
    this.#size = 0;
    return taken;
  }
}
