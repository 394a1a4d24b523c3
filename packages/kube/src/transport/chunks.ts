/** The bytes of an answer as they come. Written out because Node's own way through a stream costs more than reading an event does. */
import { finished, type Readable } from 'node:stream';
import { Gathering } from '../ports/system.ts';
import type { TransportRequest } from './transport.ts';
import { networkError } from './wire.ts';

/** The chunks of a stream, its errors as ours. `ended` says whether it came to its proper end. */
export function chunksOf(
  stream: Readable,
  ended: () => boolean,
  server: URL,
  { signal, streaming = false }: TransportRequest,
): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => new Chunks(stream, ended, server, signal, streaming) };
}

type Next = IteratorResult<Uint8Array, undefined>;

const DONE: Next = { done: true, value: undefined };

class Chunks implements AsyncIterator<Uint8Array, undefined> {
  readonly #stream: Readable;
  readonly #streaming: boolean;
  readonly #ended: () => boolean;
  readonly #server: URL;
  readonly #signal: AbortSignal | undefined;
  #wake: (() => void) | undefined;
  /** Set when nothing more comes: with what went wrong, if something did. */
  #end: { readonly error?: unknown } | undefined;
  #isLeft = false;
  readonly #gathering = new Gathering();

  constructor(
    stream: Readable,
    ended: () => boolean,
    server: URL,
    signal: AbortSignal | undefined,
    streaming: boolean,
  ) {
    this.#stream = stream;
    this.#streaming = streaming;
    this.#ended = ended;
    this.#server = server;
    this.#signal = signal;
    stream.on('readable', () => this.#wake?.());
    finished(stream, { writable: false }, (error) => {
      this.#end = error ? { error } : {};
      this.#wake?.();
    });
  }

  async next(): Promise<Next> {
    while (!this.#isLeft) {
      const chunk = this.#stream.destroyed ? null : (this.#stream.read() as Buffer | null);
      if (chunk !== null) return { done: false, value: chunk };
      if (this.#end) return this.#finish(this.#end);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      // Each event of a watch comes in a piece of its own.
      if (this.#streaming && (await this.#gathering.turn())) await this.#gathering.rest();
    }
    return DONE;
  }

  /** Also to one who never asked, or waits. */
  async return(): Promise<Next> {
    this.#isLeft = true;
    this.#stream.destroy();
    this.#wake?.();
    return DONE;
  }

  #finish({ error }: { readonly error?: unknown }): Next {
    this.#isLeft = true;
    if (error !== undefined) throw networkError(error, this.#server, this.#signal);
    if (this.#signal?.aborted) throw this.#signal.reason;
    if (!this.#ended()) throw networkError(new Error('the answer ended in its middle'), this.#server);
    return DONE;
  }
}
