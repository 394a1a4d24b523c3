/** Puts pieces together in memory that is used again: a buffer for each of them costs more than to copy them twice. */
const USUAL = 64 * 1024;

export class ByteStore {
  #bytes = Buffer.allocUnsafeSlow(USUAL);
  #size = 0;

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

  /** All of it, for good; then it is empty. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#size));
    this.#size = 0;
    if (this.#bytes.length > USUAL) this.#bytes = Buffer.allocUnsafeSlow(USUAL);
    return taken;
  }
}
