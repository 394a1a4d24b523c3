import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connect } from './client/connect.ts';
import { resource } from './object/resource.ts';
import { systemKubePorts } from './ports/system.ts';
import { greet } from './readme-testing.ts';
import { testCertificate } from './transport/certificate-testing.ts';
import { serve } from './transport/server-testing.ts';

const greeting = (hello: string, version: string) => ({
  metadata: { name: 'greeting', namespace: 'here', uid: 'u', resourceVersion: version },
  data: { hello },
});

/** Just enough of an API server for the example. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.authorization !== 'Bearer t') return void response.writeHead(401).end('{}');
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://server');
  if (!pathname.startsWith('/api/v1/namespaces/here/configmaps')) return void response.writeHead(404).end('{}');
  if (request.method === 'PATCH') return void response.end(JSON.stringify(greeting('world', '1')));
  if (searchParams.get('watch') !== 'true') {
    const list = { metadata: { resourceVersion: '1' }, items: [greeting('world', '1')] };
    return void response.end(JSON.stringify(list));
  }
  assert.equal(searchParams.get('resourceVersion'), '1');
  const event = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;
  response.write(event('MODIFIED', greeting(`you over ${request.httpVersion}`, '2')));
  response.write(event('BOOKMARK', { metadata: { resourceVersion: '3' } }));
  response.write(event('DELETED', greeting('you', '4')));
}

async function kubeconfig(t: TestContext, server: URL): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-kube-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'ca.crt'), testCertificate);
  await writeFile(join(folder, 'token'), 't\n');
  const path = join(folder, 'config');
  await writeFile(
    path,
    `current-context: c
clusters: [{name: k, cluster: {server: "${server.origin}", certificate-authority: ca.crt}}]
users: [{name: u, user: {tokenFile: token}}]
contexts: [{name: c, context: {cluster: k, user: u, namespace: here}}]
`,
  );
  return path;
}

test('the example of the README does what it says', async (t) => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const example = await readFile(new URL('./readme-testing.ts', import.meta.url), 'utf8');
  assert.equal(/```ts\n(.*?)```/s.exec(readme)?.[1], example);

  const server = await serve(t, 'https', answer as Parameters<typeof serve>[2]);
  const before = process.env.KUBECONFIG;
  t.after(() => {
    if (before === undefined) delete process.env.KUBECONFIG;
    else process.env.KUBECONFIG = before;
  });
  process.env.KUBECONFIG = await kubeconfig(t, server.url);
  const said: string[] = [];
  await greet((line) => said.push(line));
  assert.deepEqual(said, ['hello world', 'hello you over 1.1', 'gone']);
});

test('watches of a connection travel over HTTP/2 when asked to', async (t) => {
  const server = await serve(t, 'h2', answer as Parameters<typeof serve>[2]);
  using connection = await connect(systemKubePorts(), { file: await kubeconfig(t, server.url), watches: 'http2' });
  const maps = connection.client.resource(
    resource({ group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true }),
    'here',
  );
  const { resourceVersion } = await maps.listAll();
  const first = (await maps.watch({ resourceVersion }).next()).value;
  assert.ok(first?.type === 'MODIFIED');
  assert.deepEqual(first.object.data, { hello: 'you over 2.0' });
});

test('the real spawn gives output and exit code, and says when there is nothing to start', async () => {
  const { spawn } = systemKubePorts();
  const script = 'console.log(process.env.A); console.error("e"); process.exitCode = 3';
  const request = { command: process.execPath, args: ['-e', script], env: { A: 'b' }, interactive: false };
  assert.deepEqual(await spawn(request), { code: 3, stdout: 'b\n', stderr: 'e\n' });
  await assert.rejects(spawn({ ...request, command: '/nowhere/at-all' }), { code: 'ENOENT' });
});
