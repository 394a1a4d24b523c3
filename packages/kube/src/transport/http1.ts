/** HTTP/1.1 with keep-alive: requests share a bounded pool, streams have a connection each. */
import { createRequire } from 'node:module';
import type { Pool } from 'undici';
import type { TlsMaterial } from '../auth/access.ts';
import { Answer } from './answer.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';
import { agentHeaders, networkError, pathOn, tlsOptions, type Wire } from './wire.ts';

/**
 * Loaded with the first request: a program that serves, or never leaves its process, does without. And only the pool: all
 * of the library is five times as many files, most of them for `fetch`.
 */
const load = createRequire(import.meta.url);

export interface Http1Options {
  /** Connections for requests; more requests wait. Default 16. Streams are not counted. */
  readonly maxSockets?: number;
}

/** Below the 90 s after which Go's server closes an idle connection, so that it is rarely closed under a request. */
const IDLE_MS = 60_000;
/** The first TCP keep-alive probe; the only thing that notices a vanished peer of a silent stream here. */
const PROBE_MS = 30_000;
const CONNECT_MS = 30_000;

interface Pools {
  readonly tls: TlsMaterial;
  readonly requests: Pool;
  readonly streams: Pool;
}

export function http1Wire(server: URL, options: Http1Options = {}): Wire {
  return new Http1Wire(server, options);
}

class Http1Wire implements Wire {
  readonly #server: URL;
  readonly #maxSockets: number;
  #current: Pools | undefined;
  /** With certificates of before: what is under way ends in peace. */
  readonly #retired = new Set<Pools>();

  constructor(server: URL, options: Http1Options) {
    this.#server = server;
    this.#maxSockets = options.maxSockets ?? 16;
  }

  async send(request: TransportRequest, tls: TlsMaterial): Promise<TransportResponse> {
    try {
      return await this.#once(request, tls);
    } catch (error) {
      // As a rule the server closed a kept connection as we used it. Reading again is harmless; writing may not be.
      const isLost = LOST.has((error as NodeJS.ErrnoException).code ?? '');
      if (isLost && request.method === 'GET' && !request.signal?.aborted) {
        return this.#once(request, tls).catch((again: unknown) => this.#fail(again, request));
      }
      return this.#fail(error, request);
    }
  }

  close(): void {
    for (const { requests, streams } of [...this.#retired, ...(this.#current ? [this.#current] : [])]) {
      void requests.destroy();
      void streams.destroy();
    }
    this.#current = undefined;
  }

  #once(request: TransportRequest, tls: TlsMaterial): Promise<TransportResponse> {
    const { signal, method, body } = request;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const { requests, streams } = this.#poolsFor(tls);
    const answer = new Answer(this.#server, request);
    const asked = {
      method,
      path: pathOn(this.#server, request.path),
      headers: agentHeaders(request),
      body: body ?? null,
    };
    (request.streaming ? streams : requests).dispatch(asked, answer);
    return answer.response;
  }

  #fail(error: unknown, { signal }: TransportRequest): never {
    throw networkError(error, this.#server, signal);
  }

  #poolsFor(tls: TlsMaterial): Pools {
    if (this.#current?.tls === tls) return this.#current;
    if (this.#current) this.#retire(this.#current);
    const Pool = load('undici/lib/dispatcher/pool') as typeof import('undici').Pool;
    const make = (connections: number | null): Pool =>
      new Pool(this.#server.origin, {
        connections,
        allowH2: false,
        keepAliveTimeout: IDLE_MS,
        // Who asks says how long he waits.
        headersTimeout: 0,
        bodyTimeout: 0,
        connect: { ...tlsOptions(this.#server, tls), timeout: CONNECT_MS, keepAliveInitialDelay: PROBE_MS },
      });
    this.#current = { tls, requests: make(this.#maxSockets), streams: make(null) };
    return this.#current;
  }

  #retire(pools: Pools): void {
    this.#retired.add(pools);
    const ended = () => this.#retired.delete(pools);
    // It rejects when it is destroyed meanwhile, which ends it, too.
    Promise.all([pools.requests.close(), pools.streams.close()]).then(ended, ended);
  }
}

const LOST = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
