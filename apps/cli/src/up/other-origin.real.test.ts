/** A page of another origin, in a real browser on the same machine: what it can do to the API. Certificates do not stop it here. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { resolveContext, readKubeconfig, resource } from '@reeve/kube';
import { openPage } from '@reeve/rig';
import { Machine } from './plane-testing.ts';

const configMaps = resource({ group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true });

async function listening(t: TestContext, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a web page of another origin cannot reach the API, not even with its token', async (t) => {
  const page = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>somebody else</title>');
  });
  const open = createServer((_request, response) => {
    response.setHeader('access-control-allow-origin', '*').end('come in');
  });
  const machine = Machine.start(t);
  await machine.up();
  const client = await machine.client();
  const text = readFileSync(join(machine.data, 'kubeconfig'), 'utf8');
  const { cluster, user } = resolveContext(readKubeconfig(text, 'kubeconfig', machine.data));
  const server = cluster.server;
  const token = user.token && 'text' in user.token ? user.token.text : assert.fail('the kubeconfig has a token');
  await using browser = await openPage(await listening(t, page), { trustsAnybody: true });
  const tried = (url: string, options: object) =>
    browser.evaluate<string>(
      `fetch(${JSON.stringify(url)}, ${JSON.stringify(options)}).then(async (a) => a.type + ' ' + a.status + ' ' + (await a.text()), (e) => e.name)`,
    );

  assert.equal(
    await tried(await listening(t, open), {}),
    'cors 200 come in',
    'pages of this browser reach who lets them',
  );
  const headers = { authorization: `Bearer ${token}` };
  assert.equal(await tried(`${server}/api/v1/namespaces`, { headers }), 'TypeError');
  assert.equal(await tried(`${server}/version`, {}), 'TypeError');
  const name = 'from-a-page';
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
  const post = { method: 'POST', mode: 'no-cors', body };
  assert.equal(await tried(`${server}/api/v1/namespaces/default/configmaps`, post), 'opaque 0 ');
  const { items } = await client.resource(configMaps, 'default').list();
  assert.ok(!items.some(({ metadata }) => metadata.name === name));
});
