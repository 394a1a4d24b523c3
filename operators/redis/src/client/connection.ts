/**
 * One connection to one server. Made for pipelines of tens of thousands of commands: no timer and no async function
 * per call, one sweep for all deadlines.
 *
 * It never reconnects: when it breaks, every pending call rejects and the connection is over; the port opens another
 * one with the next call. So a caller always learns that something was lost.
 */
import type { Clock } from '@reeve/runtime';
import type { Arg, Reply } from '../api/port.ts';
import {
  closedError,
  commandName,
  connectError,
  isErrorReply,
  lostError,
  notSentError,
  type Redact,
  replyError,
  timeoutError,
} from './errors.ts';

/** The part of a node-redis client that is used here. */
export interface WireClient {
  on(event: 'error', listener: (error: Error) => void): unknown;
  connect(): Promise<unknown>;
  sendCommand(args: readonly Arg[], options: { readonly typeMapping?: object }): Promise<unknown>;
  destroy(): void;
}

export interface ConnectionOptions {
  readonly endpointText: string;
  readonly usesTls: boolean;
  readonly redact: Redact;
  readonly clock: Clock;
  /** Type mapping that leaves bulk strings as Buffers. */
  readonly binaryMapping: object;
  /** No further call may be given to this connection. May be called twice. */
  readonly onRetired: () => void;
  /** Called once: nothing is pending any more and the socket is gone. */
  readonly onOver: () => void;
}

interface Pending {
  readonly args: readonly Arg[];
  readonly binary: boolean;
  readonly timeoutMs: number;
  readonly deadline: number;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
  sent: boolean;
}

const NO_OPTIONS = {};

export class Connection {
  readonly #client: WireClient;
  readonly #options: ConnectionOptions;
  readonly #binary: { readonly typeMapping: object };
  /** Calls without an outcome, in the order they were made: first those sent, then those that wait for the connection. */
  readonly #pending = new Set<Pending>();
  #state: 'connecting' | 'ready' | 'over' = 'connecting';
  #everReplied = false;
  #sweepAt = Number.POSITIVE_INFINITY;
  #sleeping = new AbortController();

  constructor(client: WireClient, options: ConnectionOptions) {
    this.#client = client;
    this.#options = options;
    this.#binary = { typeMapping: options.binaryMapping };
    // Errors come to each pending call through its own promise; this listener only marks the end.
    client.on('error', (error) => {
      if (this.#state === 'ready') this.#end(lostError(error, this.#everReplied, options.endpointText, options.redact));
    });
    client.connect().then(
      () => this.#onReady(),
      (error: unknown) => {
        this.#end(connectError(error, options.usesTls, options.endpointText, options.redact));
      },
    );
  }

  call(args: readonly Arg[], timeoutMs: number, binary: boolean): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const { clock, endpointText } = this.#options;
      if (this.#state === 'over') return reject(closedError(endpointText));
      const deadline = clock.now() + timeoutMs;
      const pending: Pending = { args, binary, timeoutMs, deadline, resolve, reject, sent: false };
      this.#pending.add(pending);
      if (deadline < this.#sweepAt) this.#sweepBy(deadline);
      if (this.#state === 'ready') this.#send(pending);
    });
  }

  close(): void {
    this.#end(closedError(this.#options.endpointText));
  }

  #onReady(): void {
    if (this.#state !== 'connecting') return this.#client.destroy();
    this.#state = 'ready';
    for (const pending of this.#pending) this.#send(pending);
  }

  #send(pending: Pending): void {
    pending.sent = true;
    this.#client.sendCommand(pending.args, pending.binary ? this.#binary : NO_OPTIONS).then(
      (reply) => {
        this.#everReplied = true;
        if (this.#pending.delete(pending)) pending.resolve(reply as Reply);
      },
      (error: unknown) => this.#onFailure(pending, error),
    );
  }

  #onFailure(pending: Pending, error: unknown): void {
    const { endpointText, redact } = this.#options;
    if (isErrorReply(error)) {
      this.#everReplied = true;
      if (this.#pending.delete(pending)) {
        pending.reject(replyError(redact(error.message), commandName(pending.args), endpointText));
      }
      return;
    }
    if (!this.#pending.has(pending)) return;
    this.#end(lostError(error, this.#everReplied, endpointText, redact));
  }

  #end(error: Error): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#sleeping.abort();
    this.#options.onRetired();
    this.#options.onOver();
    for (const pending of this.#pending) pending.reject(error);
    this.#pending.clear();
    this.#client.destroy();
  }

  /** One sleep for all calls: until the earliest deadline. */
  #sweepBy(time: number): void {
    this.#sleeping.abort();
    this.#sleeping = new AbortController();
    this.#sweepAt = time;
    const { clock } = this.#options;
    clock.sleep(Math.max(0, time - clock.now()), this.#sleeping.signal).then(
      () => this.#sweep(),
      () => undefined, // a sooner deadline came, or the connection ended
    );
  }

  #sweep(): void {
    if (this.#state === 'over') return;
    const { clock, endpointText } = this.#options;
    const now = clock.now();
    let next = Number.POSITIVE_INFINITY;
    let expired = false;
    for (const pending of this.#pending) {
      if (pending.deadline > now) {
        next = Math.min(next, pending.deadline);
        continue;
      }
      expired = true;
      this.#pending.delete(pending);
      pending.reject(
        pending.sent
          ? timeoutError(commandName(pending.args), pending.timeoutMs, endpointText)
          : notSentError(pending.timeoutMs, endpointText),
      );
    }
    // A connection that failed to answer in time may be dead without our knowing: the next call gets a new one,
    // while calls with a longer deadline may still be answered here.
    if (expired) this.#options.onRetired();
    this.#sweepAt = next;
    if (expired && this.#pending.size === 0) this.#end(closedError(endpointText));
    else if (next !== Number.POSITIVE_INFINITY) this.#sweepBy(next);
  }
}
