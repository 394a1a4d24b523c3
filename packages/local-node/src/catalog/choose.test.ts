import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogEntries } from './entries.ts';
import { choose, type Findings, otherVersions } from './choose.ts';
import { type Entry, toolsOf } from './entry.ts';
import { compareVersions, fits, parseReference } from './reference.ts';
import { server } from './machine-testing.ts';

const nothing: Findings = { installed: [], cached: [], missing: [], needed: {}, arch: 'x64' };
const [only] = server.fetchable;
assert.ok(only);
const pip = toolsOf(only)[0]?.name ?? '';

test('references', () => {
  assert.deepEqual(parseReference('valkey'), { name: 'valkey', wanted: undefined });
  assert.deepEqual(parseReference('valkey:latest'), { name: 'valkey', wanted: undefined });
  assert.deepEqual(parseReference('valkey:9.1'), { name: 'valkey', wanted: '9.1' });
  assert.ok('problem' in parseReference('valkey:9.1-alpine'));
  assert.ok('problem' in parseReference('valkey:'));
  assert.ok('problem' in parseReference('valkey:9.1@sha256:00'));
});

test('a version fits if it begins with the numbers that are wanted', () => {
  assert.ok(fits('9.1.2', undefined));
  assert.ok(fits('9.1.2', '9'));
  assert.ok(fits('9.1.2', '9.1.2'));
  assert.ok(fits('9.1', '09'));
  assert.ok(!fits('9.10.2', '9.1'));
  assert.ok(!fits('9.1', '9.1.0'));
  assert.ok(compareVersions('9.10', '9.9') > 0);
  assert.ok(compareVersions('17', '17.0.0') === 0);
});

test('PATH, then the cache, then what can be fetched', () => {
  const installed = [
    { path: '/a/server', version: undefined },
    { path: '/b/server', version: '2.1.0' },
    { path: '/c/server', version: '2.1.5' },
  ];
  const cached = ['2.1.0'];
  assert.deepEqual(choose(server, '2.1', { ...nothing, installed, cached }), {
    type: 'installed',
    path: '/b/server',
    version: '2.1.0',
  });
  assert.deepEqual(choose(server, '2.1', { ...nothing, cached }), { type: 'cached', fetchable: only });
  assert.deepEqual(choose(server, '2.1', nothing), { type: 'fetch', fetchable: only });
  // What was fetched before needs no tool any more.
  assert.equal(choose(server, '2.1', { ...nothing, cached, missing: [pip] }).type, 'cached');
  assert.equal(choose(server, '2.1', { ...nothing, missing: [pip] }).type, 'none');
  assert.equal(choose(server, '2.1', { ...nothing, arch: 'arm64' }).type, 'none');
});

test('a name stands for the same version whatever others have fetched; others are had by their tags', () => {
  const older = { ...only, version: '2.0.9' };
  const two: Entry = { ...server, fetchable: [only, older] };
  const findings = { ...nothing, cached: ['2.0.9'] };
  assert.deepEqual(choose(two, undefined, findings), { type: 'fetch', fetchable: only });
  assert.deepEqual(choose(two, '2', findings), { type: 'fetch', fetchable: only });
  assert.deepEqual(choose(two, '2.0', findings), { type: 'cached', fetchable: older });
  assert.deepEqual(choose(two, undefined, { ...findings, missing: [pip] }), { type: 'cached', fetchable: older });
  assert.deepEqual(otherVersions(two, nothing), ['2.0.9']);
  assert.deepEqual(otherVersions(two, { ...nothing, missing: [pip] }), [], 'only what can be had');
  const installed = [{ path: '/a/server', version: '2.0.9' }];
  assert.deepEqual(otherVersions(two, { ...nothing, installed }), ['2.1.0']);
});

test('the versions of Valkey and Redis: the best first, one for each tag', () => {
  const versions = (entry: Entry | undefined, arch: string) =>
    entry?.fetchable.filter((one) => one.arch === arch).map(({ version }) => version);
  const [valkey, redis] = catalogEntries;
  assert.deepEqual(versions(valkey, 'x64'), ['9.1.2', '9.0.0', '8.1.1', '8.0.1']);
  assert.deepEqual(versions(valkey, 'arm64'), ['8.1.1', '8.0.1']);
  assert.deepEqual(versions(redis, 'x64'), ['7.0.15', '8.0.2']);
  assert.deepEqual(versions(redis, 'arm64'), ['7.0.15', '8.0.2']);
});

test('a program that brings its own C library is loaded by it', () => {
  const [, redis] = catalogEntries;
  const newer = redis?.fetchable.find(({ version, arch }) => version === '8.0.2' && arch === 'x64');
  const libraries = '/f/root/usr/lib/x86_64-linux-gnu';
  assert.deepEqual(newer?.launch('/f').argv, [
    `${libraries}/ld-linux-x86-64.so.2`,
    '--library-path',
    libraries,
    '/f/root/usr/bin/redis-server',
  ]);
});

test('what a program needs besides itself is looked at, too', () => {
  const needs = { program: 'java', args: [], version: /x/, atLeast: '17' };
  const entry: Entry = { ...server, installed: undefined, fetchable: [{ ...only, needs }] };
  const withJava = (version: string | undefined): Findings => ({
    ...nothing,
    cached: ['2.1.0'],
    needed: { java: [{ path: '/usr/bin/java', version }] },
  });
  assert.equal(choose(entry, undefined, withJava('17.0.15')).type, 'cached');
  const old = choose(entry, undefined, withJava('11.0.2'));
  assert.ok(old.type === 'none');
  assert.match(old.why, /needs java 17 or newer, which on PATH is 11\.0\.2/);
  const without = choose(entry, undefined, { ...nothing, cached: ['2.1.0'] });
  assert.ok(without.type === 'none');
  assert.match(without.why, /needs java 17 or newer, which is not on PATH/);
});

test('every entry says its address to its program, and names what it is', () => {
  assert.deepEqual(
    catalogEntries.map(({ name }) => name),
    ['valkey', 'redis', 'cassandra', 'elassandra', 'postgres'],
  );
  for (const { name, tell } of catalogEntries) {
    const told = tell('127.9.8.7');
    assert.ok(
      [...told.args, ...Object.values(told.env)].some((word) => word.includes('127.9.8.7')),
      name,
    );
  }
  const [valkey] = catalogEntries;
  assert.deepEqual(
    valkey?.tell('127.9.8.7').args.filter((word) => word.startsWith('--')),
    ['--bind', '--bind-source-addr', '--cluster-announce-ip', '--replica-announce-ip'],
  );
});
