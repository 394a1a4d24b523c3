/**
 * The server on a socket of this machine: HTTP/1.1, with TLS also HTTP/2. Everything a client can make large or slow is
 * bounded: headers, bodies, the time to send them, what waits for a reader of a watch.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { TransportRequest, TransportResponse } from '@reeve/kube';
import type { ClientCertificate } from '../access/access.ts';
import { badRequest, forbiddenRequest, methodNotAllowed, tooLargeBody } from '../status/refusal.ts';
import { WatchStream } from '../watch/stream.ts';
import { answerError } from './answer.ts';

// An import would look at all that the module exports, and so load Node's fetch: a tenth of the start.
const { createServer } = process.getBuiltinModule('node:http');

export interface ListenOptions {
  /** What answers: `handle` of an ApiServer. */
  readonly handle: (request: TransportRequest, certificate?: ClientCertificate) => Promise<TransportResponse>;
  /** Default: any that is free. */
  readonly port?: number;
  /** Default 127.0.0.1. Other than loopback only with TLS. */
  readonly host?: string;
  readonly tls?: TlsOptions;
  /** Default 3 MB, as the real server. */
  readonly maxBodyBytes?: number;
  /** Names under which the server may be called, besides those of this machine: a web page must not reach it by its own. */
  readonly hosts?: readonly string[];
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

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const MAX_BODY = 3 * 1024 * 1024;
const MAX_HEADERS = 64 * 1024;
/** Longer than clients keep connections (ours 60 s, Go's 90 s): the one who sends should be the one who closes. */
const IDLE_MS = 120_000;
const HEADERS_MS = 10_000;
const REQUEST_MS = 60_000;
/** Connections that come at once and wait to be taken. */
const BACKLOG = 4_096;
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/** What the messages of HTTP/1.1 and HTTP/2 have in common. */
type Message = Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'rawHeaders' | 'socket' | 'on' | 'resume'>;

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

async function requestOf(message: Message, options: ListenOptions, signal: AbortSignal): Promise<TransportRequest> {
  const { method = '', url = '' } = message;
  // Node has their names in lower case; those of HTTP/2 that begin with a colon are in nobody's way.
  const headers = { ...(message.headers as Record<string, string | string[]>), ...impersonation(message.rawHeaders) };
  const host = String(message.headers[':authority'] ?? message.headers.host ?? '');
  refuseStrangers(host, headers, options.hosts ?? []);
  if (!METHODS.includes(method)) throw methodNotAllowed();
  if (!url.startsWith('/')) throw badRequest('the request names no path');
  const body = await bodyOf(message, options.maxBodyBytes ?? MAX_BODY);
  return { method: method as TransportRequest['method'], path: url, headers, body, signal };
}

/** Node makes one text of headers that come twice; here each is a value of its own, and a comma is part of it. */
function impersonation(raw: readonly string[]): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] as string).toLowerCase();
    if (name.startsWith('impersonate-')) (found[name] ??= []).push(raw[at + 1] as string);
  }
  return found;
}

/** The subject, if an authority of ours has signed it. HTTP/2 lends its socket, too. */
function readCertificate(socket: Socket): ClientCertificate | undefined {
  const { authorized, getPeerCertificate } = socket as Partial<TLSSocket>;
  if (authorized !== true || getPeerCertificate === undefined) return undefined;
  const subject = getPeerCertificate.call(socket).subject as Partial<Record<'CN' | 'O', string | string[]>> | undefined;
  if (subject === undefined) return undefined;
  const all = (value: string | string[] | undefined): readonly string[] =>
    value === undefined ? [] : typeof value === 'string' ? [value] : value;
  return { commonName: all(subject.CN).at(-1) ?? '', organizations: all(subject.O) };
}

/** A page in a browser of this machine can send requests here; it cannot hide where it comes from. */
function refuseStrangers(host: string, headers: Readonly<Record<string, unknown>>, known: readonly string[]): void {
  const nobody = { group: '', plural: '' };
  const name = host.replace(/:\d+$/, '').toLowerCase();
  if (!LOOPBACK.includes(name) && !known.includes(name)) {
    throw forbiddenRequest(nobody, '', `this server is not called ${JSON.stringify(name.slice(0, 100))}`);
  }
  if (headers.origin !== undefined) throw forbiddenRequest(nobody, '', 'requests of web pages are not served');
}

function bodyOf(message: Message, limit: number): Promise<string> {
  const length = Number(message.headers['content-length'] ?? 0);
  if (length > limit) {
    message.resume();
    return Promise.reject(tooLargeBody(limit));
  }
  const chunks: Buffer[] = [];
  let size = 0;
  let isComplete = false;
  return new Promise((resolve, reject) => {
    message.on('data', (chunk: Buffer) => {
      size += chunk.length;
      // Read on, but kept no longer: a client that is still sending does not hear an answer.
      if (size <= limit) chunks.push(chunk);
      else if (size > 2 * limit) reject(tooLargeBody(limit));
    });
    message.on('end', () => {
      isComplete = true;
      if (size > limit) reject(tooLargeBody(limit));
      else resolve((chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size)).toString('utf8'));
    });
    message.on('error', reject);
    // Every request closes: only one that did not end is worth an error, which costs more than most of what else is done.
    message.on('close', () => {
      if (!isComplete) reject(badRequest('the body ended in its middle'));
    });
  });
}

async function send({ status, headers, body }: TransportResponse, response: ServerResponse, signal: AbortSignal) {
  const head: string[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) head.push(name, value);
  }
  if (body instanceof Uint8Array) {
    head.push('content-length', String(body.length));
    response.writeHead(status, head);
    response.end(body);
    return;
  }
  response.writeHead(status, head);
  // The head of a watch goes out before its first event.
  response.flushHeaders();
  const dropped = body instanceof WatchStream ? body.ended : undefined;
  try {
    for await (const chunk of body) {
      if (signal.aborted) return;
      if (!response.write(chunk)) await drained(response, dropped);
    }
    if (body instanceof WatchStream && body.isDropped) response.destroy();
    else response.end();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Until the socket takes more; or until it need not any more. */
async function drained(response: ServerResponse, dropped: Promise<void> | undefined): Promise<void> {
  const waiting = new Promise<void>((resolve) => {
    response.once('drain', resolve);
    response.once('close', resolve);
  });
  await (dropped === undefined ? waiting : Promise.race([waiting, dropped]));
}
