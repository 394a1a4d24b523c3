/**
 * The server on a socket of this machine: HTTP/1.1, with TLS also HTTP/2. Everything a client can make large or slow is
 * bounded: headers, bodies, the time to send them, what waits for a reader of a watch.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import type { TransportRequest, TransportResponse } from '@reeve/kube';
import type { ClientCertificate } from '../access/access.ts';
import { isWebSocket } from '../websocket/handshake.ts';
import type { Upgraded } from '../websocket/message-socket.ts';
import { answerError } from './answer.ts';
import { LOOPBACK, type Message, type ReceiveOptions, readCertificate, requestOf, send } from './exchange.ts';
import { upgrade } from './upgrade.ts';

// An import would look at all that the module exports, and so load Node's fetch: a tenth of the start.
const { createServer } = process.getBuiltinModule('node:http');

export interface ListenOptions extends ReceiveOptions {
  /** What answers: `handle` of an ApiServer. */
  readonly handle: (request: TransportRequest, certificate?: ClientCertificate) => Promise<TransportResponse>;
  /** What answers requests that want to become a WebSocket: `connect` of an ApiServer. Default: they are answered like all others. */
  readonly connect?: (
    request: TransportRequest,
    certificate?: ClientCertificate,
  ) => Promise<TransportResponse | Upgraded>;
  /** Default: any that is free. */
  readonly port?: number;
  /** Default 127.0.0.1. Other than loopback only with TLS. */
  readonly host?: string;
  readonly tls?: TlsOptions;
  readonly onError?: (error: unknown) => void;
}

export interface TlsOptions {
  readonly cert: string;
  readonly key: string;
  /** Authorities whose certificates say who a client is. Without them no client is asked for one. */
  readonly clientCa?: string;
}

export interface Listener extends AsyncDisposable {
  readonly url: URL;
  /** Connections open at the moment. */
  readonly connections: number;
  /** Takes no more, lets answers under way finish, ends the rest. Watches are ended by closing the ApiServer. */
  close(): Promise<void>;
}

const MAX_HEADERS = 64 * 1024;
/** Longer than clients keep connections (ours 60 s, Go's 90 s): the one who sends should be the one who closes. */
const IDLE_MS = 120_000;
const HEADERS_MS = 10_000;
const REQUEST_MS = 60_000;
/** Connections that come at once and wait to be taken. */
const BACKLOG = 4_096;

export async function listen(options: ListenOptions): Promise<Listener> {
  const { host = '127.0.0.1', port = 0, tls } = options;
  const isLoopback = LOOPBACK.includes(host);
  if (!isLoopback && tls === undefined) throw new RangeError(`${host} is not this machine: give TLS, too`);
  const onError = options.onError ?? (() => undefined);
  // Once for each connection: to take a certificate apart costs a third of a create.
  const known = new WeakMap<Socket, ClientCertificate | undefined>();
  const certificateOf = (socket: Socket): ClientCertificate | undefined => {
    if (!known.has(socket)) known.set(socket, readCertificate(socket));
    return known.get(socket);
  };
  const exchangeOptions: ExchangeOptions = { ...options, certificateOf };
  const handler = (message: Message, response: ServerResponse): void => {
    exchange(message, response, exchangeOptions).catch((error: unknown) => {
      response.destroy();
      onError(error);
    });
  };
  const server = tls === undefined ? plainServer(handler) : secureServer(tls, handler);
  const { connect } = options;
  if (connect) acceptUpgrades(server, { ...exchangeOptions, connect });
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog: BACKLOG }, resolve);
  });
  server.on('error', onError);
  const address = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.end();
    // Whoever holds on to a connection is not waited for.
    await new Promise<void>((resolve) => queueMicrotask(resolve));
    for (const socket of sockets) socket.destroySoon();
    await closed;
  };
  return {
    url: new URL(`${tls === undefined ? 'http' : 'https'}://${host}:${address.port}`),
    get connections() {
      return sockets.size;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

type Handler = (message: Message, response: ServerResponse) => void;

function plainServer(handler: Handler): NetServer {
  const limits = { maxHeaderSize: MAX_HEADERS, headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS };
  const server = createServer({ ...limits, keepAliveTimeout: IDLE_MS, noDelay: true }, handler as never);
  // Node answers broken requests itself, with 400, 408 or 431.
  return server;
}

function secureServer({ cert, key, clientCa }: TlsOptions, handler: Handler): NetServer {
  const settings = { maxConcurrentStreams: 250, maxHeaderListSize: MAX_HEADERS };
  const server = createSecureServer({
    cert,
    key,
    // Whoever shows none, or a wrong one, may still have a token.
    ...(clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: false }),
    allowHTTP1: true,
    settings,
    maxSessionMemory: 64,
    noDelay: true,
  });
  server.on('request', handler as never);
  // The part of it that speaks HTTP/1.1 has the timers of the plain one under other names.
  Object.assign(server, { keepAliveTimeout: IDLE_MS, headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS });
  server.on('sessionError', () => undefined);
  return server;
}

/** Only what wants to become a WebSocket: other upgrades are wishes that need not be granted. Older Nodes ask nobody. */
function acceptUpgrades(server: NetServer, options: ExchangeOptions & Required<Pick<ListenOptions, 'connect'>>): void {
  Object.assign(server, { shouldUpgradeCallback: ({ headers }: IncomingMessage) => isWebSocket(headers) });
  server.on('upgrade', (message: IncomingMessage, socket: Socket, head: Buffer) => {
    upgrade(message, socket, head, options).catch((error: unknown) => {
      socket.destroy();
      options.onError?.(error);
    });
  });
}

interface ExchangeOptions extends ListenOptions {
  certificateOf(socket: Socket): ClientCertificate | undefined;
}

async function exchange(message: Message, response: ServerResponse, options: ExchangeOptions): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort(new Error('the client went away'));
  });
  let answer: TransportResponse;
  try {
    const request = await requestOf(message, options, gone.signal);
    answer = await options.handle(request, options.certificateOf(message.socket));
  } catch (error) {
    if (gone.signal.aborted) return;
    answer = answerError(error, options.onError ?? (() => undefined));
  }
  await send(answer, response, gone.signal);
}
