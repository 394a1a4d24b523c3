/** What one watch has been told by the server and its reader has not been told yet: here events are late, lost or told twice. */
import type { TransportResponse } from '@reeve/kube';

/** How many of the last lines can be told once more. */
const KEPT_LINES = 8;
const NEWLINE = 0x0a;

export class Feed {
  /** Whoever opened it has got the answer. */
  isClaimed = false;
  readonly #body: AsyncIterator<Uint8Array>;
  readonly #isWanted: () => boolean;
  #chunks: Uint8Array[] = [];
  #told: Uint8Array[] = [];
  #isOver = false;
  #isBroken = false;

  /** @param isWanted whether its reader still lives. */
  constructor(body: Exclude<TransportResponse['body'], Uint8Array>, isWanted: () => boolean) {
    this.#body = body[Symbol.asyncIterator]();
    this.#isWanted = isWanted;
    void this.#pump();
  }

  /** Nobody reads it, and nobody will: its connection is closed. */
  get isAbandoned(): boolean {
    return !this.isClaimed || !this.#isWanted();
  }

  get hasNews(): boolean {
    return this.#chunks.length > 0 || this.#isOver || this.#isBroken;
  }

  /** What has come; undefined: it is over. Throws when the connection broke. */
  take(): Uint8Array | undefined {
    if (this.#isBroken) throw lostConnection();
    const bytes = Buffer.concat(this.#chunks);
    if (bytes.length === 0) return undefined;
    this.#chunks = [];
    this.#told = [...this.#told, ...linesOf(bytes)].slice(-KEPT_LINES);
    return bytes;
  }

  /** The server ends it in good order: what has come is still told. */
  end(): void {
    void this.#body.return?.();
  }

  /** The connection breaks, and what was on its way is lost. */
  break(): void {
    this.end();
    this.#chunks = [];
    this.#isBroken = true;
  }

  /** Its reader hears the last events once more, as from a server that lags behind. */
  replay(count: number): void {
    const events = this.#told.filter((line) => !Buffer.from(line).toString('latin1').startsWith('{"type":"BOOKMARK"'));
    this.#chunks.push(...events.slice(-count));
  }

  async #pump(): Promise<void> {
    for (;;) {
      const { value, done } = (await this.#body.next()) as IteratorResult<Uint8Array, undefined>;
      if (done === true) break;
      this.#chunks.push(value);
    }
    this.#isOver = true;
  }
}

function linesOf(bytes: Buffer): readonly Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let from = 0, to = 0; from < bytes.length; from = to) {
    to = bytes.indexOf(NEWLINE, from) + 1 || bytes.length;
    lines.push(bytes.subarray(from, to));
  }
  return lines;
}

function lostConnection(): Error {
  return Object.assign(new Error('the connection broke'), { code: 'KUBE_CONNECTION_LOST', subjects: [] });
}
