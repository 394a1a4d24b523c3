/** The health answers over HTTP: on loopback, unless told otherwise. */
import type { AddressInfo } from 'node:net';
import { answerHealth, type HealthSource } from './health.ts';

// An import would look at all that the module exports, and so load Node's fetch, which nobody here uses.
const { createServer } = process.getBuiltinModule('node:http');

export interface ServeOptions {
  /** Default 127.0.0.1. In a pod, probes come from outside: then its own address. Danger: whoever reaches it reads all metrics. */
  readonly host?: string;
  /** Default: a free one. */
  readonly port?: number;
}

export interface HealthServer extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
}

export async function serveHealth(source: HealthSource, options: ServeOptions = {}): Promise<HealthServer> {
  const { host = '127.0.0.1', port = 0 } = options;
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (request, response) => {
    const { status, type, body } = answerHealth(source, request.method ?? 'GET', request.url ?? '/');
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
    response.end(request.method === 'HEAD' ? undefined : body);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
  return {
    host,
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
