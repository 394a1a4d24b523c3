/** Cuts a stream of bytes into lines without looking at characters: a newline byte is never part of another one. */
import { KubeError } from '../errors/errors.ts';

const NEWLINE = 10;

/** The complete lines of every chunk together, so that a reader can take them in one turn. Empty lines are left out. */
export async function* linesOf(
  body: Uint8Array | AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<readonly Buffer[], void, undefined> {
  // The beginning of a line that has no end yet, in pieces: joined once, however many chunks it takes.
  let begun: Buffer[] = [];
  let size = 0;
  for await (const bytes of body instanceof Uint8Array ? [body] : body) {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const rest = chunk.subarray(start, end);
      const line = begun.length === 0 ? rest : Buffer.concat([...begun, rest], size + rest.length);
      if (line.length > maxBytes) throw tooLong(maxBytes);
      if (line.length > 0) lines.push(line);
      begun = [];
      size = 0;
      start = end + 1;
    }
    if (start < chunk.length) {
      begun.push(chunk.subarray(start));
      size += chunk.length - start;
      if (size > maxBytes) throw tooLong(maxBytes);
    }
    if (lines.length > 0) yield lines;
  }
  if (size > 0) yield [Buffer.concat(begun, size)];
}

const tooLong = (limit: number): KubeError => new KubeError('KUBE_TOO_LARGE', `a line of more than ${limit} bytes`);
