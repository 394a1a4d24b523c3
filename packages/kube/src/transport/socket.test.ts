import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { test, type TestContext } from 'node:test';
import type { Access } from '../auth/access.ts';
import { socketTransport } from './socket.ts';

const TLS = { ca: undefined, certificate: undefined, key: undefined, serverName: undefined, insecure: false };

async function serve(t: TestContext, upgrade: (request: IncomingMessage, socket: Duplex) => void) {
  const server: Server = createServer((_request, response) => response.writeHead(400).end());
  const upgraded = new Set<Duplex>();
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    upgraded.add(socket);
    upgrade(request, socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    // The server counts them no more, and files that share this process look for what is left open.
    for (const socket of upgraded) socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const identity = { headers: { authorization: 'Bearer secret' }, tls: TLS };
  const access: Access = {
    server: new URL(`http://127.0.0.1:${port}`),
    identity: () => Promise.resolve(identity),
    rejected: () => Promise.resolve(false),
  };
  return socketTransport(access);
}

function accept({ headers }: IncomingMessage, socket: Duplex): void {
  const key = createHash('sha1').update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key.digest('base64')}\r\nSec-WebSocket-Protocol: two\r\n\r\n`,
  );
}

/** A short frame of bytes, or the end. */
const frame = (text: string): Buffer => Buffer.concat([Buffer.of(0x82, text.length), Buffer.from(text)]);
const END = Buffer.of(0x88, 2, 1000 >> 8, 1000 & 255);

/** What a client sent in a short frame: theirs are masked. */
function unmasked(data: Buffer): string {
  const [mask, rest] = [data.subarray(2, 6), data.subarray(6)];
  return Buffer.from(rest.map((byte, at) => byte ^ (mask[at % 4] ?? 0))).toString();
}

test('messages go both ways, with credentials and without an origin', async (t) => {
  let asked: IncomingMessage | undefined;
  const open = await serve(t, (request, socket) => {
    asked = request;
    accept(request, socket);
    socket.write(frame('hello'));
    socket.once('data', (data: Buffer) => {
      socket.write(frame(`you said ${unmasked(data)}`));
      socket.end(END);
    });
  });
  using socket = await open({ path: '/exec?command=ls', protocols: ['one', 'two'] });
  assert.equal(socket.protocol, 'two');
  await socket.send(Buffer.from('hi'));
  const heard: string[] = [];
  for await (const message of socket.messages) heard.push(Buffer.from(message).toString());
  assert.deepEqual(heard, ['hello', 'you said hi']);
  assert.equal(asked?.url, '/exec?command=ls');
  assert.equal(asked?.headers.authorization, 'Bearer secret');
  assert.equal(asked?.headers.origin, undefined);
});

test('a refusal, a server that is away, and a connection that breaks are errors', async (t) => {
  const refusing = await serve(t, (_request, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
  await assert.rejects(refusing({ path: '/x', protocols: ['one'] }), { code: 'KUBE_REFUSED' });
  const breaking = await serve(t, (request, socket) => {
    accept(request, socket);
    socket.write(frame('begin'));
    socket.once('data', () => socket.destroy());
  });
  using socket = await breaking({ path: '/x', protocols: ['two'] });
  await socket.send(Buffer.from('now'));
  const heard: string[] = [];
  await assert.rejects(
    async () => {
      for await (const message of socket.messages) heard.push(Buffer.from(message).toString());
    },
    { code: 'KUBE_CONNECTION_LOST' },
  );
  assert.deepEqual(heard, ['begin']);
  const gone = createServer();
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
  const { port } = gone.address() as AddressInfo;
  await new Promise((resolve) => gone.close(resolve));
  const nowhere = socketTransport({
    server: new URL(`http://127.0.0.1:${port}`),
    identity: () => Promise.resolve({ headers: {}, tls: TLS }),
    rejected: () => Promise.resolve(false),
  });
  await assert.rejects(nowhere({ path: '/x', protocols: [] }), { code: 'KUBE_UNREACHABLE' });
});

test('whoever leaves is heard no more', async (t) => {
  const open = await serve(t, (request, socket) => accept(request, socket));
  const stop = new AbortController();
  using socket = await open({ path: '/x', protocols: ['two'], signal: stop.signal });
  stop.abort(new Error('enough'));
  await assert.rejects(
    async () => {
      for await (const _message of socket.messages) assert.fail('nothing was sent');
    },
    { message: 'enough' },
  );
});

test('who sends waits for one who does not read, and can leave him all the same', async (t) => {
  const open = await serve(t, (request, socket) => {
    accept(request, socket);
    socket.pause();
  });
  const stop = new AbortController();
  using socket = await open({ path: '/x', protocols: ['two'], signal: stop.signal });
  const piece = Buffer.alloc(64 * 1024);
  let sent = 0;
  const isHeldUp = async (): Promise<boolean> => {
    const first = await Promise.race([socket.send(piece), new Promise((resolve) => setTimeout(resolve, 200, 'late'))]);
    sent++;
    return first === 'late';
  };
  while (!(await isHeldUp())) assert.ok(sent < 1000, 'all of it is taken in, however much it is');
  const last = socket.send(piece);
  stop.abort(new Error('enough'));
  await assert.rejects(
    async () => {
      for await (const _message of socket.messages) assert.fail('nothing was sent');
    },
    { message: 'enough' },
  );
  await last;
});
