/** Bytes of an answer that have arrived, for a reader who takes all of them that are there. */
import type { TransportRequest, TransportResponse } from './transport.ts';
import { networkError } from './wire.ts';

type Next = IteratorResult<Uint8Array, undefined>;

const DONE: Next = { done: true, value: undefined };
/** Bytes that wait for a reader before the connection does. */
const HIGH_WATER = 1024 * 1024;

/** The connection that they come from. */
export interface Source {
  pause(): void;
  resume(): void;
  /** Nobody reads on. */
  leave(): void;
}

export class Arrivals implements AsyncIterator<Uint8Array, undefined> {
  readonly #server: URL;
  readonly #request: TransportRequest;
  readonly #source: Source;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isPaused = false;
  #wake: (() => void) | undefined;
  /** Set when nothing more comes: with what went wrong, if something did. */
  #end: { readonly error?: unknown } | undefined;
  #isLeft = false;

  constructor(server: URL, request: TransportRequest, source: Source) {
    this.#server = server;
    this.#request = request;
    this.#source = source;
  }

  /** The source has been told to wait. */
  get isFull(): boolean {
    return this.#isPaused;
  }

  push(chunk: Buffer): void {
    if (this.#isLeft) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > HIGH_WATER && !this.#isPaused) {
      this.#isPaused = true;
      this.#source.pause();
    }
    this.#wake?.();
  }

  end(end: { readonly error?: unknown }): void {
    this.#end ??= end;
    this.#wake?.();
  }

  /** Whole, if all of it is here already. */
  body(): TransportResponse['body'] {
    if (this.#end && this.#end.error === undefined) return this.#bytes > 0 ? this.#take() : new Uint8Array();
    return { [Symbol.asyncIterator]: () => this };
  }

  async next(): Promise<Next> {
    while (!this.#isLeft) {
      if (this.#bytes > 0) return { done: false, value: this.#take() };
      if (this.#end) return this.#finish(this.#end);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return DONE;
  }

  /** Also to one who never asked, or waits. */
  async return(): Promise<Next> {
    this.#isLeft = true;
    this.#chunks = [];
    if (!this.#end) this.#source.leave();
    this.#wake?.();
    return DONE;
  }

  #take(): Buffer {
    const [first] = this.#chunks;
    const taken = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#bytes);
    this.#chunks = [];
    this.#bytes = 0;
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#source.resume();
    }
    return taken;
  }

  #finish({ error }: { readonly error?: unknown }): Next {
    this.#isLeft = true;
    if (error !== undefined) throw networkError(error, this.#server, this.#request.signal);
    return DONE;
  }
}
