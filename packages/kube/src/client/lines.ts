/** Cuts a stream of bytes into lines without looking at characters: a newline byte is never part of another one. */
import { KubeError } from '../errors/errors.ts';

const NEWLINE = 10;

export class LineCutter {
  readonly #maxBytes: number;
  /** The beginning of a line that has no end yet, in pieces: joined once, however many chunks it takes. */
  #begun: Buffer[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that this chunk ends, all together, so that a reader can take them in one turn; they may lie in it. Empty lines are left out. */
  push(bytes: Uint8Array): readonly Buffer[] {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end));
      for (const line of this.end()) lines.push(line);
      start = end + 1;
    }
    // A copy: the chunk may be lent.
    if (start < chunk.length) this.#keep(Buffer.from(chunk.subarray(start)));
    return lines;
  }

  /** The last line, if it has no newline. */
  end(): readonly Buffer[] {
    const [only] = this.#begun;
    const lines = this.#size === 0 || !only ? [] : [this.#begun.length === 1 ? only : Buffer.concat(this.#begun)];
    this.#begun = [];
    this.#size = 0;
    return lines;
  }

  #keep(piece: Buffer): void {
    this.#size += piece.length;
    if (this.#size > this.#maxBytes) {
      throw new KubeError('KUBE_TOO_LARGE', `a line of more than ${this.#maxBytes} bytes`);
    }
    this.#begun.push(piece);
  }
}
