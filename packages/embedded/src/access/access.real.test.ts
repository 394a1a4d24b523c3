import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { test, type TestContext } from 'node:test';
import { certificate, privateKey } from '../server/certificate-testing.ts';
import { listen, type ListenOptions } from '../server/http.ts';
import { openAccess, tokenOf } from './access-testing.ts';
import { annCertificate, annKey, selfMade } from './certificate-testing.ts';

const WHO = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const JSON_TYPE = { 'content-type': 'application/json' };

async function serve(t: TestContext, options: Partial<ListenOptions> = {}) {
  const { server } = await openAccess();
  const listener = await listen({ handle: (request, peer) => server.handle(request, peer), ...options });
  t.after(async () => {
    server.close();
    await listener.close();
  });
  return listener.url;
}

interface Seen {
  readonly code?: number;
  readonly status?: { readonly userInfo?: { readonly username: string; readonly groups: readonly string[] } };
}

function ask(
  request: typeof httpRequest | typeof httpsRequest,
  url: URL,
  headers: Record<string, string | string[]>,
  tls = {},
): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const call = request(new URL(WHO, url), {
      method: 'POST',
      headers: { ...JSON_TYPE, ...headers },
      agent: false,
      ...tls,
    });
    call.on('error', reject);
    call.on('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () => resolve(JSON.parse(text) as Seen));
    });
    call.end('{}');
  });
}

test('groups that are sent one by one stay as they are, commas and all', async (t) => {
  const url = await serve(t);
  const seen = await ask(httpRequest, url, {
    authorization: `Bearer ${tokenOf('root')}`,
    'Impersonate-User': 'bob',
    'Impersonate-Group': ['a', 'b, c'],
  });
  assert.deepEqual(seen.status?.userInfo, { username: 'bob', groups: ['a', 'b, c', 'system:authenticated'] });
});

test('a certificate says who its client is, if our authority signed it', async (t) => {
  const url = await serve(t, { tls: { cert: certificate, key: privateKey, clientCa: certificate } });
  const ann = { username: 'ann', groups: ['devs', 'ops', 'system:authenticated'] };
  const mine = await ask(httpsRequest, url, {}, { ca: certificate, cert: annCertificate, key: annKey });
  assert.deepEqual(mine.status?.userInfo, ann);
  const made = await ask(httpsRequest, url, {}, { ca: certificate, cert: selfMade, key: annKey });
  assert.equal(made.code, 401);
  assert.equal((await ask(httpsRequest, url, {}, { ca: certificate })).code, 401);
  const token = { authorization: `Bearer ${tokenOf('bob')}` };
  const bob = await ask(httpsRequest, url, token, { ca: certificate, cert: selfMade, key: annKey });
  assert.equal(bob.status?.userInfo?.username, 'bob');

  const session = connectHttp2(url, { ca: certificate, cert: annCertificate, key: annKey });
  t.after(() => session.destroy());
  const stream = session.request({ ':method': 'POST', ':path': WHO, ...JSON_TYPE });
  stream.end('{}');
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  assert.deepEqual((JSON.parse(text) as Seen).status?.userInfo, ann);
});

test('a listener that knows no authority believes no certificate', async (t) => {
  const url = await serve(t, { tls: { cert: certificate, key: privateKey } });
  assert.equal((await ask(httpsRequest, url, {}, { ca: certificate, cert: annCertificate, key: annKey })).code, 401);
});
