import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { testCertificate, testKey } from './certificate-testing.ts';
import { http1Wire } from './http1.ts';
import { noTls, serve, trusted, until } from './server-testing.ts';
import { discardBody, readBody, type TransportResponse } from './transport.ts';

const text = async ({ body }: TransportResponse): Promise<string> => (await readBody(body, 1e6)).toString();
const get = (path: string, signal?: AbortSignal) => ({ method: 'GET' as const, path, ...(signal ? { signal } : {}) });

async function pair(
  t: TestContext,
  ...[kind, handler]: Parameters<typeof serve> extends [unknown, ...infer R] ? R : never
) {
  const server = await serve(t, kind, handler);
  const wire = http1Wire(server.url, { maxSockets: 2 });
  t.after(() => wire.close());
  return { server, wire };
}

test('requests share connections, methods, headers and bodies arrive', async (t) => {
  const { server, wire } = await pair(t, 'http', (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const said = `${request.method} ${request.url} ${request.headers['x-a']} ${Buffer.concat(chunks)}`;
      response.setHeader('x-seen', 'yes').end(said);
    });
  });
  for (let i = 0; i < 5; i++) {
    const response = await wire.send({ method: 'PUT', path: '/a?b=c', headers: { 'x-a': '1' }, body: 'ü' }, noTls);
    assert.equal(response.headers['x-seen'], 'yes');
    assert.equal(await text(response), 'PUT /a?b=c 1 ü');
  }
  // A connection rests for a turn of the event loop after an answer, in which the next request takes another one.
  assert.ok(server.connections.size <= 2, 'connections are used again');
  await Promise.all(Array.from({ length: 10 }, async () => text(await wire.send(get('/'), noTls))));
  assert.equal(server.connections.size, 2, 'bounded by maxSockets');
});

test('streams do not take the places of requests', async (t) => {
  const { server, wire } = await pair(t, 'http', (request, response) => {
    if (request.url === '/stream') response.write('first');
    else response.end('quick');
  });
  const streams = await Promise.all(
    Array.from({ length: 4 }, () => wire.send({ ...get('/stream'), streaming: true }, noTls)),
  );
  assert.equal(await text(await wire.send(get('/'), noTls)), 'quick');
  await Promise.all(streams.map(({ body }) => discardBody(body)));
  await until('let go', () => [...server.connections].filter((socket) => !socket.destroyed).length === 1);
});

test('a path before the API is kept', async (t) => {
  const { server } = await pair(t, 'http', (request, response) => void response.end(request.url));
  const wire = http1Wire(new URL('/k8s/one/', server.url));
  t.after(() => wire.close());
  assert.equal(await text(await wire.send(get('/api'), noTls)), '/k8s/one/api');
});

test('TLS: the authority is checked, the name too unless told otherwise, client certificates are sent', async (t) => {
  const { server, wire } = await pair(t, 'https', (request, response) => {
    const { subject } = (request.socket as import('node:tls').TLSSocket).getPeerCertificate();
    response.end(String(subject?.CN));
  });
  await assert.rejects(wire.send(get('/'), noTls), { code: 'KUBE_TLS' });
  assert.equal(await text(await wire.send(get('/'), trusted)), 'undefined');
  const client = { ...trusted, certificate: testCertificate, key: testKey };
  assert.equal(await text(await wire.send(get('/'), client)), 'kube.test');
  assert.equal(await text(await wire.send(get('/'), { ...trusted, serverName: 'kube.test' })), 'undefined');
  await assert.rejects(wire.send(get('/'), { ...trusted, serverName: 'other.test' }), { code: 'KUBE_TLS' });
  assert.equal(await text(await wire.send(get('/'), { ...noTls, insecure: true })), 'undefined');
  assert.equal([...server.connections].filter((socket) => !socket.destroyed).length <= 2, true, 'old agents let go');
});

test('errors say whether the server can have acted', async (t) => {
  const { server, wire } = await pair(t, 'http', (request, response) => {
    if (request.url === '/middle') {
      response.write('half');
      setImmediate(() => response.destroy());
    } else request.socket.destroy();
  });
  await assert.rejects(wire.send({ method: 'POST', path: '/', body: '{}' }, noTls), { code: 'KUBE_CONNECTION_LOST' });
  const half = await wire.send(get('/middle'), noTls);
  await assert.rejects(text(half), { code: 'KUBE_CONNECTION_LOST' });
  const nobody = http1Wire(new URL('http://127.0.0.1:1'));
  await assert.rejects(nobody.send(get('/'), noTls), { code: 'KUBE_UNREACHABLE', subjects: ['127.0.0.1:1'] });
  assert.ok(server.connections.size > 0);
});

test('a read on a kept connection that the server closed is sent again, a write is not', async (t) => {
  let requests = 0;
  const server = await serve(t, 'http', (request, response) => {
    requests++;
    // The second request on a connection meets its end, as when the server's idle limit strikes in that moment.
    const socket = request.socket as typeof request.socket & { used?: boolean };
    if (socket.used) return void socket.destroy();
    socket.used = true;
    response.end('ok');
  });
  const wire = http1Wire(server.url, { maxSockets: 1 });
  t.after(() => wire.close());
  await text(await wire.send(get('/'), noTls));
  assert.equal(await text(await wire.send(get('/'), noTls)), 'ok');
  assert.equal(requests, 3);
  await assert.rejects(wire.send({ method: 'POST', path: '/', body: '' }, noTls), { code: 'KUBE_CONNECTION_LOST' });
  assert.equal(requests, 4);
});

test('a signal ends waiting and reading with its reason', async (t) => {
  const carried: Socket[] = [];
  const { wire } = await pair(t, 'http', (request, response) => {
    carried.push(request.socket);
    if (request.url === '/body') response.write('first');
  });
  const waiting = new AbortController();
  const sent = wire.send(get('/', waiting.signal), noTls);
  await until('asked', () => carried.length === 1);
  waiting.abort(new Error('enough'));
  await assert.rejects(sent, { message: 'enough' });
  const reading = new AbortController();
  const response = await wire.send(get('/body', reading.signal), noTls);
  const body = text(response);
  reading.abort(new Error('later'));
  await assert.rejects(body, { message: 'later' });
  await assert.rejects(wire.send(get('/', reading.signal), noTls), { message: 'later' });
  await until('sockets closed', () => carried.length === 2 && carried.every((socket) => socket.destroyed));
});

test('closing ends connections that do not stand yet: a server that stands still takes them, and never says a word', async (t) => {
  const taken: Socket[] = [];
  const silent = createServer((socket) => void taken.push(socket.resume().on('error', () => undefined)));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    for (const socket of taken) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
  });
  const wire = http1Wire(new URL(`https://127.0.0.1:${(silent.address() as AddressInfo).port}`));
  const leaving = new AbortController();
  const sent = wire.send(get('/', leaving.signal), trusted);
  await until('it was taken', () => taken.length === 1);
  leaving.abort(new Error('enough'));
  await assert.rejects(sent, { message: 'enough' });
  wire.close();
  await until('it was let go', () => taken.every((socket) => socket.destroyed));
});

test('a body beyond its limit is not held', async (t) => {
  const carried: Socket[] = [];
  const { wire } = await pair(t, 'http', (request, response) => {
    carried.push(request.socket);
    response.write(Buffer.alloc(100_000));
  });
  const response = await wire.send(get('/'), noTls);
  await assert.rejects(readBody(response.body, 99_999), { code: 'KUBE_TOO_LARGE' });
  await until('the connection is not kept', () => carried.every((socket) => socket.destroyed));
  await assert.rejects(readBody(new Uint8Array(3), 2), { code: 'KUBE_TOO_LARGE' });
});

test('who waits for a connection can leave, and nothing is sent for him', async (t) => {
  const seen: unknown[] = [];
  const answers: (() => void)[] = [];
  const { wire } = await pair(t, 'http', (request, response) => {
    seen.push(request.url);
    answers.push(() => response.end('ok'));
  });
  const busy = [wire.send(get('/1'), noTls), wire.send(get('/2'), noTls)];
  await until('both connections are taken', () => answers.length === 2);
  const leaving = new AbortController();
  const waiting = wire.send(get('/left', leaving.signal), noTls);
  leaving.abort(new Error('no time'));
  await assert.rejects(waiting, { message: 'no time' });
  for (const answer of answers) answer();
  assert.deepEqual(await Promise.all((await Promise.all(busy)).map(text)), ['ok', 'ok']);
  const next = wire.send(get('/3'), noTls);
  await until('the next is served', () => answers.length === 3);
  answers[2]?.();
  assert.equal(await text(await next), 'ok');
  assert.deepEqual(seen, ['/1', '/2', '/3']);
});

test('a stream that nobody reads keeps the server waiting, and is all there afterwards', async (t) => {
  const SIZE = 64 * 1024;
  const CHUNKS = 256;
  let sent = 0;
  const { wire } = await pair(t, 'http', (_request, response) => {
    const more = (): void => {
      while (sent < CHUNKS)
        if (!response.write(Buffer.alloc(SIZE, ++sent % 256))) return void response.once('drain', more);
      response.end();
    };
    more();
  });
  const { body } = await wire.send({ ...get('/'), streaming: true }, noTls);
  let before = -1;
  let looks = 0;
  await until('the server waits', () => {
    looks = sent === before ? looks + 1 : 0;
    before = sent;
    return looks === 20;
  });
  assert.ok(sent < CHUNKS, 'all 16 MB were taken in');
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) bytes += chunk.length;
  assert.equal(bytes, SIZE * CHUNKS);
});

test('closed is closed: what comes later is refused and opens nothing', async (t) => {
  const { server, wire } = await pair(t, 'http', (_request, response) => void response.end('here'));
  assert.equal(await text(await wire.send(get('/'), noTls)), 'here');
  const before = server.connections.size;
  wire.close();
  for (const streaming of [false, true]) {
    await assert.rejects(wire.send({ ...get('/'), streaming }, noTls), { code: 'KUBE_UNREACHABLE' });
  }
  assert.equal(server.connections.size, before);
});

for (const kind of ['http', 'https'] as const) {
  test(`${kind}: streams end in good order, break with an error, and are left with their connection`, async (t) => {
    const { server, wire } = await pair(t, kind, (request, response) => {
      if (request.url === '/refused') return void response.writeHead(410, { 'x-why': 'old' }).end('gone');
      if (request.url === '/counted') return void response.writeHead(200, { 'content-length': '4' }).end('four');
      if (request.url === '/nothing') return void request.socket.destroy();
      response.write('first');
      if (request.url === '/broken') setImmediate(() => request.socket.destroy());
      else if (request.url === '/whole') setImmediate(() => response.end(' last'));
    });
    const tls = kind === 'https' ? trusted : noTls;
    const stream = (path: string, signal?: AbortSignal) => wire.send({ ...get(path, signal), streaming: true }, tls);
    assert.equal(await text(await stream('/whole')), 'first last');
    assert.equal(await text(await stream('/counted')), 'four');
    const refused = await stream('/refused');
    assert.deepEqual([refused.status, refused.headers['x-why'], await text(refused)], [410, 'old', 'gone']);
    await assert.rejects(text(await stream('/broken')), { code: 'KUBE_CONNECTION_LOST' });
    await assert.rejects(stream('/nothing'), { code: 'KUBE_CONNECTION_LOST' });
    const leaving = new AbortController();
    const body = text(await stream('/', leaving.signal));
    leaving.abort(new Error('enough'));
    await assert.rejects(body, { message: 'enough' });
    await assert.rejects(
      wire.send({ ...get('/'), streaming: true, headers: { a: 'b\r\nc: d' } }, tls),
      /a header that is none/,
    );
    await assert.rejects(wire.send({ ...get('/a b'), streaming: true }, tls), /escaped/);
    if (kind === 'https') {
      await assert.rejects(wire.send({ ...get('/'), streaming: true }, noTls), { code: 'KUBE_TLS' });
      const other = { ...trusted, serverName: 'other.test' };
      await assert.rejects(wire.send({ ...get('/'), streaming: true }, other), { code: 'KUBE_TLS' });
    }
    await until('all connections are closed', () => [...server.connections].every((socket) => socket.destroyed));
    const nobody = http1Wire(new URL(`${kind}://127.0.0.1:1`));
    await assert.rejects(nobody.send({ ...get('/'), streaming: true }, tls), { code: 'KUBE_UNREACHABLE' });
  });
}

test('events that come thick and fast arrive all, in their order', async (t) => {
  const EVENTS = 2_000;
  const { wire } = await pair(t, 'http', (_request, response) => {
    let sent = 0;
    const more = (): void => {
      if (sent === EVENTS) return void response.end();
      response.write(`${sent++}\n`);
      setImmediate(more);
    };
    more();
  });
  const seen = await text(await wire.send({ ...get('/'), streaming: true }, noTls));
  assert.equal(seen, Array.from({ length: EVENTS }, (_, number) => `${number}\n`).join(''));
});

test('a slow reader gets all of a burst, also if nothing follows it', async (t) => {
  const SIZE = 16 * 1024;
  const CHUNKS = 200;
  const { wire } = await pair(t, 'http', (_request, response) => {
    let sent = 0;
    const more = (): void => {
      if (sent++ === CHUNKS) return; // and silence
      response.write(Buffer.alloc(SIZE, 1));
      setImmediate(more);
    };
    more();
  });
  // The connection is full after some time, and rests: readers of all paces let it go on at different moments of that.
  const read = async (pause: number): Promise<number> => {
    const { body } = await wire.send({ ...get('/'), streaming: true }, noTls);
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes === SIZE * CHUNKS) break;
      const until = performance.now() + pause;
      while (performance.now() < until) await new Promise(setImmediate);
    }
    return bytes;
  };
  const seen = await Promise.all([1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 25, 30].map(read));
  assert.deepEqual(new Set(seen), new Set([SIZE * CHUNKS]));
});

test('who borrows gets every byte in its turn; a refusal is never lent', async (t) => {
  const PIECES = 300;
  const piece = (number: number): Buffer => Buffer.alloc(1 + ((number * 7_919) % 30_000), number % 256);
  const { wire } = await pair(t, 'http', (request, response) => {
    if (request.url === '/refused') response.statusCode = 410;
    let sent = 0;
    const more = (): void => {
      if (sent === PIECES) return void response.end();
      response.write(piece(sent++));
      setImmediate(more);
    };
    more();
  });
  const whole = Buffer.concat(Array.from({ length: PIECES }, (_, number) => piece(number)));
  const ask = async (path: string) => {
    const { body } = await wire.send({ ...get(path), streaming: true, borrows: true }, noTls);
    return body as AsyncIterable<Uint8Array>;
  };
  const copies: Buffer[] = [];
  for await (const chunk of await ask('/')) copies.push(Buffer.from(chunk));
  assert.ok(Buffer.concat(copies).equals(whole));
  const kept: Uint8Array[] = [];
  for await (const chunk of await ask('/refused')) kept.push(chunk);
  assert.ok(kept.length > 1 && Buffer.concat(kept).equals(whole));
});
