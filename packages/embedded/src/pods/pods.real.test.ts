/** Logs and commands over sockets: streams that end with their reader, and upgrades that only those get who may. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { test, type TestContext } from 'node:test';
import { systemKubePorts } from '@reeve/kube';
import { tokenAuthentication } from '../access/access.ts';
import { certificate, privateKey } from '../server/certificate-testing.ts';
import { listen, type ListenOptions } from '../server/http.ts';
import { message } from './channels.ts';
import { container, openPods, running } from './pods-testing.ts';

const TOKEN = 'a-token-that-is-long-enough';
const BEARER = { authorization: `Bearer ${TOKEN}` };
const POD = '/api/v1/namespaces/default/pods/web';
const COMMAND = `${POD}/exec?command=cat&stdin=1&stdout=1&stderr=1`;

async function serve(t: TestContext, options: Partial<ListenOptions> = {}) {
  const opened = await openPods({ ...systemKubePorts(), authenticate: tokenAuthentication(TOKEN) });
  const { server } = opened;
  const listener = await listen({
    handle: (request) => server.handle(request),
    connect: (request) => server.connect(request),
    ...options,
  });
  t.after(async () => {
    server.close();
    await listener.close();
  });
  await opened.create('web', [container('main')], { main: { state: running } });
  return { ...opened, url: listener.url };
}

test('a log is followed as it grows, and whoever goes away ends it', async (t) => {
  const { fake, url } = await serve(t);
  const { promise: more, resolve: grow } = Promise.withResolvers<void>();
  const { promise: ended, resolve: end } = Promise.withResolvers<unknown>();
  const logs = fake.logs.bind(fake);
  fake.logs = async (at, options, signal) => {
    signal.addEventListener('abort', () => end(signal.reason));
    await logs(at, options, signal);
    return (async function* () {
      yield Buffer.from('first\n');
      await more;
      yield Buffer.from('second\n');
      await ended;
    })();
  };
  const gone = new AbortController();
  const response = await fetch(new URL(`${POD}/log?follow=true`, url), { headers: BEARER, signal: gone.signal });
  assert.equal(response.headers.get('content-type'), 'text/plain');
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const next = async () => Buffer.from((await reader.read()).value ?? []).toString();
  assert.equal(await next(), 'first\n');
  grow();
  assert.equal(await next(), 'second\n');
  gone.abort();
  await ended;
});

/** A client of Node's own. */
async function open(url: URL, path: string, protocol = 'v5.channel.k8s.io') {
  const at = new URL(path, url);
  at.protocol = 'ws:';
  const socket = new WebSocket(at, { protocols: [protocol], headers: BEARER });
  socket.binaryType = 'arraybuffer';
  const received: Buffer[] = [];
  socket.addEventListener('message', ({ data }) => received.push(Buffer.from(data as ArrayBuffer)));
  const closed = once(socket, 'close') as Promise<[CloseEvent]>;
  await once(socket, 'open');
  const on = (channel: number) =>
    Buffer.concat(received.filter(([of]) => of === channel).map((one) => one.subarray(1))).toString();
  return { socket, closed, on };
}

for (const protocol of ['v5.channel.k8s.io', 'v4.channel.k8s.io']) {
  test(`${protocol}: a command reads and writes, and says how it ended`, async (t) => {
    const { fake, url } = await serve(t);
    const large = 'x'.repeat(300_000);
    fake.run = async ({ stdin, stdout }) => {
      let read = '';
      for await (const chunk of stdin ?? []) {
        read += Buffer.from(chunk).toString();
        if (read.length === large.length) break; // v4 cannot say that there is no more
      }
      await stdout?.(Buffer.from(read));
      return 7;
    };
    const { socket, closed, on } = await open(url, COMMAND, protocol);
    socket.send(message(0, Buffer.from(large.slice(0, 200_000))));
    socket.send(message(0, Buffer.from(large.slice(200_000))));
    if (protocol.startsWith('v5')) socket.send(Buffer.from([255, 0]));
    const [{ code }] = await closed;
    assert.equal(code, 1000);
    assert.ok(on(1) === large, `${on(1).length} bytes came back`);
    const status = JSON.parse(on(3)) as { readonly details: { readonly causes: readonly { message: string }[] } };
    assert.equal(status.details.causes[0]?.message, '7');
  });
}

test('a command ends with its client, and with the server', async (t) => {
  const { fake, url, server } = await serve(t);
  const endings: string[] = [];
  fake.run = (_streams, signal) =>
    new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => {
        endings.push(String(signal.reason));
        reject(signal.reason as Error);
      }),
    );
  const first = await open(url, COMMAND);
  first.socket.close();
  await first.closed;
  const end = performance.now() + 20_000;
  while (endings.length === 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.match(endings[0] ?? '', /went away/);
  const second = await open(url, COMMAND);
  server.close();
  const [{ code }] = await second.closed;
  assert.equal(code, 1001);
});

/** A request as bytes, and the first line of what comes back, and all of it when it is closed. */
async function raw(url: URL, lines: readonly string[]): Promise<string> {
  const socket = connectTcp(Number(url.port), url.hostname);
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  await once(socket, 'close');
  return text;
}

const UPGRADE = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';

test('who comes from a web page, by another name, without a token or with a broken handshake gets no socket', async (t) => {
  const { url, fake } = await serve(t);
  const get = `GET ${COMMAND} HTTP/1.1`;
  const token = `Authorization: Bearer ${TOKEN}`;
  const protocol = 'Sec-WebSocket-Protocol: v5.channel.k8s.io';
  const all = [...UPGRADE, KEY, protocol];
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [
      [get, 'Host: localhost', token, 'Origin: http://evil.example', ...all],
      /^HTTP\/1\.1 403 .*requests of web pages/s,
    ],
    [[get, 'Host: evil.example', token, ...all], /^HTTP\/1\.1 403 .*this server is not called/s],
    [[get, 'Host: localhost', ...all], /^HTTP\/1\.1 401 .*"reason":"Unauthorized"/s],
    [[get, 'Host: localhost', token, ...UPGRADE, protocol], /^HTTP\/1\.1 400 .*key of the WebSocket handshake/s],
    [[get, 'Host: localhost', token, ...UPGRADE, KEY], /^HTTP\/1\.1 400 .*are not supported: \[\]/s],
  ];
  for (const [lines, expected] of cases) assert.match(await raw(url, lines), expected);
  assert.equal(fake.asked.length, 0);
  // Another upgrade is a wish that is not granted, and the request is answered.
  const plain = ['GET /readyz HTTP/1.1', 'Host: localhost', 'Connection: Upgrade, close', 'Upgrade: h2c'];
  assert.match(await raw(url, plain), /^HTTP\/1\.1 200 .*ok$/s);
});

test('with TLS, too, also while others speak HTTP/2', async (t) => {
  const { url, fake } = await serve(t, { tls: { cert: certificate, key: privateKey } });
  fake.run = async ({ stdout }) => {
    await stdout?.(Buffer.from('hello'));
    return 0;
  };
  const { connect } = await import('node:tls');
  const socket = connect({ port: Number(url.port), host: '127.0.0.1', ca: certificate, ALPNProtocols: ['http/1.1'] });
  await once(socket, 'secureConnect');
  const head = [`GET ${COMMAND} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${TOKEN}`, ...UPGRADE, KEY];
  socket.write(`${[...head, 'Sec-WebSocket-Protocol: v5.channel.k8s.io'].join('\r\n')}\r\n\r\n`);
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  await once(socket, 'end');
  socket.destroy();
  assert.match(text, /^HTTP\/1\.1 101 .*Sec-WebSocket-Protocol: v5\.channel\.k8s\.io\r\n/s);
  assert.ok(text.includes(`${String.fromCharCode(1)}hello`) && text.includes('"status":"Success"'), text);
});
