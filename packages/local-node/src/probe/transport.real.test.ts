/** Questions to real servers. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { test } from 'node:test';
import { deadline, systemClock } from '@reeve/runtime';
import { askContainer, type PodAction, type Target } from './transport.ts';

async function listening(
  server: Server | ReturnType<typeof createSocketServer | typeof createHttp2Server>,
): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const targetOf = (port: number): Target => ({
  address: '127.0.0.1',
  ports: [{ name: 'web', containerPort: port }],
  exec: async ([code = '0']) => ({ code: Number(code), stdout: 'out', stderr: 'err' }),
});

async function ask(action: PodAction, port: number, timeoutMs = 5_000) {
  using limit = deadline(systemClock, timeoutMs, () => new Error('too late'));
  return await askContainer(action, targetOf(port), systemClock, limit.signal);
}

test('HTTP: the status counts; ports have names; headers are sent', async (t) => {
  const server = createServer((request, response) => {
    response.statusCode = request.headers['x-code'] === undefined ? Number(request.url?.slice(1)) : 200;
    response.end();
  });
  t.after(() => server.close());
  const port = await listening(server);
  for (const [status, isSuccess] of [
    [200, true],
    [302, true],
    [404, false],
    [500, false],
  ] as const) {
    const answer = await ask({ httpGet: { path: `/${status}`, port: 'web' } }, port);
    assert.equal(answer.isSuccess, isSuccess, answer.message);
  }
  const withHeader = { path: '/500', port, httpHeaders: [{ name: 'X-Code', value: '1' }] };
  assert.equal((await ask({ httpGet: withHeader }, port)).isSuccess, true);
  assert.match((await ask({ httpGet: { port: 'no-such' } }, port)).message, /couldn't find port/);
});

test('a server that does not answer is no success when the time is up', async (t) => {
  const server = createServer(() => undefined);
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const port = await listening(server);
  const answer = await ask({ httpGet: { port } }, port, 50);
  assert.equal(answer.isSuccess, false);
});

test('a connection counts, its absence too', async () => {
  const server = createSocketServer((socket) => socket.end());
  const port = await listening(server);
  assert.equal((await ask({ tcpSocket: { port } }, port)).isSuccess, true);
  await new Promise((resolve) => server.close(resolve));
  const answer = await ask({ tcpSocket: { port: 'web' } }, port);
  assert.equal(answer.isSuccess, false);
  assert.match(answer.message, /ECONNREFUSED/);
});

test('a command counts by its exit code', async () => {
  assert.deepEqual(await ask({ exec: { command: ['0'] } }, 1), { isSuccess: true, message: 'outerr' });
  assert.equal((await ask({ exec: { command: ['2'] } }, 1)).isSuccess, false);
});

test('gRPC: a service that says that it serves; others say what they are', async (t) => {
  const asked: string[] = [];
  const server = createHttp2Server();
  server.on('stream', (stream, headers) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.once('end', () => {
      const service = Buffer.concat(chunks).subarray(7).toString();
      asked.push(`${headers[':path']} ${service}`);
      const head = { ':status': 200, 'content-type': 'application/grpc' };
      if (service === 'missing') return stream.respond({ ...head, 'grpc-status': '12' }, { endStream: true });
      if (service === 'broken')
        return stream.respond({ ...head, 'grpc-status': '13', 'grpc-message': 'oh' }, { endStream: true });
      stream.respond(head, { waitForTrailers: true });
      stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      const status = service === 'sick' ? 2 : 1;
      stream.end(Buffer.from([0, 0, 0, 0, 2, 0x08, status]));
    });
  });
  t.after(() => server.close());
  const port = await listening(server);
  const health = async (service?: string) => ask({ grpc: { port, ...(service !== undefined && { service }) } }, port);
  assert.deepEqual(await health(), { isSuccess: true, message: 'service healthy' });
  assert.equal((await health('db')).isSuccess, true);
  assert.equal((await health('sick')).message, 'service unhealthy (responded with "NOT_SERVING")');
  assert.match((await health('missing')).message, /does not implement the grpc health protocol/);
  assert.match((await health('broken')).message, /health rpc probe failed: oh/);
  assert.deepEqual(asked.slice(0, 2), ['/grpc.health.v1.Health/Check ', '/grpc.health.v1.Health/Check db']);
  const refused = await ask({ grpc: { port: 1 } }, 1);
  assert.equal(refused.isSuccess, false);
  assert.match(refused.message, /ECONNREFUSED/);
});
