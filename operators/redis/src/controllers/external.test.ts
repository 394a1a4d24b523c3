import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RedisClusterSpec } from '../api/cluster.ts';
import type { RedisClusterObject } from '../api/kinds.ts';
import { externalAccess } from './external.ts';
import { accessDigest } from './tls.ts';

type Texts = Readonly<Record<string, string>>;

function accessWith(access: RedisClusterSpec['access'], secrets: Readonly<Record<string, Texts>> = {}) {
  const find = async (name: string) => {
    const texts = secrets[name];
    const data = Object.entries(texts ?? {}).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
    return texts && { metadata: { name }, data: Object.fromEntries(data) as Texts };
  };
  const spec = { members: 'external', primaries: 3, ...(access && { access }) };
  const object = { metadata: { name: 'c', namespace: 'ns' }, spec } as unknown as RedisClusterObject;
  return externalAccess({ object, api: { resource: () => ({ find }) } as never, signal: new AbortController().signal });
}

const passwordSecret = { name: 'access', key: 'password' };
const PASSWORD = { access: { password: 'secret' } };

test('servers are asked with what the secrets have now: password, whom to trust, a certificate of one’s own, a name', async () => {
  assert.deepEqual(await accessWith(undefined), { options: {}, waitingFor: [] });
  const named = await accessWith({ username: 'reeve', passwordSecret }, PASSWORD);
  assert.deepEqual(named.options, { username: 'reeve', password: 'secret' });
  const trusted = await accessWith({ tls: { secretName: 'tls' } }, { tls: { 'ca.crt': 'CA' } });
  assert.deepEqual(trusted.options, { tls: { ca: 'CA' } });
  const all = { 'ca.crt': 'CA', 'tls.crt': 'CERT', 'tls.key': 'KEY' };
  const own = await accessWith(
    { passwordSecret, tls: { secretName: 'tls', serverName: 'cache.example' } },
    { ...PASSWORD, tls: all },
  );
  assert.deepEqual(own.options, {
    password: 'secret',
    tls: { ca: 'CA', cert: 'CERT', key: 'KEY', servername: 'cache.example' },
  });
});

test('what is renewed in the secret is another access: connections are made anew', async () => {
  const digestOf = async (texts: Texts) => {
    const { options } = await accessWith({ tls: { secretName: 'tls' } }, { tls: texts });
    assert.ok(options);
    return accessDigest(options);
  };
  const before = await digestOf({ 'ca.crt': 'CA', 'tls.crt': 'CERT', 'tls.key': 'KEY' });
  assert.equal(await digestOf({ 'ca.crt': 'CA', 'tls.crt': 'CERT', 'tls.key': 'KEY' }), before);
  assert.notEqual(await digestOf({ 'ca.crt': 'CA', 'tls.crt': 'NEW', 'tls.key': 'NEW KEY' }), before);
  assert.notEqual(await digestOf({ 'ca.crt': 'CA OTHER', 'tls.crt': 'CERT', 'tls.key': 'KEY' }), before);
});

test('while something of what was promised is missing nobody is asked, least of all in clear', async () => {
  const cases: readonly (readonly [Texts | undefined, RegExp])[] = [
    [undefined, /^spec\.access: secret tls has no ca\.crt$/],
    [{ 'tls.crt': 'CERT', 'tls.key': 'KEY' }, /has no ca\.crt$/],
    [{ 'ca.crt': 'CA', 'tls.crt': 'CERT' }, /has one of tls\.crt and tls\.key/],
    [{ 'ca.crt': 'CA', 'tls.key': 'KEY' }, /has one of tls\.crt and tls\.key/],
  ];
  for (const [texts, message] of cases) {
    const secrets = { ...PASSWORD, ...(texts && { tls: texts }) };
    const { options, waitingFor } = await accessWith({ passwordSecret, tls: { secretName: 'tls' } }, secrets);
    assert.equal(options, undefined);
    assert.deepEqual([waitingFor[0]?.reason, waitingFor[0]?.subjects], ['AccessSecret', ['tls']]);
    assert.match(waitingFor[0]?.message ?? '', message);
  }
  const { options, waitingFor } = await accessWith({ passwordSecret }, {});
  assert.deepEqual([options, waitingFor[0]?.subjects], [undefined, ['access']]);
});
