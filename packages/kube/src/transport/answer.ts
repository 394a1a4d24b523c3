/** One answer as the connection tells of it: its head as a promise, its bytes at the pace of who reads them. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { Gathering } from '../ports/system.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';
import { flat, networkError } from './wire.ts';

type Next = IteratorResult<Uint8Array, undefined>;
type Controller = Dispatcher.DispatchController;

const DONE: Next = { done: true, value: undefined };
/** Bytes that wait for a reader before the connection does. */
const HIGH_WATER = 1024 * 1024;

export class Answer implements Dispatcher.DispatchHandler, AsyncIterator<Uint8Array, undefined> {
  /** Rejects with what the network said, in its own words. */
  readonly response: Promise<TransportResponse>;
  readonly #server: URL;
  readonly #request: TransportRequest;
  readonly #onEnd: (() => void) | undefined;
  readonly #onAbort = (): void => this.#abort();
  #resolve!: (response: TransportResponse) => void;
  #reject!: (error: unknown) => void;
  #controller: Controller | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #wake: (() => void) | undefined;
  /** Set when nothing more comes: with what went wrong, if something did. */
  #end: { readonly error?: unknown } | undefined;
  #isLeft = false;
  readonly #gathering = new Gathering();

  /** `onEnd`: nothing more comes, or nobody wants it. */
  constructor(server: URL, request: TransportRequest, onEnd?: () => void) {
    this.#server = server;
    this.#request = request;
    this.#onEnd = onEnd;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    request.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    // It waited for a connection, and who asked has left meanwhile.
    if (this.#request.signal?.aborted) this.#abort();
  }

  onResponseStart(_controller: Controller, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return; // another one follows
    // A short answer is whole when what arrived has been told: then nobody need wait for its parts.
    queueMicrotask(() => this.#resolve({ status, headers: flat(headers), body: this.#body() }));
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#isLeft) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > HIGH_WATER) controller.pause();
    this.#wake?.();
  }

  onResponseEnd(): void {
    this.#ended({});
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#ended({ error });
    this.#reject(error);
  }

  async next(): Promise<Next> {
    while (!this.#isLeft) {
      if (this.#bytes > 0) return { done: false, value: this.#take() };
      if (this.#end) return this.#finish(this.#end);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      // Each event of a watch comes in a piece of its own.
      if (this.#request.streaming) await this.#gathering.wait();
    }
    return DONE;
  }

  /** Also to one who never asked, or waits. */
  async return(): Promise<Next> {
    this.#isLeft = true;
    this.#chunks = [];
    // There is no half an answer on a connection that is used again: it is closed.
    if (!this.#end) this.#controller?.abort(new Error('nobody reads on'));
    this.#wake?.();
    return DONE;
  }

  #body(): TransportResponse['body'] {
    if (this.#end && this.#end.error === undefined) return this.#bytes > 0 ? this.#take() : new Uint8Array();
    return { [Symbol.asyncIterator]: () => this };
  }

  #take(): Buffer {
    const [first] = this.#chunks;
    const taken = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#bytes);
    this.#chunks = [];
    this.#bytes = 0;
    if (this.#controller?.paused) this.#controller.resume();
    return taken;
  }

  #abort(): void {
    const reason = this.#request.signal?.reason as Error;
    this.#reject(reason);
    if (this.#controller) this.#controller.abort(reason);
    else this.#onEnd?.();
  }

  #ended(end: { readonly error?: unknown }): void {
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    this.#end = end;
    this.#onEnd?.();
    this.#wake?.();
  }

  #finish({ error }: { readonly error?: unknown }): Next {
    this.#isLeft = true;
    if (error !== undefined) throw networkError(error, this.#server, this.#request.signal);
    return DONE;
  }
}
