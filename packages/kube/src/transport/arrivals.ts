/** Bytes of an answer that have arrived, for a reader who takes all of them that are there. */
import type { TransportRequest, TransportResponse } from './transport.ts';
import { networkError } from './wire.ts';

type Next = IteratorResult<Uint8Array, undefined>;

const DONE: Next = { done: true, value: undefined };

/** The connection that they come from. */
export interface Source {
  pause(): void;
  resume(): void;
  /** Nobody reads on. */
  leave(): void;
}

/** What has arrived and waits for its reader. */
export interface Held {
  /** In bytes. */
  readonly size: number;
  /** With more than this the connection waits for the reader. */
  readonly enough: number;
  add(piece: Buffer): void;
  /** All of it; then it is empty. */
  take(): Buffer;
}

/** Pieces that are nobody else's. */
class Pieces implements Held {
  readonly enough = 1024 * 1024;
  #pieces: Buffer[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#size += piece.length;
  }

  take(): Buffer {
    const [first] = this.#pieces;
    const taken = first && this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces, this.#size);
    this.#pieces = [];
    this.#size = 0;
    return taken;
  }
}

export class Arrivals implements AsyncIterator<Uint8Array, undefined> {
  readonly #server: URL;
  readonly #request: TransportRequest;
  readonly #source: Source;
  readonly #held: Held;
  /** The reader may have what is held. */
  #isTold = false;
  #isPaused = false;
  #wake: (() => void) | undefined;
  /** Set when nothing more comes: with what went wrong, if something did. */
  #end: { readonly error?: unknown } | undefined;
  #isLeft = false;

  constructor(server: URL, request: TransportRequest, source: Source, held: Held = new Pieces()) {
    this.#server = server;
    this.#request = request;
    this.#source = source;
    this.#held = held;
  }

  /** The source has been told to wait. */
  get isFull(): boolean {
    return this.#isPaused;
  }

  /** The reader is not told yet. */
  add(piece: Buffer): void {
    if (this.#isLeft) return;
    this.#held.add(piece);
    if (this.#held.size > this.#held.enough && !this.#isPaused) {
      this.#isPaused = true;
      this.#source.pause();
    }
  }

  /** The reader may have all that was added. */
  tell(): void {
    this.#isTold = true;
    this.#wake?.();
  }

  end(end: { readonly error?: unknown }): void {
    this.#end ??= end;
    this.#wake?.();
  }

  /** Whole, if all of it is here already. */
  body(): TransportResponse['body'] {
    if (this.#end && this.#end.error === undefined) return this.#held.size > 0 ? this.#take() : new Uint8Array();
    return { [Symbol.asyncIterator]: () => this };
  }

  async next(): Promise<Next> {
    while (!this.#isLeft) {
      if (this.#held.size > 0 && (this.#isTold || this.#end)) return { done: false, value: this.#take() };
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
    this.#held.take();
    if (!this.#end) this.#source.leave();
    this.#wake?.();
    return DONE;
  }

  #take(): Buffer {
    const taken = this.#held.take();
    this.#isTold = false;
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
