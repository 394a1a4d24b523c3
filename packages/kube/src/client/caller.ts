/** One call: sent, retried where that is harmless, bounded in time and size, its answer read or thrown. */
import { KubeError } from '../errors/errors.ts';
import { type Json, parseJson } from '../json/parse.ts';
import type { Clock, Random } from '../ports/ports.ts';
import { readBody, type Transport, type TransportRequest, type TransportResponse } from '../transport/transport.ts';
import { failure } from './failure.ts';

export interface CallerOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * For a whole call with its retries, or until a watch begins. Default 60 s, the server's own limit. A server that asks to come back
   * later than that is not waited for: its refusal is thrown at once, and says when.
   */
  readonly timeoutMs?: number;
  /** How often a busy server is asked again. Default 5. Watches are not retried: their reader knows better when. */
  readonly retries?: number;
  /** The largest answer, and the largest event of a watch. Default 128 MB. */
  readonly maxBytes?: number;
}

/** Longer than this nothing makes us wait that the server did not ask for. */
const MOST_WAIT_MS = 30_000;
/** Nor does it if it asks for more than this, whatever time there is: nobody knows by then what the call was for. */
const MOST_ASKED_MS = 300_000;
const DEFAULT_MAX_BYTES = 128 * 1024 * 1024;
/** The reason for ending a clock that nobody waits for. Without one an exception is made for it, and its stack is walked. */
const ANSWERED = 'answered in time';
/** A Status is small; what comes instead of one is not read to its end. */
const MOST_STATUS_BYTES = 4 * 1024 * 1024;

export class Caller {
  readonly #options: CallerOptions;
  readonly maxBytes: number;

  constructor(options: CallerOptions) {
    this.#options = options;
    this.maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
  }

  async call(request: TransportRequest): Promise<Json> {
    return parseJson((await this.answer(request)).toString('utf8'));
  }

  /** The bytes of an answer. */
  async answer(request: TransportRequest): Promise<Buffer> {
    const limit = this.#limit(request);
    try {
      const bounded = { ...request, signal: limit.signal };
      for (let attempt = 0; ; attempt++) {
        const response = await this.#options.transport(bounded);
        if (response.status < 300) return await readBody(response.body, this.maxBytes);
        const error = await refusal(request, response);
        if (attempt >= (this.#options.retries ?? 5) || !isWorthAnother(request, response.status, error)) throw error;
        const pauseMs = this.#pause(error, attempt, limit.leftMs());
        if (pauseMs === undefined) throw error;
        await this.#options.clock.sleep(pauseMs, limit.signal);
      }
    } finally {
      limit.end();
    }
  }

  /** The answer as it comes, until it is disposed of. The time limit ends with its beginning; the signal of the request does not. */
  async stream(request: TransportRequest): Promise<Streamed> {
    const limit = this.#limit(request);
    try {
      const { status, headers, body } = await this.#options.transport({
        ...request,
        streaming: true,
        signal: limit.signal,
      });
      if (status >= 300) throw await refusal(request, { status, headers, body });
      limit.stopClock();
      return { chunks: body instanceof Uint8Array ? [body] : body, [Symbol.dispose]: () => limit.end() };
    } catch (error) {
      limit.end();
      throw error;
    }
  }

  /** Undefined if there is no time for it. */
  #pause({ retryAfterMs }: KubeError, attempt: number, leftMs: number): number | undefined {
    const asked = retryAfterMs ?? Math.min(1000 * 2 ** attempt, MOST_WAIT_MS);
    const most = Math.min(leftMs, MOST_ASKED_MS);
    if (asked >= most) return undefined;
    // Spread, or all who were refused together come back together; over half of what is left at most, so that there is time to ask.
    return asked + Math.min(asked, most - asked) * (this.#options.random.next() / 2);
  }

  #limit(request: TransportRequest): Limit {
    const parent = request.signal;
    const what = titleOf(request);
    const { clock, timeoutMs = 60_000 } = this.#options;
    const controller = new AbortController();
    const sleeping = new AbortController();
    const endsAt = clock.now() + timeoutMs;
    const onParent = () => controller.abort(parent?.reason);
    if (parent?.aborted) onParent();
    parent?.addEventListener('abort', onParent, { once: true });
    clock.sleep(timeoutMs, sleeping.signal).then(
      () =>
        controller.abort(new KubeError('KUBE_TIMEOUT', `${what}: no answer in ${timeoutMs} ms`, { subjects: [what] })),
      () => undefined, // answered in time
    );
    return {
      signal: controller.signal,
      leftMs: () => endsAt - clock.now(),
      stopClock: () => sleeping.abort(ANSWERED),
      end() {
        sleeping.abort(ANSWERED);
        parent?.removeEventListener('abort', onParent);
      },
    };
  }
}

export interface Streamed extends Disposable {
  readonly chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

interface Limit {
  readonly signal: AbortSignal;
  leftMs(): number;
  stopClock(): void;
  end(): void;
}

/** How messages name a request: without its query, which nobody wants to read. */
export const titleOf = ({ method, path }: TransportRequest): string => `${method} ${path.split('?', 1)[0]}`;

async function refusal(request: TransportRequest, { status, headers, body }: TransportResponse): Promise<KubeError> {
  const text = (await readBody(body, MOST_STATUS_BYTES)).toString('utf8');
  return failure(titleOf(request), status, text, headers);
}

/** A 429 was not carried out. Of other failures that is not known, so that only reads are sent again, when asked to. */
function isWorthAnother({ method }: TransportRequest, status: number, { retryAfterMs }: KubeError): boolean {
  return status === 429 || (status >= 500 && method === 'GET' && retryAfterMs !== undefined);
}
