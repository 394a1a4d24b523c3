/** What the HTTP/1.1 and HTTP/2 wires share: addresses, TLS options, and what an error of the network means. */
import type { ConnectionOptions } from 'node:tls';
import type { TlsMaterial } from '../auth/access.ts';
import { KubeError } from '../errors/errors.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

/** A transport below authentication: it is told with which certificates to speak. */
export interface Wire {
  send(request: TransportRequest, tls: TlsMaterial): Promise<TransportResponse>;
  /** Ends all connections, also those in use. */
  close(): void;
}

type TlsOptions = Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'>;

export function tlsOptions(server: URL, tls: TlsMaterial): TlsOptions {
  const host = server.hostname.replace(/^\[|\]$/g, '');
  // A name that is an address must not be sent (RFC 6066); Node checks the certificate against the host then.
  const isAddress = /^[\d.]+$|:/.test(host);
  const name = tls.serverName ?? (isAddress ? undefined : host);
  return {
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
    ...(tls.certificate === undefined ? {} : { cert: tls.certificate }),
    ...(tls.key === undefined ? {} : { key: tls.key }),
    ...(name === undefined ? {} : { servername: name }),
    rejectUnauthorized: !tls.insecure,
  };
}

/** A server may lie below a path, as behind some gateways. */
export function pathOn(server: URL, path: string): string {
  return server.pathname.replace(/\/$/, '') + path;
}

export function agentHeaders(request: TransportRequest): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { 'user-agent': 'reeve' };
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    headers[name] = typeof value === 'string' ? value : [...value];
  }
  if (request.body !== undefined) headers['content-length'] = String(Buffer.byteLength(request.body));
  return headers;
}

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

const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'ERR_HTTP2_GOAWAY_SESSION',
  'ERR_HTTP2_INVALID_SESSION',
]);

/** An error of Node as one of ours; the signal's reason when that was the cause. */
export function networkError(error: unknown, server: URL, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason;
  if (error instanceof KubeError) return error;
  const {
    code = '',
    message,
    syscall,
  } = (error instanceof Error ? error : new Error(String(error))) as NodeJS.ErrnoException;
  const options = { subjects: [server.host], cause: error };
  // Node has a code for each way in which a certificate can be wrong, and OpenSSL one for each alert.
  if (
    /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|INVALID_CA)|_CERT|EPROTO/.test(code)
  ) {
    return new KubeError('KUBE_TLS', `no trusted connection to ${server.host}: ${message}`, options);
  }
  if (NEVER_SENT.has(code) || syscall === 'connect') {
    return new KubeError('KUBE_UNREACHABLE', `${server.host} cannot be reached: ${message || code}`, options);
  }
  return new KubeError(
    'KUBE_CONNECTION_LOST',
    `the connection to ${server.host} was lost: ${message || code}`,
    options,
  );
}
