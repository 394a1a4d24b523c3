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
  closedWhileWaitingError,
  commandName,
  connectError,
  isErrorReply,
  isRefusal,
  lostError,
  notSentError,
  type Redact,
  replyError,
  timeoutError,
} from './errors.ts';
import { Fifo } from './fifo.ts';

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
  settled: boolean;
}

const NO_OPTIONS = {};

export class Connection {
  readonly #client: WireClient;
  readonly #options: ConnectionOptions;
  readonly #binary: { readonly typeMapping: object };
  /** Calls in the order they were made: first those sent, then those that wait for the connection. */
  readonly #pending = new Fifo<Pending>();
  #state: 'connecting' | 'ready' | 'over' = 'connecting';
  #retired = false;
  #sweepAt = Number.POSITIVE_INFINITY;
  #sleeping = new AbortController();

  constructor(client: WireClient, options: ConnectionOptions) {
    this.#client = client;
    this.#options = options;
    this.#binary = { typeMapping: options.binaryMapping };
    client.on('error', (error) => {
      // While it connects, the same error comes as the rejection of connect().
      if (this.#state === 'ready') this.#lost(error);
    });
    this.#greet().then(
      () => this.#onReady(),
      (error: unknown) => {
        const reason = connectError(error, options.usesTls, options.endpointText, options.redact);
        this.#end(() => reason);
      },
    );
  }

  /**
   * A connection stands when the server has answered on it: only then is a call sent. TLS 1.3 refuses a client's
   * certificate after its side of the handshake is done, and a stopped process still accepts connections; without the
   * greeting, nobody would know of the first call whether it happened.
   */
  async #greet(): Promise<void> {
    await this.#client.connect();
    try {
      await this.#client.sendCommand(['PING'], NO_OPTIONS);
    } catch (error) {
      // Loading, or a user that may not PING: an answer. Not being let in is none.
      if (!isErrorReply(error) || isRefusal(error.message)) throw error;
    }
  }

  call(args: readonly Arg[], timeoutMs: number, binary: boolean): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const { clock, endpointText } = this.#options;
      if (this.#state === 'over') return reject(closedError(endpointText));
      const deadline = clock.now() + timeoutMs;
      const pending = { args, binary, timeoutMs, deadline, resolve, reject, sent: false, settled: false };
      this.#pending.push(pending);
      if (deadline < this.#sweepAt) this.#sweepBy(deadline);
      if (this.#state === 'ready') this.#send(pending);
    });
  }

  close(): void {
    const { endpointText } = this.#options;
    this.#end((pending) => (pending.sent ? closedWhileWaitingError(endpointText) : closedError(endpointText)));
  }

  #onReady(): void {
    if (this.#state !== 'connecting') return this.#client.destroy();
    this.#state = 'ready';
    for (const pending of this.#pending.open()) this.#send(pending);
  }

  #send(pending: Pending): void {
    pending.sent = true;
    this.#client.sendCommand(pending.args, pending.binary ? this.#binary : NO_OPTIONS).then(
      (reply) => {
        if (pending.settled) return;
        pending.resolve(reply as Reply);
        this.#settle(pending);
      },
      (error: unknown) => this.#onFailure(pending, error),
    );
  }

  #onFailure(pending: Pending, error: unknown): void {
    if (pending.settled) return;
    if (!isErrorReply(error)) return this.#lost(error);
    const { endpointText, redact } = this.#options;
    pending.reject(replyError(redact(error.message), commandName(pending.args), endpointText));
    this.#settle(pending);
  }

  #settle(pending: Pending): void {
    this.#pending.settle(pending);
    if (this.#retired && this.#pending.openCount === 0) this.close();
  }

  #lost(error: unknown): void {
    const { endpointText, redact } = this.#options;
    const reason = lostError(error, endpointText, redact);
    this.#end(() => reason);
  }

  #end(reasonFor: (pending: Pending) => Error): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#sleeping.abort();
    this.#options.onRetired();
    this.#options.onOver();
    for (const pending of this.#pending.open()) {
      this.#pending.settle(pending);
      pending.reject(reasonFor(pending));
    }
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
    const { clock, endpointText, onRetired } = this.#options;
    const now = clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const pending of this.#pending.open()) {
      if (pending.deadline > now) {
        next = Math.min(next, pending.deadline);
        continue;
      }
      // A connection that failed to answer in time may be dead without our knowing: the next call gets a new one,
      // while calls with a longer deadline may still be answered here.
      this.#retired = true;
      this.#pending.settle(pending);
      pending.reject(
        pending.sent
          ? timeoutError(commandName(pending.args), pending.timeoutMs, endpointText)
          : notSentError(pending.timeoutMs, endpointText),
      );
    }
    this.#sweepAt = next;
    if (this.#retired) onRetired();
    if (this.#retired && this.#pending.openCount === 0) this.close();
    else if (next !== Number.POSITIVE_INFINITY) this.#sweepBy(next);
  }
}
