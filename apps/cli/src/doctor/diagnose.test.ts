import assert from 'node:assert/strict';
import { test } from 'node:test';
import { styleFor } from '../output/style.ts';
import { diagnose, type MachineFacts } from './diagnose.ts';
import { findingsText } from './doctor.ts';

const good: MachineFacts = {
  platform: 'linux',
  nodeVersion: '24.21.0',
  isRoot: false,
  drivers: [
    { name: 'bwrap', works: true, note: '' },
    { name: 'unshare', works: false, note: 'exit code 1: no' },
    { name: 'plain', works: true, note: '' },
  ],
  sandboxRemedy: 'install bubblewrap',
  userNamespaces: { most: '1000', allowed: undefined, restricted: undefined },
  port: { number: 6443, state: 'free' },
  hasLoopback: true,
  data: { path: '/d', state: 'none', note: '', freeBytes: 1024 ** 3 },
  shell: '/bin/sh',
  images: [
    { name: 'valkey', availability: { state: 'installed', path: '/bin/valkey-server', version: '9.1.2' }, others: [] },
    {
      name: 'redis',
      availability: { state: 'fetchable', version: '7.0.15', from: 'Debian', bytes: 1_500_000 },
      others: ['8.0.2'],
    },
    { name: 'elassandra', availability: { state: 'missing', why: 'it needs Java 8' }, others: [] },
  ],
};

const states = (facts: Partial<MachineFacts>): Readonly<Record<string, string>> =>
  Object.fromEntries(diagnose({ ...good, ...facts }).map(({ check, state }) => [check, state]));

test('a good machine lacks nothing that is needed; what only some pods need is advice', () => {
  assert.deepEqual(states({}), {
    system: 'ok',
    node: 'ok',
    drivers: 'ok',
    'user namespaces': 'ok',
    addresses: 'ok',
    port: 'ok',
    'data folder': 'ok',
    disk: 'ok',
    sh: 'ok',
    'image valkey': 'ok',
    'image redis': 'ok',
    'image elassandra': 'advice',
  });
});

test('each thing that is needed is missed by itself', () => {
  const data = good.data;
  const cases: readonly [Partial<MachineFacts>, string][] = [
    [{ platform: 'darwin' }, 'system'],
    [{ nodeVersion: '22.1.0' }, 'node'],
    [{ hasLoopback: false }, 'addresses'],
    [{ port: { number: 1, state: 'in use' } }, 'port'],
    [{ port: { number: 80, state: 'denied' } }, 'port'],
    [{ data: { ...data, state: 'unusable', note: 'newer' } }, 'data folder'],
    [{ data: { ...data, freeBytes: 1 } }, 'disk'],
    [{ shell: undefined }, 'sh'],
  ];
  for (const [facts, check] of cases) {
    const missing = Object.entries(states(facts)).filter(([, state]) => state === 'missing');
    assert.deepEqual(missing, [[check, 'missing']]);
  }
});

test('a port that this user may not use is not told to be in use', () => {
  const port = diagnose({ ...good, port: { number: 80, state: 'denied' } }).find(({ check }) => check === 'port');
  assert.match(port?.detail ?? '', /^this user may not listen on 80/);
  assert.match(port?.remedy ?? '', /1024 or more/);
});

test('without a sandbox pods still run, so that it is advice, with its remedy', () => {
  const plain = [{ name: 'plain', works: true, note: '' }] as const;
  const closed = { most: '0', allowed: undefined, restricted: '1' };
  const found = diagnose({ ...good, drivers: plain, userNamespaces: closed });
  for (const check of ['drivers', 'user namespaces']) {
    const finding = found.find((one) => one.check === check);
    assert.equal(finding?.state, 'advice');
    assert.match(finding?.remedy ?? '', /install bubblewrap/);
  }
  assert.equal(states({ userNamespaces: closed })['user namespaces'], 'ok', 'a driver works all the same');
});

test('the report has a line for each, the remedy below, and a verdict', () => {
  const text = findingsText(diagnose({ ...good, shell: undefined }), styleFor(false, {}));
  assert.match(text, /^ok {7}system +linux\n/);
  assert.match(text, /missing {2}sh +not on PATH\n +→ every container/);
  assert.match(text, /image redis +7\.0\.15, fetched when it is needed: Debian, 1\.5 MB; by tag also 8\.0\.2\n/);
  assert.match(text, /image valkey +9\.1\.2 on PATH: \/bin\/valkey-server\n/);
  assert.match(text, /1 thing that is needed is missing\.\n$/);
  const two = findingsText(diagnose({ ...good, shell: undefined, hasLoopback: false }), styleFor(false, {}));
  assert.match(two, /2 things that are needed are missing\.\n$/);
});
