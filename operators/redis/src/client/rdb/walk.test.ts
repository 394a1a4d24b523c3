import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Crc64 } from './crc64.ts';
import { dumpOf, type SnapshotItem, walkSnapshot } from './walk.ts';

const text = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
const header = (name = 'REDIS0010') => Buffer.from(name);
const int64 = (value: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(value));
  return bytes;
};

function sealed(...parts: readonly (Buffer | readonly number[])[]): Buffer {
  const body = Buffer.concat([...parts.map((part) => Buffer.from(part)), Buffer.from([255])]);
  return Buffer.concat([body, new Crc64().update(body).bytes()]);
}

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

async function walk(bytes: Buffer, size = 7): Promise<readonly SnapshotItem[]> {
  const items: SnapshotItem[] = [];
  for await (const item of walkSnapshot(inChunks(bytes, size))) items.push(item);
  return items;
}

const keysOf = (items: readonly SnapshotItem[]) =>
  items.flatMap((item) =>
    item.item === 'key' ? [{ key: item.key.toString(), database: item.database, expireAt: item.expireAt }] : [],
  );

test('the checksum is the servers’ own, and a dump is what a server answers', () => {
  assert.equal(new Crc64().update(Buffer.from('123456789')).bytes().reverse().toString('hex'), 'e9c6d914c4b8d9ca');
  // SET x 10, DUMP x, as documented for version 9 of the format.
  assert.equal(dumpOf(Buffer.from([0, 0xc0, 10]), 9).toString('hex'), '00c00a0900be6d06895a28000a');
});

test('keys, their databases and times are found, however the bytes come', async () => {
  const bytes = sealed(
    header(),
    [250, ...text('redis-ver'), ...text('7.0.15')],
    [245, ...text('#!lua name=lib')],
    [254, 0, 251, 3, 1],
    [0, ...text('plain'), ...text('value')],
    [252, ...int64(1_900_000_000_123), 248, 5, 0, ...text('ends'), 0xc1, 0x39, 0x30],
    [254, 2, 249, 9, 2, ...text('members'), 2, ...text('a'), ...text('b')],
  );
  for (const size of [1, 5, 1_000]) {
    const items = await walk(bytes, size);
    assert.deepEqual(keysOf(items), [
      { key: 'plain', database: 0, expireAt: undefined },
      { key: 'ends', database: 0, expireAt: 1_900_000_000_123 },
      { key: 'members', database: 2, expireAt: undefined },
    ]);
    assert.deepEqual(items[0], { item: 'header', family: 'redis', version: 10 });
    assert.ok(items.some((item) => item.item === 'library' && item.code.toString() === '#!lua name=lib'));
    const value = items.find((item) => item.item === 'key' && item.key.toString() === 'members');
    assert.deepEqual(value?.item === 'key' && [...value.value], [2, 2, 1, 97, 1, 98]);
  }
});

test('a key that the server packed is unpacked', async () => {
  // 'a' once, then 24 times from one byte before: 25 bytes in five.
  const packed = [0, 97, 0xe0, 15, 0];
  const bytes = sealed(header(), [0, 0xc3, packed.length, 25, ...packed, ...text('v')]);
  assert.deepEqual(keysOf(await walk(bytes)), [{ key: 'a'.repeat(25), database: 0, expireAt: undefined }]);
});

test('values of all layouts are passed over to their very end', async () => {
  const eight = Array.from({ length: 8 }, () => 1);
  const id = [...eight, ...eight];
  const pending = [1, ...id, ...eight, 3];
  const consumer = [1, ...text('who'), ...eight, ...eight, 1, ...id];
  const group = [1, ...text('group'), 4, 5, 6, ...pending, ...consumer];
  const stream = [1, ...text('node'), ...text('pack'), ...Array.from({ length: 8 }, () => 7), ...group];
  const values: Readonly<Record<number, readonly number[]>> = {
    1: [2, ...text('a'), ...text('b')],
    3: [2, ...text('a'), 3, 49, 46, 53, ...text('b'), 254],
    4: [1, ...text('field'), ...text('value')],
    5: [1, ...text('a'), ...eight],
    7: [9, 1, 5, 2, 6, 3, 1, 1, 1, 1, 4, ...eight, 5, ...text('text'), 0],
    11: text('intset') as unknown as readonly number[],
    18: [2, 1, ...text('plain'), 2, ...text('pack')],
    21: stream,
  };
  for (const [kind, value] of Object.entries(values)) {
    const bytes = sealed(header(), [Number(kind), ...text('key'), ...value], [0, ...text('next'), ...text('v')]);
    const names = keysOf(await walk(bytes, 3)).map(({ key }) => key);
    assert.deepEqual(names, ['key', 'next'], `kind ${kind}`);
  }
  const fields = [1, ...text('field'), ...text('value'), ...eight];
  const valkey = sealed(header('VALKEY080'), [22, ...text('key'), ...fields], [0, ...text('next'), ...text('v')]);
  assert.equal(keysOf(await walk(valkey)).length, 2);
});

test('what ends early, is changed, goes on behind its end, or is not known is no snapshot', async () => {
  const whole = sealed(header(), [0, ...text('key'), ...text('value')]);
  const refused = (bytes: Buffer, why: RegExp) =>
    assert.rejects(walk(bytes), (error: Error & { readonly code?: string }) => {
      assert.equal(error.code, 'SNAPSHOT_UNREADABLE');
      assert.match(error.message, why);
      return true;
    });
  for (const length of [0, 5, 12, whole.length - 9, whole.length - 1])
    await refused(whole.subarray(0, length), /early/);
  const changed = Buffer.from(whole);
  changed[changed.indexOf('value')] = 86;
  await refused(changed, /checksum/);
  await refused(Buffer.concat([whole, Buffer.from([1])]), /behind its end/);
  await refused(Buffer.from('HELLO0010, this is something else'), /does not begin/);
  await refused(sealed(header(), [99, ...text('key'), 1]), /kind 99/);
  await refused(sealed(header(), [22, ...text('key'), 1]), /kind 22 \(redis\)/);
  await refused(sealed(header(), [243, 1]), /mark 243/);
});
