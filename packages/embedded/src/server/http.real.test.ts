import assert from 'node:assert/strict';
import { connect as connectTcp, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { type Access, type AnyObject, KubeClient, networkTransport, systemKubePorts } from '@reeve/kube';
import { tokenAuthentication } from '../access/access.ts';
import { certificate, privateKey } from './certificate-testing.ts';
import { listen, type ListenOptions } from './http.ts';
import { configMaps, openServer } from './server-testing.ts';

const TOKEN = 'a-token-that-is-long-enough';

async function serve(t: TestContext, options: Partial<ListenOptions> & { readonly maxBufferedBytes?: number } = {}) {
  const { clock, random } = systemKubePorts();
  const { maxBufferedBytes = 1_000_000, ...rest } = options;
  const opened = await openServer({
    clock,
    random,
    authenticate: tokenAuthentication(TOKEN),
    watch: { maxBufferedBytes },
  });
  const listener = await listen({ handle: (request) => opened.server.handle(request), ...rest });
  t.after(async () => {
    opened.server.close();
    await listener.close();
  });
  return { ...opened, listener };
}

function clientFor(t: TestContext, url: URL, http2 = false) {
  const ports = systemKubePorts();
  const tls = { ca: certificate, certificate: undefined, key: undefined, serverName: undefined, insecure: false };
  const identity = { headers: { authorization: `Bearer ${TOKEN}` }, tls };
  const access: Access = { server: url, identity: async () => identity, rejected: async () => false };
  const network = networkTransport(access, ports.clock, http2 ? { watches: 'http2' } : {});
  t.after(() => network.close());
  const client = new KubeClient({ ...ports, transport: network.transport });
  return client.resource(configMaps, 'default');
}

/** A request as bytes. */
function raw(t: TestContext, url: URL): { readonly socket: Socket; read(until: RegExp): Promise<string> } {
  const socket = connectTcp(Number(url.port), url.hostname);
  t.after(() => socket.destroy());
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  return {
    socket,
    read: async (until) => {
      const end = performance.now() + 20_000;
      while (!until.test(text)) {
        if (performance.now() > end) throw new Error(`never ${until}: ${text.slice(0, 500)}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      return text;
    },
  };
}

async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`never: ${String(condition)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

for (const kind of ['http', 'https', 'h2'] as const) {
  test(`${kind}: objects, lists and watches over a socket`, async (t) => {
    const { listener } = await serve(t, kind === 'http' ? {} : { tls: { cert: certificate, key: privateKey } });
    const maps = clientFor(t, listener.url, kind === 'h2');
    const seen: string[] = [];
    const watching = (async () => {
      for await (const event of maps.watch({ sendInitialEvents: true })) {
        if (event.type === 'BOOKMARK') seen.push('BOOKMARK');
        else seen.push(`${event.type} ${event.object.metadata.name}`);
        if (event.type === 'DELETED') break;
      }
    })();
    await maps.create({ metadata: { name: 'a' }, data: { text: 'ü🙂' } });
    const found: AnyObject = await maps.get('a');
    assert.deepEqual(found.data, { text: 'ü🙂' });
    for (let i = 0; i < 120; i++) await maps.create({ metadata: { name: `m${i}` }, data: { text: 'x'.repeat(5_000) } });
    assert.equal((await maps.listAll()).items.length, 121);
    await maps.delete('a');
    await watching;
    assert.equal(seen.filter((one) => one.startsWith('ADDED')).length, 121);
    assert.equal(seen.at(-1), 'DELETED a');
  });
}

test('a watch is sent in chunks that are whole lines, ends as they end, and its connection serves on', async (t) => {
  const { listener, of } = await serve(t);
  const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`;
  const watch = '/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=4&timeoutSeconds=2';
  const [one, other, after] = [raw(t, listener.url), raw(t, listener.url), raw(t, listener.url)];
  one.socket.write(ask(watch));
  other.socket.write(ask(watch));
  // Behind another request, whose answer has the connection first.
  after.socket.write(ask('/readyz') + ask(watch));
  await Promise.all([one, other, after].map((connection) => connection.read(/transfer-encoding: chunked\r\n/i)));
  const names = ['a', 'ü'.repeat(3_000), 'c'];
  await Promise.all(names.map((text, at) => of(configMaps).create({ metadata: { name: `m${at}` }, data: { text } })));
  for (const connection of [one, other, after]) {
    const text = await connection.read(/\r\n0\r\n\r\n$/);
    const lines = linesOf(Buffer.from(text.slice(text.lastIndexOf('\r\n\r\n', text.length - 5) + 4), 'latin1'));
    const seen = lines.map((line) => JSON.parse(line) as AnyObject & { readonly object: AnyObject });
    assert.deepEqual(
      seen.map(({ object }) => (object.data as AnyObject).text),
      names,
    );
  }
  one.socket.write(ask('/readyz'));
  assert.match(await one.read(/ok$/), /HTTP\/1\.1 200 OK[^]*HTTP\/1\.1 200 OK[^]*ok$/);
});

/** The lines in the chunks of a body; each chunk ends with one. */
function linesOf(body: Buffer): string[] {
  const lines: string[] = [];
  for (let at = 0; ; ) {
    const start = body.indexOf('\r\n', at) + 2;
    const size = Number.parseInt(body.toString('latin1', at, start - 2), 16);
    at = start + size + 2;
    assert.equal(body.toString('latin1', at - 2, at), '\r\n');
    if (size === 0) return lines;
    const text = body.toString('utf8', start, start + size);
    assert.ok(text.endsWith('\n'));
    lines.push(...text.trimEnd().split('\n'));
  }
}

test('who has no token, comes from a web page or by another name is refused with a Status', async (t) => {
  const { listener } = await serve(t);
  const path = new URL('/api/v1/configmaps', listener.url);
  const bearer = { authorization: `Bearer ${TOKEN}` };
  const anonymous = await fetch(path);
  assert.deepEqual([anonymous.status, ((await anonymous.json()) as AnyObject).reason], [401, 'Unauthorized']);
  assert.equal((await fetch(path, { headers: { authorization: 'Bearer wrong' } })).status, 401);
  assert.equal((await fetch(path, { headers: bearer })).status, 200);
  assert.equal((await fetch(path, { headers: { ...bearer, origin: 'http://evil.example' } })).status, 403);
  const rebound = raw(t, listener.url);
  rebound.socket.write(
    `GET /api/v1/configmaps HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`,
  );
  assert.match(await rebound.read(/\}$/), /^HTTP\/1\.1 403 /);
  assert.equal(await (await fetch(new URL('/readyz', listener.url))).text(), 'ok');
  const options = await fetch(path, { method: 'OPTIONS', headers: bearer });
  assert.equal(options.status, 405);
});

test('what is too large or broken is refused, and the next request served', async (t) => {
  const { listener } = await serve(t);
  const path = new URL('/api/v1/namespaces/default/configmaps', listener.url);
  const post = (body: string) =>
    fetch(path, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    });
  const large = await post(`{"metadata":{"name":"a"},"data":{"x":"${'y'.repeat(3 * 1024 * 1024)}"}}`);
  const status = (await large.json()) as AnyObject;
  assert.deepEqual(
    [large.status, status.reason, status.message],
    [413, 'RequestEntityTooLarge', 'Request entity too large: limit is 3145728'],
  );
  const hostile = ['', '5', '[]', '{', '{"a":1,"a":2}', '{"__proto__":{"x":1}}', '['.repeat(100_000), '"x"', '\u0000'];
  for (const body of hostile) {
    const answer = await post(body);
    assert.equal(answer.status, 400, body.slice(0, 20));
    assert.equal(((await answer.json()) as AnyObject).kind, 'Status');
  }
  const noise = raw(t, listener.url);
  noise.socket.write('this is no request\r\n\r\n');
  assert.match(await noise.read(/\r\n\r\n/), /^HTTP\/1\.1 400 /);
  const headers = raw(t, listener.url);
  headers.socket.write(`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`);
  assert.match(await headers.read(/\r\n\r\n/), /^HTTP\/1\.1 431 /);
  assert.equal((await post('{"metadata":{"name":"good"}}')).status, 201);
});

test('a watch whose client does not read is dropped; a thousand idle connections are in nobody’s way', async (t) => {
  const { listener, of } = await serve(t, { maxBufferedBytes: 200_000 });
  const idle = Array.from({ length: 1_000 }, () => raw(t, listener.url));
  await until(() => listener.connections >= 1_000);
  const slow = raw(t, listener.url);
  slow.socket.write(
    `GET /api/v1/configmaps?watch=1&resourceVersion=4 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`,
  );
  await slow.read(/200 OK/);
  slow.socket.pause();
  const closed = new Promise((resolve) => slow.socket.once('close', resolve));
  const data = { x: 'y'.repeat(200_000) };
  for (let i = 0; i < 60; i++) await of(configMaps).create({ metadata: { name: `m${i}` }, data });
  slow.socket.resume();
  await closed;
  const maps = clientFor(t, listener.url);
  assert.ok(await maps.get('m0'));
  for (const { socket } of idle) socket.destroy();
});
