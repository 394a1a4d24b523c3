import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cassandra } from '../catalog/cassandra.ts';
import { elassandra } from '../catalog/elassandra.ts';
import { postgres } from '../catalog/postgres.ts';
import { redis, valkey } from '../catalog/redis-like.ts';
import { placeData } from './data-place.ts';

const at = (...paths: readonly string[]) => ({
  name: 'main',
  volumeMounts: paths.map((mountPath, index) => ({ name: `v${index}`, mountPath })),
});

test('a volume at the usual place of an image is where its program keeps its data', () => {
  for (const { data } of [valkey, redis]) {
    assert.deepEqual(placeData(data, at('/conf', '/data')), { workingDir: '/data', env: {} });
    assert.deepEqual(placeData(data, at('/data/')), { workingDir: '/data', env: {} });
  }
  for (const { data } of [cassandra, elassandra]) {
    const env = { CASSANDRA_DATA: '/var/lib/cassandra' };
    assert.deepEqual(placeData(data, at('/var/lib/cassandra')), { workingDir: undefined, env });
  }
  const usual = '/var/lib/postgresql/data';
  assert.deepEqual(placeData(postgres.data, at(usual)), { workingDir: undefined, env: { PGDATA: usual } });
});

test('without a volume there, and beside it, nothing is said', () => {
  const nothing = { workingDir: undefined, env: {} };
  for (const mounts of [at(), at('/srv/data', '/data/in', '/database', '/')])
    assert.deepEqual(placeData(valkey.data, mounts), nothing);
  assert.deepEqual(placeData(cassandra.data, at('/var/lib')), nothing);
  assert.deepEqual(placeData(undefined, at('/data')), nothing);
});
