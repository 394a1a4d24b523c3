import assert from 'node:assert/strict';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { AccessControl, ApiServer, memoryJournal, type SigningKey, signingKey, Store } from '@reeve/embedded';
import { readBody, systemKubePorts, type TransportRequest } from '@reeve/kube';
import { BACKUP_PATH, DOWN_PATH, METRICS_PATH, withOwnPaths } from './own-paths.ts';

async function open(t: TestContext) {
  const { clock, random } = systemKubePorts();
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const key = signingKey(createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' }))) as SigningKey;
  const tokens = [
    { token: 'token-of-root', user: { name: 'root', groups: ['system:masters'] } },
    { token: 'token-of-ann', user: { name: 'ann', groups: [] } },
  ];
  const store = await Store.open({ journal: memoryJournal(), clock });
  const access = new AccessControl({ store, clock, random, keys: [key], tokens });
  const server = await ApiServer.open({ store, clock, random, access });
  await access.install(server.transport());
  t.after(async () => {
    server.close();
    access[Symbol.dispose]();
    await store.close();
  });
  let downs = 0;
  const handle = withOwnPaths((request) => server.handle(request), {
    down: () => void downs++,
    backup: async function* () {
      yield Buffer.from('all of it');
    },
    metrics: () => 'findings 1\n',
  });
  const ask = async (method: TransportRequest['method'], path: string, who?: string, more: object = {}) => {
    const headers = { ...(who !== undefined && { authorization: `Bearer token-of-${who}` }), ...more };
    const { status, body } = await handle({ method, path, headers });
    return { status, text: (await readBody(body, 1 << 20)).toString() };
  };
  return { ask, downs: () => downs };
}

test('only who may is heard, and what was asked for is done once for each time', async (t) => {
  const { ask, downs } = await open(t);
  assert.equal((await ask('POST', DOWN_PATH)).status, 401);
  const ann = await ask('POST', DOWN_PATH, 'ann');
  assert.equal(ann.status, 403);
  assert.match(ann.text, /no right to post \/reeve\/down/);
  assert.equal((await ask('POST', DOWN_PATH, 'root', { 'impersonate-user': ['ann'] })).status, 403, 'as somebody else');
  assert.equal(downs(), 0);
  assert.equal((await ask('POST', DOWN_PATH, 'root')).status, 202);
  assert.equal(downs(), 1);
  assert.equal((await ask('GET', BACKUP_PATH, 'ann')).status, 403);
  assert.deepEqual(await ask('GET', `${BACKUP_PATH}?x=y`, 'root'), { status: 200, text: 'all of it' });
  assert.equal((await ask('GET', METRICS_PATH, 'ann')).status, 403);
  assert.deepEqual(await ask('GET', METRICS_PATH, 'root'), { status: 200, text: 'findings 1\n' });
});

test('other paths and other verbs are the server’s', async (t) => {
  const { ask, downs } = await open(t);
  assert.equal((await ask('GET', '/version', 'root')).status, 200);
  assert.equal((await ask('GET', DOWN_PATH, 'root')).status, 404);
  assert.equal((await ask('GET', '/reeve/other', 'root')).status, 404);
  assert.equal(downs(), 0);
});
