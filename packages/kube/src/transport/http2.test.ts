import assert from 'node:assert/strict';
import type { ServerHttp2Session } from 'node:http2';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { testPorts } from '../ports/testing.ts';
import { http2Wire } from './http2.ts';
import { noTls, serve, trusted, until } from './server-testing.ts';
import { discardBody, readBody, type TransportResponse } from './transport.ts';

const text = async ({ body }: TransportResponse): Promise<string> => (await readBody(body, 1e6)).toString();
const watch = (signal?: AbortSignal) =>
  ({ method: 'GET', path: '/w', streaming: true, ...(signal ? { signal } : {}) }) as const;
const iterator = ({ body }: TransportResponse) => (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();

test('many streams share a session, the next one opens another', async (t) => {
  const server = await serve(t, 'h2', (_request, response) => void response.write('first'));
  const wire = http2Wire(server.url, { clock: testPorts().clock, maxStreams: 3 });
  t.after(() => wire.close());
  const streams = await Promise.all(Array.from({ length: 7 }, () => wire.send(watch(), trusted)));
  assert.equal(server.connections.size, 3);
  for (const stream of streams)
    assert.equal(Buffer.from((await iterator(stream).next()).value ?? []).toString(), 'first');
});

test('a stream that ended makes room', async (t) => {
  const server = await serve(t, 'h2c', (request, response) => void response.end(`${request.method} ${request.url}`));
  const wire = http2Wire(server.url, { clock: testPorts().clock, maxStreams: 1 });
  t.after(() => wire.close());
  for (let i = 0; i < 3; i++) {
    const response = await wire.send({ method: 'POST', path: '/p', body: '{}', headers: { a: 'b' } }, noTls);
    assert.equal(response.status, 200);
    assert.equal(await text(response), 'POST /p');
  }
  assert.equal(server.connections.size, 1);
});

test('GOAWAY ends streams with an error to go on from, and the next stream has a new session', async (t) => {
  const sessions: ServerHttp2Session[] = [];
  const server = await serve(
    t,
    'h2c',
    (_request, response) => void response.write('first'),
    (http2) => http2.on('session', (session) => sessions.push(session)),
  );
  const wire = http2Wire(server.url, { clock: testPorts().clock });
  t.after(() => wire.close());
  const body = iterator(await wire.send(watch(), noTls));
  await body.next();
  sessions[0]?.goaway();
  await assert.rejects(body.next(), { code: 'KUBE_CONNECTION_LOST', message: /GOAWAY/ });
  await discardBody((await wire.send(watch(), noTls)).body);
  assert.equal(sessions.length, 2);
});

test('a connection that breaks ends its streams with an error', async (t) => {
  const server = await serve(t, 'h2c', (_request, response) => void response.write('first'));
  const wire = http2Wire(server.url, { clock: testPorts().clock });
  t.after(() => wire.close());
  const body = iterator(await wire.send(watch(), noTls));
  await body.next();
  for (const socket of server.connections) socket.destroy();
  await assert.rejects(
    async () => {
      while (!(await body.next()).done);
    },
    { code: 'KUBE_CONNECTION_LOST' },
  );
});

test('a silent connection is asked for a sign of life and given up without one', async (t) => {
  let pings = 0;
  const server = await serve(
    t,
    'h2c',
    (_request, response) => void response.write('first'),
    (http2) => http2.on('session', (session) => session.on('ping', () => pings++)),
  );
  const ports = testPorts();
  const wire = http2Wire(server.url, { clock: ports.clock });
  t.after(() => wire.close());
  const body = iterator(await wire.send(watch(), noTls));
  await body.next();
  const next = body.next();
  next.catch(() => undefined);
  await ports.advance(30_000); // a PING, which is answered
  await until('a ping', () => pings === 1);
  await discardBody((await wire.send(watch(), noTls)).body); // comes back behind the answer
  assert.equal(pings, 1, 'one is enough');
  for (const socket of server.connections) socket.pause(); // half open from here on
  await ports.advance(30_000);
  await ports.advance(14_999);
  const state = await Promise.race([
    next.then(
      () => 'ended',
      () => 'ended',
    ),
    Promise.resolve('open'),
  ]);
  assert.equal(state, 'open');
  await ports.advance(1);
  await assert.rejects(next, { code: 'KUBE_CONNECTION_LOST', message: /PING/ });
});

test('a session is not used for ever, and not kept unused', async (t) => {
  const server = await serve(t, 'h2c', (_request, response) => void response.end('all'));
  const ports = testPorts();
  const wire = http2Wire(server.url, { clock: ports.clock, maxAgeMs: 1_000 });
  t.after(() => wire.close());
  await text(await wire.send(watch(), noTls));
  await ports.advance(1_001);
  await text(await wire.send(watch(), noTls));
  assert.equal(server.connections.size, 2);
  await ports.advance(30_000);
  await until('all closed', () => [...server.connections].every((socket) => socket.destroyed));
});

test('a signal ends one stream, not the session', async (t) => {
  const server = await serve(t, 'h2c', (_request, response) => void response.write('first'));
  const wire = http2Wire(server.url, { clock: testPorts().clock });
  t.after(() => wire.close());
  const controller = new AbortController();
  const ended = iterator(await wire.send(watch(controller.signal), noTls));
  const other = iterator(await wire.send(watch(), noTls));
  await ended.next();
  const next = ended.next();
  controller.abort(new Error('enough'));
  await assert.rejects(next, { message: 'enough' });
  assert.equal((await other.next()).done, false);
  assert.equal(server.connections.size, 1);
});

test('a server that is not there, or does not speak HTTP/2, is said so', async (t) => {
  const wire = http2Wire(new URL('http://127.0.0.1:1'), { clock: testPorts().clock });
  await assert.rejects(wire.send(watch(), noTls), { code: 'KUBE_UNREACHABLE' });
  const old = await serve(t, 'https', (_request, response) => void response.end());
  const second = http2Wire(old.url, { clock: testPorts().clock });
  await assert.rejects(second.send(watch(), trusted), { code: 'KUBE_NO_HTTP2' });
  await assert.rejects(second.send(watch(), noTls), { code: 'KUBE_TLS' });
  second.close();
  await assert.rejects(second.send(watch(), trusted), { code: 'KUBE_UNREACHABLE' });
});

test('a server that accepts and says nothing is given up, and who waits for it can leave', async (t) => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  t.after(() => silent.close());
  const ports = testPorts();
  const url = new URL(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
  const wire = http2Wire(url, { clock: ports.clock });
  const controller = new AbortController();
  const leaving = wire.send(watch(controller.signal), noTls);
  const staying = wire.send(watch(), noTls);
  staying.catch(() => undefined);
  controller.abort(new Error('enough'));
  await assert.rejects(leaving, { message: 'enough' });
  await ports.advance(30_000);
  await assert.rejects(staying, { code: 'KUBE_UNREACHABLE' });
});

test('a connection that is lost before its first frame holds nobody up for long', async (t) => {
  const accepted = new Set<Socket>();
  const silent = createServer((socket) => accepted.add(socket));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of accepted) socket.destroy();
    silent.close();
  });
  const ports = testPorts();
  const url = new URL(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
  const sent = http2Wire(url, { clock: ports.clock }).send(watch(), noTls);
  let isOver = false;
  sent.catch(() => (isOver = true));
  const start = ports.clock.now();
  await until('given up', () => {
    void ports.advance(isOver ? 0 : 100);
    return isOver;
  });
  await assert.rejects(sent, { code: 'KUBE_UNREACHABLE' });
  assert.ok(ports.clock.now() - start < 29_000, 'not only when connecting would have been given up');
});
