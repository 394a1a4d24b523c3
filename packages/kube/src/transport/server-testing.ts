/** A server in this process for tests of the wires. */
import { createServer, type Server } from 'node:http';
import { createSecureServer, createServer as createHttp2Server, type Http2Server } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type { TlsMaterial } from '../auth/access.ts';
import { testCertificate, testKey } from './certificate-testing.ts';

type Handler = Parameters<typeof createServer>[1] & object;

export const noTls: TlsMaterial = {
  ca: undefined,
  certificate: undefined,
  key: undefined,
  serverName: undefined,
  insecure: false,
};
export const trusted: TlsMaterial = { ...noTls, ca: testCertificate };

export interface TestServer {
  readonly url: URL;
  /** Connections made so far. */
  readonly connections: Set<Socket>;
}

export async function serve(
  t: TestContext,
  kind: 'http' | 'https' | 'h2' | 'h2c',
  handler: Handler,
  configure?: (server: Http2Server) => void,
): Promise<TestServer> {
  const secrets = {
    cert: testCertificate,
    key: testKey,
    requestCert: true,
    ca: testCertificate,
    rejectUnauthorized: false,
  };
  let server: Server | Http2Server;
  if (kind === 'http') server = createServer(handler);
  else if (kind === 'https') server = createHttpsServer(secrets, handler);
  else {
    server = kind === 'h2' ? createSecureServer({ ...secrets, allowHTTP1: true }) : createHttp2Server();
    // The compatible API of Node: near enough to a Handler for what tests do.
    server.on('request', handler as never);
    configure?.(server);
  }
  const connections = new Set<Socket>();
  (server as NetServer).on('connection', (socket: Socket) => connections.add(socket));
  await new Promise<void>((resolve) => (server as NetServer).listen(0, '127.0.0.1', resolve));
  // Many test files share a process, and the simulation among them counts open handles: nothing is left behind.
  t.after(async () => {
    for (const socket of connections) socket.destroy();
    (server as NetServer).close();
    await until('all sockets closed', () => !process.getActiveResourcesInfo().some((one) => /TCPSocket|TLS/.test(one)));
  });
  const { port } = (server as NetServer).address() as AddressInfo;
  return { url: new URL(`${kind === 'https' || kind === 'h2' ? 'https' : 'http'}://127.0.0.1:${port}`), connections };
}

/** Waits until something is true, for ten seconds at most. */
export async function until(what: string, condition: () => boolean): Promise<void> {
  const end = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
