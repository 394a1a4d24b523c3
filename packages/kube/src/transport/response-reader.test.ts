import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ByteStore } from './byte-store.ts';
import { ResponseReader } from './response-reader.ts';

function read(text: string, cuts: readonly number[] = []) {
  const bytes = Buffer.from(text, 'latin1');
  const reader = new ResponseReader();
  let body = '';
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  let from = 0;
  for (const to of ends) {
    reader.read(bytes.subarray(from, to), (piece) => {
      body += piece.toString('latin1');
    });
    from = to;
  }
  return {
    status: reader.head?.status,
    headers: reader.head?.headers,
    body,
    isDone: reader.isDone,
    mayEnd: reader.mayEnd,
  };
}

const ok = 'HTTP/1.1 200 OK\r\n';
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;

test('chunks, lengths, open ends and answers without a body are read as they are meant', () => {
  const one = read(`${chunked}5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nTrailer: 1\r\n\r\n`);
  assert.deepEqual([one.status, one.body, one.isDone], [200, 'hello world', true]);
  assert.deepEqual(read(`${ok}content-length: 5\r\n\r\nhello`).isDone, true);
  const half = read(`${ok}content-length: 5\r\n\r\nhell`);
  assert.deepEqual([half.body, half.isDone, half.mayEnd], ['hell', false, false]);
  const open = read(`${ok}\r\nhello`);
  assert.deepEqual([open.body, open.isDone, open.mayEnd], ['hello', false, true]);
  assert.equal(read('HTTP/1.1 204 No Content\r\n\r\n').isDone, true);
  assert.equal(read(`${ok}Content-Length: 0\r\n\r\n`).isDone, true);
  assert.equal(read(chunked).mayEnd, false);
  const second = read(`HTTP/1.1 100 Continue\r\n\r\n${ok}A: 1\r\na:  2 \r\nContent-Length: 0\r\n\r\n`);
  assert.deepEqual({ ...second.headers }, { a: '1, 2', 'content-length': '0' });
});

test('what is no answer is an error, and never grows without end', () => {
  const broken: readonly [text: string, error: RegExp][] = [
    ['SSH-2.0-OpenSSH\r\n\r\n', /no HTTP/],
    ['HTTP/2 200\r\n\r\n', /no HTTP/],
    ['HTTP/1.1 101 Switching Protocols\r\n\r\n', /no HTTP/],
    ['HTTP/1.1 200 OK\n\n', /carriage return/],
    [`${ok} folded: 1\r\n\r\n`, /no field/],
    [`${ok}no field\r\n\r\n`, /no field/],
    [`${ok}Transfer-Encoding: gzip, chunked\r\n\r\n`, /encoding/],
    [`${ok}Content-Length: -1\r\n\r\n`, /length/],
    [`${ok}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`, /length/],
    [`${chunked}x\r\n`, /size/],
    [`${chunked}ffffffffffffff\r\n`, /size/],
    [`${chunked}1\r\nab\r\n`, /longer/],
    [`${chunked}1;${'x'.repeat(2_000)}`, /too long/],
    [`${ok}a: ${'x'.repeat(70_000)}`, /too long/],
    [`${chunked}0\r\n${'a: b\r\n'.repeat(20_000)}`, /too long/],
  ];
  for (const [text, error] of broken) assert.throws(() => read(text), error, JSON.stringify(text.slice(0, 60)));
  // A name that means something to JavaScript is a name like any other.
  assert.equal(read(`${ok}__proto__: 1\r\nContent-Length: 0\r\n\r\n`).headers?.['__proto__'], '1');
});

test('however the bytes are cut, the answer is the same', () => {
  const body = fc.array(fc.string({ minLength: 1, maxLength: 40 }), { maxLength: 6 });
  fc.assert(
    fc.property(body, fc.array(fc.nat(), { maxLength: 8 }), (pieces, cuts) => {
      const bytes = pieces.map((piece) => Buffer.from(piece).toString('latin1'));
      const text = `${chunked}${bytes.map((one) => `${one.length.toString(16)}\r\n${one}\r\n`).join('')}0\r\n\r\n`;
      const seen = read(text, cuts);
      assert.deepEqual([seen.status, seen.body, seen.isDone], [200, bytes.join(''), true]);
    }),
  );
});

test('a store gives back what it was given, and what was taken is nobody else’s', () => {
  const store = new ByteStore();
  const taken: Buffer[] = [];
  for (const size of [1, 10, 100_000, 5, 300_000]) {
    for (const fill of [1, 2]) store.add(Buffer.alloc(size, fill));
    assert.equal(store.size, 2 * size);
    taken.push(store.take());
    assert.equal(store.size, 0);
  }
  assert.deepEqual(
    taken.map((bytes) => [bytes.length, bytes[0], bytes.at(-1)]),
    [2, 20, 200_000, 10, 600_000].map((size) => [size, 1, 2]),
  );
});

test('what a store lends is right until the next is taken, and is written again after it', () => {
  const store = new ByteStore(() => true);
  const memory: ArrayBufferLike[] = [];
  for (const [turn, size] of [10, 900_000, 3, 300_000, 7, 9, ...Array<number>(20).fill(700)].entries()) {
    store.add(Buffer.alloc(size, turn));
    const lent = store.take();
    // Filled again while somebody reads it.
    store.add(Buffer.alloc(size, 99));
    assert.deepEqual([lent.length, lent.every((byte) => byte === turn)], [size, true]);
    memory.push(lent.buffer, store.take().buffer);
  }
  assert.equal(new Set(memory.slice(-40)).size, 2);
});
