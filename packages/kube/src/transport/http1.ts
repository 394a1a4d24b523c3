/** HTTP/1.1 with keep-alive: requests share a bounded pool, streams have a connection each. */
import type { Agent as HttpAgent, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { TlsMaterial } from '../auth/access.ts';
import { chunksOf } from './chunks.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';
import { agentHeaders, networkError, pathOn, tlsOptions, type Wire } from './wire.ts';

// An import would look at all that the module exports, and so load Node's fetch, which nobody here uses.
const http = process.getBuiltinModule('node:http');

export interface Http1Options {
  /** Connections for requests; more requests wait. Default 16. Streams are not counted. */
  readonly maxSockets?: number;
}

/** Below the 90 s after which Go's server closes an idle connection, so that it is rarely closed under a request. */
const IDLE_MS = 60_000;
/** The first TCP keep-alive probe; the only thing that notices a vanished peer of a silent stream here. */
const PROBE_MS = 30_000;

interface Agents {
  readonly tls: TlsMaterial;
  readonly requests: HttpAgent;
  readonly streams: HttpAgent;
}

export function http1Wire(server: URL, options: Http1Options = {}): Wire {
  return new Http1Wire(server, options);
}

class Http1Wire implements Wire {
  readonly #server: URL;
  readonly #address: { readonly hostname: string; readonly port: string };
  readonly #maxSockets: number;
  /** The last is the current one; others still have something under way. */
  #agents: Agents[] = [];

  constructor(server: URL, options: Http1Options) {
    this.#server = server;
    this.#address = { hostname: server.hostname.replace(/^\[|\]$/g, ''), port: server.port };
    this.#maxSockets = options.maxSockets ?? 16;
  }

  async send(request: TransportRequest, tls: TlsMaterial): Promise<TransportResponse> {
    try {
      return await this.#once(request, tls);
    } catch (error) {
      // The server closed a kept connection as we used it. Reading again is harmless, and then the socket is new.
      if (!(error instanceof ReusedSocketError)) throw error;
      if (request.method === 'GET' && !request.signal?.aborted) return this.#once(request, tls).catch(unwrap);
      throw error.meaning;
    }
  }

  close(): void {
    for (const { requests, streams } of this.#agents) {
      requests.destroy();
      streams.destroy();
    }
    this.#agents = [];
  }

  #once(request: TransportRequest, tls: TlsMaterial): Promise<TransportResponse> {
    const { signal } = request;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const agents = this.#agentsFor(tls);
    const server = this.#server;
    return new Promise((resolve, reject) => {
      const outgoing = (server.protocol === 'https:' ? httpsRequest : http.request)({
        ...this.#address,
        method: request.method,
        path: pathOn(server, request.path),
        headers: agentHeaders(request),
        agent: request.streaming ? agents.streams : agents.requests,
        ...(signal ? { signal } : {}),
      });
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        const meaning = networkError(error, server, signal);
        const reused = outgoing.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        reject(reused && !signal?.aborted ? new ReusedSocketError(meaning) : meaning);
      });
      outgoing.on('response', (incoming: IncomingMessage) => {
        resolve({
          status: incoming.statusCode ?? 0,
          headers: flat(incoming.headers),
          body: chunksOf(incoming, () => incoming.complete, server, request),
        });
      });
      outgoing.end(request.body);
    });
  }

  #agentsFor(tls: TlsMaterial): Agents {
    const current = this.#agents.at(-1);
    if (current?.tls === tls) return current;
    // Certificates changed: what is under way ends in peace, no connection is used again.
    for (const { requests, streams } of this.#agents) {
      retire(requests);
      retire(streams);
    }
    const secure = this.#server.protocol === 'https:';
    const make = (maxSockets: number): HttpAgent => {
      const common = {
        keepAlive: true,
        keepAliveMsecs: PROBE_MS,
        maxSockets,
        timeout: IDLE_MS,
        scheduling: 'lifo' as const,
      };
      const agent = secure ? new HttpsAgent({ ...common, ...tlsOptions(this.#server, tls) }) : new http.Agent(common);
      // All its connections are alike. Node would name them by all that could differ, certificates and keys included, for each request.
      agent.getName = () => this.#server.host;
      return agent;
    };
    const fresh = { tls, requests: make(this.#maxSockets), streams: make(Number.POSITIVE_INFINITY) };
    this.#agents = [...this.#agents.filter(({ requests, streams }) => isBusy(requests) || isBusy(streams)), fresh];
    return fresh;
  }
}

class ReusedSocketError extends Error {
  readonly meaning: unknown;
  constructor(meaning: unknown) {
    super('a kept connection was closed');
    this.meaning = meaning;
  }
}

function unwrap(error: unknown): never {
  throw error instanceof ReusedSocketError ? error.meaning : error;
}

function retire(agent: HttpAgent): void {
  // Node's types lack the switch; its agent looks at it whenever a socket becomes free.
  (agent as HttpAgent & { keepAlive: boolean }).keepAlive = false;
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}

const isBusy = (agent: HttpAgent): boolean =>
  Object.keys(agent.sockets).length > 0 || Object.keys(agent.requests).length > 0;

export function flat(
  headers: Readonly<Record<string, string | readonly string[] | number | undefined>>,
): Record<string, string | undefined> {
  const all: Record<string, string | undefined> = {};
  for (const name in headers) {
    const value = headers[name];
    if (!name.startsWith(':')) all[name] = Array.isArray(value) ? value.join(', ') : value?.toString();
  }
  return all;
}
