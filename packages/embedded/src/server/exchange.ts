/** Requests as they come over a connection, and answers as they go: bounded, and from no stranger. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { TransportRequest, TransportResponse } from '@reeve/kube';
import type { ClientCertificate } from '../access/access.ts';
import { badRequest, forbiddenRequest, methodNotAllowed, tooLargeBody } from '../status/refusal.ts';
import { WatchStream } from '../watch/stream.ts';

export interface ReceiveOptions {
  /** Default 3 MB, as the real server. */
  readonly maxBodyBytes?: number;
  /** Names under which the server may be called, besides those of this machine: a web page must not reach it by its own. */
  readonly hosts?: readonly string[];
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const MAX_BODY = 3 * 1024 * 1024;
export const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/** What the messages of HTTP/1.1 and HTTP/2 have in common. */
export type Message = Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'rawHeaders' | 'socket' | 'on' | 'resume'>;

export async function requestOf(
  message: Message,
  options: ReceiveOptions,
  signal: AbortSignal,
): Promise<TransportRequest> {
  const request = headOf(message, options);
  return { ...request, body: await bodyOf(message, options.maxBodyBytes ?? MAX_BODY), signal };
}

/** A request without its body. Throws if it comes from where none may come from. */
export function headOf(message: Message, { hosts = [] }: ReceiveOptions): Omit<TransportRequest, 'body' | 'signal'> {
  const { method = '', url = '' } = message;
  // Node has their names in lower case; those of HTTP/2 that begin with a colon are in nobody's way.
  const headers = { ...(message.headers as Record<string, string | string[]>), ...impersonation(message.rawHeaders) };
  const host = String(message.headers[':authority'] ?? message.headers.host ?? '');
  refuseStrangers(host, headers, hosts);
  if (!METHODS.includes(method)) throw methodNotAllowed();
  if (!url.startsWith('/')) throw badRequest('the request names no path');
  return { method: method as TransportRequest['method'], path: url, headers };
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
export function readCertificate(socket: Socket): ClientCertificate | undefined {
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

export async function send(
  { status, headers, body }: TransportResponse,
  response: ServerResponse,
  signal: AbortSignal,
) {
  const head: string[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) head.push(name, value);
  }
  if (body instanceof Uint8Array) {
    if (status !== 204) head.push('content-length', String(body.length));
    response.writeHead(status, head);
    response.end(body);
    return;
  }
  response.writeHead(status, head);
  // The head of a watch goes out before its first event.
  response.flushHeaders();
  const dropped = body instanceof WatchStream ? body.ended : undefined;
  const { to, pieces } = wayOf(body, response);
  try {
    for await (const piece of pieces) {
      if (signal.aborted) return;
      if (!to.write(piece)) await drained(to, dropped);
    }
    if (body instanceof WatchStream && body.isDropped) response.destroy();
    else response.end();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/**
 * Over HTTP/1.1 the lines of a watch are chunks already, the same bytes for all who watch, and go past the response to its socket. One that
 * has no socket yet waits for the answers to earlier requests.
 */
function wayOf(
  body: AsyncIterable<Uint8Array>,
  response: ServerResponse,
): { readonly to: Writable; readonly pieces: AsyncIterable<Uint8Array> } {
  const { socket, chunkedEncoding } = response;
  const isShared = body instanceof WatchStream && chunkedEncoding === true && socket !== null;
  return isShared ? { to: socket, pieces: body.chunks() } : { to: response, pieces: body };
}

/** Until it takes more; or until it need not any more. */
async function drained(to: Writable, dropped: Promise<void> | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  to.once('drain', resolve).once('close', resolve);
  await (dropped === undefined ? promise : Promise.race([promise, dropped]));
  to.removeListener('drain', resolve).removeListener('close', resolve);
}
