import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { closePayload, type Frame, FrameReader, frameOf, OPCODE, ProtocolError } from './frames.ts';
import { acceptText, handshakeProblem, isWebSocket, protocolsOf } from './handshake.ts';
import { WebSocketConnection } from './message-socket.ts';

/** As a client sends it. */
function masked(opcode: number, payload: Uint8Array, { isFinal = true, mask = [1, 2, 3, 4] } = {}): Buffer {
  const plain = frameOf(opcode, payload);
  const size = plain.length - payload.length;
  const head = Buffer.from(plain.subarray(0, size));
  head.writeUInt8((head.readUInt8(1) | 0x80) & 0xff, 1);
  if (!isFinal) head.writeUInt8(head.readUInt8(0) & 0x7f, 0);
  const body = Buffer.from(payload).map((byte, at) => byte ^ (mask[at & 3] as number));
  return Buffer.concat([head, Buffer.from(mask), body]);
}

test('frames are read in whatever pieces they come', () => {
  const sizes = [0, 1, 125, 126, 127, 65_535, 65_536, 70_000];
  const payloads = sizes.map((size) => Buffer.alloc(size, size % 251));
  const bytes = Buffer.concat(payloads.map((payload) => masked(OPCODE.binary, payload)));
  for (const step of [1, 1_001, bytes.length]) {
    const reader = new FrameReader();
    const frames: Frame[] = [];
    // Byte by byte only where it is short.
    const part = step === 1 ? bytes.subarray(0, 500) : bytes;
    for (let at = 0; at < part.length; at += step) frames.push(...reader.push(part.subarray(at, at + step)));
    const expected = step === 1 ? payloads.slice(0, frames.length) : payloads;
    assert.ok(frames.length >= 3);
    assert.deepEqual(
      frames.map(({ payload }) => payload.toString('hex')),
      expected.map((payload) => payload.toString('hex')),
    );
  }
});

test('who breaks the rules is told which', () => {
  const cases: readonly (readonly [Buffer, number])[] = [
    [frameOf(OPCODE.binary, Buffer.from('not masked')), 1002],
    [Buffer.from([0xc2, 0x80, 1, 2, 3, 4]), 1002],
    [Buffer.from([0x83, 0x80, 1, 2, 3, 4]), 1002],
    [masked(OPCODE.ping, Buffer.alloc(1), { isFinal: false }), 1002],
    [Buffer.from([0x89, 0x80 | 126, 0, 126, 1, 2, 3, 4]), 1002],
    [Buffer.from([0x82, 0x80 | 127, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4]), 1009],
  ];
  for (const [bytes, code] of cases) {
    assert.throws(
      () => new FrameReader().push(bytes),
      (error: unknown) => error instanceof ProtocolError && error.code === code,
      bytes.subarray(0, 4).toString('hex'),
    );
  }
});

test('the handshake of the RFC', () => {
  const headers = {
    connection: 'keep-alive, Upgrade',
    upgrade: 'WebSocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-protocol': 'v5.channel.k8s.io, v4.channel.k8s.io',
  };
  assert.ok(isWebSocket(headers));
  assert.equal(handshakeProblem(headers), undefined);
  assert.deepEqual(protocolsOf(headers), ['v5.channel.k8s.io', 'v4.channel.k8s.io']);
  assert.match(acceptText(headers, 'v5.channel.k8s.io'), /Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/);
  assert.ok(!isWebSocket({ ...headers, upgrade: 'SPDY/3.1' }));
  assert.ok(!isWebSocket({ upgrade: 'websocket' }));
  assert.match(handshakeProblem({ ...headers, 'sec-websocket-version': '8' }) ?? '', /version 13/);
  assert.match(handshakeProblem({ ...headers, 'sec-websocket-key': 'short' }) ?? '', /key/);
});

/** A connection whose other end is the test. */
function connection() {
  const sent: Buffer[] = [];
  const stream = new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _encoding, done) {
      sent.push(chunk);
      done();
    },
  });
  const socket = new WebSocketConnection(stream, new Uint8Array());
  return { stream, socket, sent, receive: (...frames: readonly Buffer[]) => void stream.push(Buffer.concat(frames)) };
}

test('messages in parts are put together, pings are answered in between, and a close ends it', async () => {
  const { socket, sent, receive, stream } = connection();
  receive(
    masked(OPCODE.binary, Buffer.from('on'), { isFinal: false }),
    masked(OPCODE.ping, Buffer.from('there?')),
    masked(OPCODE.continuation, Buffer.from('e')),
    masked(OPCODE.text, Buffer.from('two')),
    masked(OPCODE.close, closePayload(1000, '')),
  );
  const read: string[] = [];
  for await (const message of socket.messages) read.push(message.toString());
  assert.deepEqual(read, ['one', 'two']);
  assert.ok(socket.gone.aborted);
  assert.deepEqual(sent[0], frameOf(OPCODE.pong, Buffer.from('there?')));
  assert.deepEqual(sent[1], frameOf(OPCODE.close, closePayload(1000, '')));
  assert.ok(stream.writableEnded);
  await socket.send(Buffer.from('late')); // nobody is there any more
  assert.equal(sent.length, 2);
});

test('a part out of place ends the connection with its reason', async () => {
  const { socket, sent, receive } = connection();
  receive(masked(OPCODE.continuation, Buffer.from('what?')));
  for await (const _ of socket.messages) assert.fail();
  assert.ok(socket.gone.aborted);
  const [last] = sent;
  assert.equal(last?.readUInt16BE(2), 1002);
});

test('whoever waited for a slow client leaves nothing behind on its connection', async () => {
  let waits = 0;
  const stream = new Duplex({
    read: () => undefined,
    write: (_chunk, _encoding, done) => void setImmediate(done),
  });
  stream.on('drain', () => waits++);
  const socket = new WebSocketConnection(stream, new Uint8Array());
  const counts = () => ['drain', 'close'].map((name) => stream.listenerCount(name));
  const before = counts();
  // Each is more than the connection takes at once.
  for (let count = 0; count < 20; count++) await socket.send(Buffer.alloc(100_000));
  assert.ok(waits > 0);
  assert.deepEqual(counts(), before);
});

test('a client that is gone ends what waits for it; one that sends too much is made to wait', async () => {
  const { socket, stream, receive } = connection();
  for (let count = 0; count < 3; count++) receive(masked(OPCODE.binary, Buffer.alloc(600_000)));
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(stream.isPaused());
  const messages = socket.messages[Symbol.asyncIterator]();
  await messages.next();
  await messages.next();
  assert.ok(!stream.isPaused());
  await messages.next();
  const waiting = messages.next();
  stream.destroy();
  assert.equal((await waiting).done, true);
  assert.ok(socket.gone.aborted);
});
