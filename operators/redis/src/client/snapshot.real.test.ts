/** A snapshot of a real server, with values of every kind, brought into an empty one through RESTORE: all of it is there, to the byte. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@reeve/runtime';
import { makeCertificates, type Product, startServer } from '@reeve/rig';
import type { Arg, RedisPort } from '../api/port.ts';
import type { Endpoint } from '../api/view.ts';
import { connectRedis } from './client.ts';
import { dumpOf, type SnapshotItem, walkSnapshot } from './rdb/walk.ts';
import { snapshotSource } from './snapshot.ts';

const ENDS = String(Date.parse('2040-01-01T00:00:00Z'));
const many = (count: number, each: (index: number) => readonly string[]) =>
  Array.from({ length: count }, (_, index) => each(index)).flat();

const COMMANDS: readonly (readonly string[])[] = [
  ['SET', 'integer', '123456'],
  ['SET', 'text', 'some text'],
  ['SET', 'packed', 'abc'.repeat(5_000)],
  ['SET', `long:${'k'.repeat(300)}`, 'a key that is packed itself'],
  ['SET', 'ends', 'one day', 'PXAT', ENDS],
  ['SET', 'empty', ''],
  ['RPUSH', 'list', ...many(2_000, (index) => [`item ${index}`])],
  ['RPUSH', 'big-items', 'x'.repeat(20_000), 'y'.repeat(20_000)],
  ['SADD', 'numbers', ...many(300, (index) => [String(index * 7)])],
  ['SADD', 'small-set', 'a', 'b', 'c'],
  ['SADD', 'set', ...many(1_000, (index) => [`member ${index}`])],
  ['HSET', 'small-hash', 'a', '1', 'b', '2'],
  ['HSET', 'hash', ...many(1_000, (index) => [`field ${index}`, `value ${index}`])],
  ['ZADD', 'small-scores', '1.5', 'a', '-inf', 'b'],
  ['ZADD', 'scores', ...many(500, (index) => [String(index / 3), `member ${index}`])],
  ...Array.from({ length: 300 }, (_, index) => ['XADD', 'stream', '*', 'field', `value ${index}`]),
  ['XGROUP', 'CREATE', 'stream', 'group', '0'],
  ['XREADGROUP', 'GROUP', 'group', 'consumer', 'COUNT', '7', 'STREAMS', 'stream', '>'],
  ['XDEL', 'stream', '0-1'],
  ['PFADD', 'sketch', ...many(100, (index) => [`thing ${index}`])],
  ['SETBIT', 'bits', '100000', '1'],
  ['PEXPIREAT', 'hash', ENDS],
];
const LIBRARY = "#!lua name=lib\nredis.register_function('answer', function() return 42 end)";

/** In its members where two servers may write them in another order. */
async function contentOf(port: RedisPort, endpoint: Endpoint, key: string): Promise<unknown> {
  const ask = (...words: readonly Arg[]) => port.call(endpoint, words, { binary: false });
  const kind = String(await ask('TYPE', key));
  const ends = await ask('PEXPIRETIME', key);
  const sorted = async (...words: readonly Arg[]) => ((await ask(...words)) as readonly string[]).map(String).sort();
  if (kind === 'set') return [kind, ends, await sorted('SMEMBERS', key)];
  if (kind === 'hash') return [kind, ends, await sorted('HGETALL', key)];
  const dump = await port.call(endpoint, ['DUMP', key], { binary: true });
  return [kind, ends, (dump as Buffer).toString('base64')];
}

for (const product of ['redis', 'valkey'] satisfies readonly Product[]) {
  test(`a snapshot of ${product} holds everything, and RESTORE takes it`, async (t) => {
    const [source, target] = await Promise.all([
      startServer({ product, clusterEnabled: false }),
      startServer({ product, clusterEnabled: false }),
    ]);
    t.after(() => Promise.all([source.stop(), target.stop()]));
    const port = connectRedis({}, { clock: systemClock });
    t.after(() => port.close());
    for (const words of COMMANDS) await port.call(source.endpoint, words);
    await port.call(source.endpoint, ['FUNCTION', 'LOAD', LIBRARY]);
    // Where fields may end by themselves.
    const hasFieldTimes = await port.call(source.endpoint, ['HPEXPIREAT', 'small-hash', ENDS, 'FIELDS', '1', 'a']).then(
      () => true,
      () => false,
    );
    assert.equal(hasFieldTimes, product === 'valkey');
    const keys = [
      ...new Set(COMMANDS.map(([, name = '', third = '']) => (name === 'CREATE' || name === 'GROUP' ? third : name))),
    ].filter((key) => key !== 'group');
    let version = 0;
    const items: SnapshotItem[] = [];
    const snapshot = snapshotSource({}).snapshot(source.endpoint, new AbortController().signal);
    for await (const item of walkSnapshot(snapshot)) {
      items.push(item);
      if (item.item === 'header') version = item.version;
      else if (item.item === 'library') await port.call(target.endpoint, ['FUNCTION', 'LOAD', item.code]);
      else {
        const words = ['RESTORE', item.key, String(item.expireAt ?? 0), dumpOf(item.value, version), 'ABSTTL'];
        await port.call(target.endpoint, words);
      }
    }
    assert.deepEqual(
      items.flatMap((item) => (item.item === 'key' ? [item.key.toString()] : [])).sort(),
      [...keys].sort(),
    );
    for (const key of keys) {
      assert.deepEqual(
        await contentOf(port, target.endpoint, key),
        await contentOf(port, source.endpoint, key),
        key.slice(0, 20),
      );
    }
    assert.equal(await port.call(target.endpoint, ['FCALL', 'answer', '0']), 42);
    if (hasFieldTimes) {
      const ask = ['HPEXPIRETIME', 'small-hash', 'FIELDS', '2', 'a', 'b'];
      assert.deepEqual(await port.call(target.endpoint, ask), [Number(ENDS), -1]);
    }
  });
}

test('a snapshot comes by TLS from a server that wants a password; a wrong one, or no server, says so', async (t) => {
  const tls = await makeCertificates();
  const users = ['user default off', 'user reeve on >s3cret ~* &* +@all'];
  const server = await startServer({
    product: 'redis',
    clusterEnabled: false,
    users,
    username: 'reeve',
    password: 's3cret',
    tls,
  });
  t.after(() => server.stop());
  const { signal } = new AbortController();
  const access = { username: 'reeve', password: 's3cret', tls: { ca: tls.ca, cert: tls.cert, key: tls.key } };
  const read = async (options: Parameters<typeof snapshotSource>[0], endpoint = server.endpoint) => {
    const items: SnapshotItem[] = [];
    for await (const item of walkSnapshot(snapshotSource(options).snapshot(endpoint, signal))) items.push(item);
    return items;
  };
  assert.equal((await read(access))[0]?.item, 'header');
  await assert.rejects(read({ ...access, password: 'wr0ng' }), (error: Error & { readonly code?: string }) => {
    assert.equal(error.code, 'REDIS_AUTH');
    assert.doesNotMatch(error.message, /wr0ng/);
    return true;
  });
  await assert.rejects(read({ ...access, tls: { ca: tls.cert } }), { code: 'REDIS_TLS' });
  await server.stop();
  await assert.rejects(read(access), { code: 'REDIS_UNREACHABLE' });
});
