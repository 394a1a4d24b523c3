/** One answer as the connection tells of it: its head as a promise, its bytes at the pace of who reads them. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { Arrivals } from './arrivals.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';
import { flat } from './wire.ts';

type Controller = Dispatcher.DispatchController;

export class Answer implements Dispatcher.DispatchHandler {
  /** Rejects with what the network said, in its own words. */
  readonly response: Promise<TransportResponse>;
  readonly #request: TransportRequest;
  readonly #arrivals: Arrivals;
  readonly #onAbort = (): void => this.#abort();
  #resolve!: (response: TransportResponse) => void;
  #reject!: (error: unknown) => void;
  #controller: Controller | undefined;

  constructor(server: URL, request: TransportRequest) {
    this.#request = request;
    this.#arrivals = new Arrivals(server, request, {
      pause: () => this.#controller?.pause(),
      resume: () => this.#controller?.resume(),
      // There is no half an answer on a connection that is used again: it is closed.
      leave: () => this.#controller?.abort(new Error('nobody reads on')),
    });
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
    queueMicrotask(() => this.#resolve({ status, headers: flat(headers), body: this.#arrivals.body() }));
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    this.#arrivals.add(chunk);
    this.#arrivals.tell();
  }

  onResponseEnd(): void {
    this.#ended({});
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#ended({ error });
    this.#reject(error);
  }

  #abort(): void {
    const reason = this.#request.signal?.reason as Error;
    this.#reject(reason);
    this.#controller?.abort(reason);
  }

  #ended(end: { readonly error?: unknown }): void {
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    this.#arrivals.end(end);
  }
}
