import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessDigest } from './tls.ts';

test('whatever lets us in makes another connection, and the name of it tells nothing', () => {
  const tls = { ca: 'ca', cert: 'cert', key: 'key', servername: 'name' };
  const ways = [
    {},
    { password: 'secret' },
    { username: 'reeve', password: 'secret' },
    { username: 'reeve', password: 'secret', tls },
    { username: 'reeve', password: 'secret', tls: { ...tls, cert: 'other' } },
    { username: 'reeve', password: 'secret', tls: { ...tls, key: 'other' } },
  ];
  const names = ways.map((way) => accessDigest(way));
  assert.equal(new Set(names).size, ways.length);
  assert.deepEqual(
    names,
    ways.map((way) => accessDigest(way)),
  );
  for (const name of names) assert.doesNotMatch(name, /secret|reeve/);
});
