/** HTTP/1.1 with keep-alive: requests share a bounded pool, streams have a connection each. */
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { buildConnector, Pool } from 'undici';
import type { TlsMaterial } from '../auth/access.ts';
import { KubeError } from '../errors/errors.ts';
import { Answer } from './answer.ts';
import { Stream } from './stream.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';
import { agentHeaders, networkError, pathOn, tlsOptions, type Wire } from './wire.ts';

/**
 * Loaded with the first request: a program that serves, or never leaves its process, does without. And only what
 * is used: all of the library is five times as many files, most of them for `fetch`.
 */
const load = createRequire(import.meta.url);

export interface Http1Options {
  /** Connections for requests; more requests wait. Default 16. Streams are not counted. */
  readonly maxSockets?: number;
}

/** Below the 90 s after which Go's server closes an idle connection, so that it is rarely closed under a request. */
const IDLE_MS = 60_000;
const PROBE_MS = 30_000;
const CONNECT_MS = 30_000;

interface Current {
  readonly tls: TlsMaterial;
  readonly requests: Pool;
}

export function http1Wire(server: URL, options: Http1Options = {}): Wire {
  return new Http1Wire(server, options);
}

class Http1Wire implements Wire {
  readonly #server: URL;
  readonly #maxSockets: number;
  #current: Current | undefined;
  #closed = false;
  /** With certificates of before: what is under way ends in peace. */
  readonly #retired = new Set<Pool>();
  readonly #streams = new Set<Stream>();
  /** What does not stand yet: whoever destroys a pool does not reach it, and it would keep the process for as long as it may take. */
  readonly #connecting = new Set<Socket>();

  constructor(server: URL, options: Http1Options) {
    this.#server = server;
    this.#maxSockets = options.maxSockets ?? 16;
  }

  async send(request: TransportRequest, tls: TlsMaterial): Promise<TransportResponse> {
    try {
      return await this.#once(request, tls);
    } catch (error) {
      if (this.#closed) this.#fail(error, request);
      // As a rule the server closed a kept connection as we used it. Reading again is harmless; writing may not be.
      const isLost = LOST.has((error as NodeJS.ErrnoException).code ?? '');
      if (isLost && request.method === 'GET' && !request.signal?.aborted) {
        return this.#once(request, tls).catch((again: unknown) => this.#fail(again, request));
      }
      return this.#fail(error, request);
    }
  }

  close(): void {
    this.#closed = true;
    const requests = this.#current ? [this.#current.requests] : [];
    for (const stream of this.#streams) stream.destroy();
    for (const open of [...this.#retired, ...requests]) void open.destroy();
    for (const socket of this.#connecting) socket.destroy(new Error('the client was closed'));
    this.#current = undefined;
  }

  #once(request: TransportRequest, tls: TlsMaterial): Promise<TransportResponse> {
    const { signal, method, body } = request;
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#closed) {
      const subjects = [this.#server.host];
      return Promise.reject(new KubeError('KUBE_UNREACHABLE', 'the client was closed', { subjects }));
    }
    if (request.streaming && method === 'GET') return this.#stream(request, tls);
    const headers = agentHeaders(request);
    const answer = new Answer(this.#server, request);
    const asked = { method, path: pathOn(this.#server, request.path), headers, body: body ?? null };
    this.#currentFor(tls).requests.dispatch(asked, answer);
    return answer.response;
  }

  #stream(request: TransportRequest, tls: TlsMaterial): Promise<TransportResponse> {
    const stream = new Stream(this.#server, request, tls, () => this.#streams.delete(stream));
    this.#streams.add(stream);
    return stream.response;
  }

  #fail(error: unknown, { signal }: TransportRequest): never {
    throw networkError(error, this.#server, signal);
  }

  #currentFor(tls: TlsMaterial): Current {
    if (this.#current?.tls === tls) return this.#current;
    if (this.#current) this.#retire(this.#current.requests);
    const Pool = load('undici/lib/dispatcher/pool') as typeof import('undici').Pool;
    const { origin } = this.#server;
    const options = {
      allowH2: false,
      keepAliveTimeout: IDLE_MS,
      // Who asks says how long he waits.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: this.#connector(tls),
    };
    const requests = new Pool(origin, { ...options, connections: this.#maxSockets });
    this.#current = { tls, requests };
    return this.#current;
  }

  #connector(tls: TlsMaterial): buildConnector.connector {
    const build = load('undici/lib/core/connect') as typeof buildConnector;
    const options = { ...tlsOptions(this.#server, tls), timeout: CONNECT_MS, keepAliveInitialDelay: PROBE_MS };
    // Its types do not say so, and its own connections through proxies rest on it.
    const connect = build(options) as (...given: Parameters<buildConnector.connector>) => Socket;
    return (to, done) => {
      const socket = connect(to, (...outcome) => {
        this.#connecting.delete(socket);
        done(...outcome);
      });
      this.#connecting.add(socket);
    };
  }

  #retire(requests: Pool): void {
    this.#retired.add(requests);
    const ended = () => this.#retired.delete(requests);
    // It rejects when it is destroyed meanwhile, which ends it, too.
    requests.close().then(ended, ended);
  }
}

const LOST = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
