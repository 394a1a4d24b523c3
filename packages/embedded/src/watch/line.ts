/**
 * One line of a watch, made once for all who get it: as it is, and as a chunk of HTTP/1.1. Framed by each connection for itself it would be
 * four writes instead of one, and a copy to put them together again.
 */
export class Line {
  /** With its length before it and an end behind it. Chunks one behind the other are chunks, too. */
  readonly chunk: Buffer;
  /** The line itself, in the same memory. */
  readonly bytes: Buffer;

  constructor(text: string) {
    const size = Buffer.byteLength(text);
    const head = `${size.toString(16)}\r\n`;
    this.chunk = Buffer.from(`${head}${text}\r\n`);
    this.bytes = this.chunk.subarray(head.length, head.length + size);
  }
}
