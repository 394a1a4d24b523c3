import assert from 'node:assert/strict';
import { createHmac, createPrivateKey, sign } from 'node:crypto';
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../object/draft.ts';
import { newKey, openAccess } from './access-testing.ts';
import { MOST_TOKEN, signingKey, signToken, verifyToken } from './jwt.ts';
import { openSigningKey, openTokensFile, readTokensFile } from './secret-file.ts';
import { parseTokens } from './static-tokens.ts';

const key = newKey();
const rsa = newKey('rsa');
const other = newKey();
const claims: JsonObject = { iss: 'us', sub: 'x' };
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const good = signToken(key, claims);
const [head = '', body = '', signature = ''] = good.split('.');
/** A good signature of our key, on a header of somebody's choice. */
const forged = (header: object): string => {
  const text = `${part(header)}.${body}`;
  const made = sign('sha256', Buffer.from(text), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${text}.${made.toString('base64url')}`;
};
const publicText = key.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const hmac = `${part({ alg: 'HS256', kid: key.id })}.${body}`;

const hostile: Readonly<Record<string, readonly [string, 'foreign' | 'refused']>> = {
  'no algorithm': [`${part({ alg: 'none' })}.${body}.`, 'refused'],
  'no algorithm, with a signature': [`${part({ alg: 'none', kid: key.id })}.${body}.${signature}`, 'refused'],
  'the public key as a secret': [
    `${hmac}.${createHmac('sha256', publicText).update(hmac).digest('base64url')}`,
    'refused',
  ],
  'another algorithm in the header': [forged({ alg: 'RS256', kid: key.id }), 'refused'],
  'no algorithm at all': [forged({ kid: key.id }), 'refused'],
  'another key': [signToken(other, claims), 'refused'],
  'another key under our name': [signToken({ ...other, id: key.id }, claims), 'refused'],
  'another issuer': [signToken(key, { ...claims, iss: 'them' }), 'foreign'],
  'no issuer': [signToken(key, { sub: 'x' }), 'foreign'],
  'another body': [`${head}.${part({ ...claims, sub: 'root' })}.${signature}`, 'refused'],
  'an empty signature': [`${head}.${body}.`, 'refused'],
  'a signature of zeroes': [`${head}.${body}.${Buffer.alloc(64).toString('base64url')}`, 'refused'],
  'two parts': [`${head}.${body}`, 'foreign'],
  'four parts': [`${good}.x`, 'foreign'],
  'a padded part': [`${head}.${body}.${signature}=`, 'foreign'],
  'a part with a line break': [`${head}.${body}\n.${signature}`, 'foreign'],
  'plain base64': [`${head}.${body}.${signature.replaceAll('_', '/')}/`, 'foreign'],
  'what is no JSON': [`${head}.${Buffer.from('{"iss":').toString('base64url')}.${signature}`, 'foreign'],
  'a list': [`${head}.${part([claims])}.${signature}`, 'foreign'],
  null: [`${part(null)}.${body}.${signature}`, 'foreign'],
  'something that must be understood': [forged({ alg: 'ES256', kid: key.id, crit: ['x'] }), 'refused'],
  'a huge one': [`${head}.${'A'.repeat(MOST_TOKEN)}.${signature}`, 'foreign'],
  nothing: ['', 'foreign'],
  dots: ['..', 'foreign'],
};

for (const [name, [token, type]] of Object.entries(hostile)) {
  test(`a token is not believed: ${name}`, () => assert.equal(verifyToken([key], 'us', token).type, type));
}

test('a header that says no more than needed is believed', () => {
  assert.equal(verifyToken([key], 'us', forged({ alg: 'ES256' })).type, 'claims');
});

test('tokens of all our keys are believed, of both kinds', () => {
  for (const one of [key, rsa]) {
    assert.deepEqual(verifyToken([key, rsa], 'us', signToken(one, claims)), { type: 'claims', claims });
  }
  // Without the name of a key, all are tried.
  const nameless = signToken({ ...rsa, id: '' }, claims);
  assert.equal(verifyToken([key, rsa], 'us', nameless).type, 'claims');
});

const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
const pod = (nodeName?: string) => ({
  metadata: { name: 'p' },
  spec: { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }], ...(nodeName ? { nodeName } : {}) },
});

async function world() {
  const opened = await openAccess();
  const { as } = opened;
  await as('root', 'POST', ACCOUNTS, { metadata: { name: 'robot' } });
  const ask = (spec: object = {}) => as('root', 'POST', `${ACCOUNTS}/robot/token`, { spec });
  const tokenFor = async (spec: object = {}): Promise<string> => (await ask(spec)).json.status.token ?? '';
  const seen = async (token: string) => (await opened.send(token, 'GET', '/version')).status;
  return { ...opened, ask, tokenFor, seen };
}

test('a token of an account: who it is, and how long', async () => {
  const { tokenFor, whoami, seen, clock } = await world();
  const token = await tokenFor({ expirationSeconds: 600 });
  const { name, groups, extra } = await whoami(token);
  assert.equal(name, 'system:serviceaccount:default:robot');
  assert.deepEqual(groups, ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated']);
  assert.deepEqual(Object.keys(extra ?? {}), ['authentication.kubernetes.io/credential-id']);
  await clock.advance(659_000);
  assert.equal(await seen(token), 200);
  await clock.advance(2_000);
  assert.equal(await seen(token), 401);
});

test('a token for others is not for us', async () => {
  const { tokenFor, seen, as } = await world();
  const token = await tokenFor({ audiences: ['vault'] });
  assert.equal(await seen(token), 401);
  const review = (audiences?: readonly string[]) =>
    as('root', 'POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
      spec: { token, ...(audiences && { audiences }) },
    });
  assert.equal((await review(['vault', 'x'])).json.status.authenticated, true);
  const { status } = (await review()).json;
  assert.equal(status.authenticated, undefined);
  assert.match(
    status.error ?? '',
    /^\[invalid bearer token, token audiences \["vault"\] is invalid for the target audiences \["https:/,
  );
});

for (const [kind, create, path] of [
  ['Pod', pod(), '/api/v1/namespaces/default/pods'],
  ['Secret', { metadata: { name: 'p' } }, '/api/v1/namespaces/default/secrets'],
  ['Node', { metadata: { name: 'p' } }, '/api/v1/nodes'],
] as const) {
  test(`a token bound to a ${kind} goes with it, and does not come back with another of its name`, async () => {
    const { as, tokenFor, seen } = await world();
    await as('root', 'POST', path, create);
    const token = await tokenFor({ boundObjectRef: { apiVersion: 'v1', kind, name: 'p' } });
    assert.equal(await seen(token), 200);
    await as('root', 'DELETE', `${path}/p?gracePeriodSeconds=0`);
    assert.equal(await seen(token), 401);
    await as('root', 'POST', path, create);
    assert.equal(await seen(token), 401);
  });
}

test('a token goes with its account', async () => {
  const { as, tokenFor, seen } = await world();
  const token = await tokenFor();
  await as('root', 'DELETE', `${ACCOUNTS}/robot`);
  assert.equal(await seen(token), 401);
  await as('root', 'POST', ACCOUNTS, { metadata: { name: 'robot' } });
  assert.equal(await seen(token), 401);
});

test('a token of a pod says which pod and which node', async () => {
  const { as, tokenFor, whoami } = await world();
  const node = await as('root', 'POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
  const made = await as('root', 'POST', '/api/v1/namespaces/default/pods', pod('n1'));
  const token = await tokenFor({ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' } });
  const { extra = {} } = await whoami(token);
  const { 'authentication.kubernetes.io/credential-id': id, ...rest } = extra;
  assert.match(id?.[0] ?? '', /^JTI=[0-9a-f-]{36}$/);
  assert.deepEqual(rest, {
    'authentication.kubernetes.io/node-name': ['n1'],
    'authentication.kubernetes.io/node-uid': [node.json.metadata.uid],
    'authentication.kubernetes.io/pod-name': ['p'],
    'authentication.kubernetes.io/pod-uid': [made.json.metadata.uid],
  });
});

const badRequests: readonly (readonly [object, number, RegExp])[] = [
  [{ expirationSeconds: 599 }, 422, /may not specify a duration less than 10 minutes/],
  [{ expirationSeconds: 2 ** 33 }, 422, /larger than 2\^32 seconds/],
  [{ expirationSeconds: 'x' }, 400, /expirationSeconds/],
  [{ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'none' } }, 404, /^pods "none" not found$/],
  [
    { boundObjectRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'x' } },
    400,
    /cannot bind token to object of type \/v1, Kind=ConfigMap/,
  ],
  [{ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'o' } }, 400, /different serviceaccount name/],
  [{ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' } }, 409, /does not match the UID in record/],
];

test('what no token is given for', async () => {
  const { as, ask } = await world();
  await as('root', 'POST', '/api/v1/namespaces/default/pods', pod());
  const others = { ...pod(), metadata: { name: 'o' }, spec: { ...pod().spec, serviceAccountName: 'default' } };
  await as('root', 'POST', '/api/v1/namespaces/default/pods', others);
  for (const [spec, status, message] of badRequests) {
    const { json, status: code } = await ask(spec);
    assert.equal(code, status, JSON.stringify(spec));
    assert.match(json.message ?? '', message);
  }
  assert.equal((await as('root', 'POST', `${ACCOUNTS}/none/token`, {})).status, 404);
  assert.equal((await as('ann', 'POST', `${ACCOUNTS}/robot/token`, {})).status, 403);
  assert.equal((await as('root', 'GET', `${ACCOUNTS}/robot/token`)).status, 405);
});

test('headers that are no credentials', async () => {
  const { server, send } = await openAccess();
  const seen = async (authorization: string) =>
    (await server.handle({ method: 'GET', path: '/version', headers: { authorization } })).status;
  assert.equal(await seen('Bearer static-token-of-root'), 200);
  assert.equal(await seen('bearer  static-token-of-root'), 200);
  for (const header of [
    'static-token-of-root',
    'Basic static-token-of-root',
    'Bearer',
    'Bearer ',
    'Bearer static-token-of-root x',
  ]) {
    assert.equal(await seen(header), 401, header);
  }
  assert.equal(await seen(`Bearer ${'x'.repeat(60_000)}`), 401);
  assert.equal((await send('', 'GET', '/version')).status, 401);
});

test('nobody is somebody only where it is allowed, and a wrong token is not nobody', async () => {
  const { send } = await openAccess({ anonymous: true });
  assert.equal((await send('', 'GET', '/version')).status, 200);
  const { status, json } = await send('', 'GET', '/apis');
  assert.deepEqual([status, json.message], [403, 'forbidden: User "system:anonymous" cannot get path "/apis"']);
  assert.equal((await send('wrong-token-wrong-token', 'GET', '/version')).status, 401);
});

const lists: readonly (readonly [string, object | RegExp])[] = [
  [
    '0123456789abcdef,ann,u1,"a,b"\n\n# no\nfedcba9876543210,bob\n',
    [
      { token: '0123456789abcdef', user: { name: 'ann', uid: 'u1', groups: ['a', 'b'] } },
      { token: 'fedcba9876543210', user: { name: 'bob', groups: [] } },
    ],
  ],
  ['short,ann', /at least 16 characters in line 1/],
  ['0123456789abcdef', /names no user in line 1/],
  ['0123456789abcdef,a\n0123456789abcdef,b', /twice, again in line 2/],
  ['0123456789abcdef,ann,,"a', /not closed in line 1/],
];

test('lists of tokens', () => {
  for (const [text, expected] of lists) {
    const { tokens, problem = '' } = parseTokens(text);
    if (expected instanceof RegExp) assert.match(problem, expected);
    else assert.deepEqual(tokens, expected);
  }
});

test('files with secrets are for their owner alone; a key is made once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-access-'));
  try {
    const path = join(folder, 'key');
    const [one, two] = await Promise.all([openSigningKey(path), openSigningKey(path)]);
    assert.equal(one.id, two.id);
    assert.equal((await openSigningKey(path)).id, one.id);
    assert.deepEqual(await readdir(folder), ['key'], 'nothing is left of the making');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    await chmod(path, 0o640);
    await assert.rejects(openSigningKey(path), { code: 'EMBEDDED_KEY_FILE', message: /must be 0600/ });
    const wrong = join(folder, 'wrong');
    await writeFile(wrong, 'no key, but a secret', { mode: 0o600 });
    await assert.rejects(openSigningKey(wrong), (error: Error) => !/secret/.test(error.message));
    await assert.rejects(readTokensFile(join(folder, 'none')), { code: 'EMBEDDED_TOKEN_FILE' });
    const made = join(folder, 'made');
    // What a process that died in the middle of it left.
    await writeFile(`${made}.new`, 'half', { mode: 0o600 });
    const [token] = await openTokensFile(made, { name: 'root', groups: ['system:masters', 'x'] });
    assert.deepEqual(token.user, { name: 'root', uid: 'root', groups: ['system:masters', 'x'] });
    assert.equal((await stat(made)).mode & 0o777, 0o600);
    assert.deepEqual(await openTokensFile(made, { name: 'other', groups: [] }), [token], 'once');
    await writeFile(made, '');
    await assert.rejects(openTokensFile(made, { name: 'root', groups: [] }), { message: /holds no token/ });
    await assert.rejects(readTokensFile(wrong), { code: 'EMBEDDED_TOKEN_FILE', message: /in line 1/ });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a key must be strong enough', () => {
  const publicOnly = createPrivateKey(key.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  assert.equal(signingKey(publicOnly)?.algorithm, 'ES256');
  assert.equal(signingKey(key.publicKey), undefined);
});
