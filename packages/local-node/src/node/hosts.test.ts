import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podOf } from '../pod/pod-testing.ts';
import { hostsText } from './hosts.ts';
import { nameLines } from './names.ts';

const slice = (
  namespace: string,
  service: string,
  endpoints: Parameters<typeof nameLines>[0][number]['endpoints'],
) => ({
  metadata: { name: `${service}-x`, namespace, labels: { 'kubernetes.io/service-name': service } },
  ...(endpoints && { endpoints }),
});

test('services and their pods have names, shorter ones at home', () => {
  const slices = [
    slice('default', 'redis', [
      { addresses: ['127.1.0.2'], hostname: 'redis-1' },
      { addresses: ['127.1.0.1'], hostname: 'redis-0' },
      { addresses: ['127.1.0.9'], hostname: 'redis-9', conditions: { ready: false } },
    ]),
    slice('other', 'web', [{ addresses: ['127.1.0.5'] }]),
  ];
  const long = 'redis.default.svc.cluster.local redis.default.svc redis.default';
  const own = (name: string) =>
    `${name}.redis.default.svc.cluster.local ${name}.redis.default.svc ${name}.redis.default`;
  assert.deepEqual(nameLines(slices, 'default'), [
    `127.1.0.1\t${own('redis-0')} redis-0.redis ${long} redis`,
    `127.1.0.2\t${own('redis-1')} redis-1.redis ${long} redis`,
    '127.1.0.5\tweb.other.svc.cluster.local web.other.svc web.other',
  ]);
  assert.ok(nameLines(slices, 'other')[0]?.endsWith('redis.default'));
  assert.deepEqual(nameLines([...slices].reverse(), 'default'), nameLines(slices, 'default'));
});

test('a pod knows itself by name', () => {
  const text = hostsText(podOf({ hostname: 'redis-0', subdomain: 'redis' }), '127.1.0.1', ['127.1.0.2\tb']);
  assert.ok(text.includes('\n127.1.0.1\tredis-0.redis.default.svc.cluster.local redis-0\n127.1.0.2\tb\n'), text);
});

test('aliases of the pod come before names of services', () => {
  const hostAliases = [{ ip: '10.1.2.3', hostnames: ['old.example.com', 'b'] }];
  const text = hostsText(podOf({ hostAliases }), '127.1.0.1', ['127.1.0.2\tb']);
  assert.ok(text.includes('\n10.1.2.3\told.example.com b\n127.1.0.2\tb\n'), text);
});
