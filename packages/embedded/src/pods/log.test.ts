import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openServer, pods } from '../server/server-testing.ts';
import { container, ended, openPods, running } from './pods-testing.ts';

const POD = '/api/v1/namespaces/default/pods';

async function* lines(...texts: readonly string[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const text of texts) yield Buffer.from(text);
}

test('a log is text, with the options that were asked for', async () => {
  const { fake, create, request } = await openPods();
  const made = await create('web', [container('main')], { main: { state: running, lastState: ended } });
  fake.lines = () => lines('one\n', 'two\n');
  const answer = await request('GET', `${POD}/web/log`);
  assert.deepEqual([answer.status, answer.headers['content-type'], answer.text], [200, 'text/plain', 'one\ntwo\n']);
  const at = { namespace: 'default', name: 'web', uid: made.metadata.uid, node: 'node-1', container: 'main' };
  assert.deepEqual(fake.asked, [{ at, options: { follow: false, previous: false, tailLines: undefined } }]);
  const limited = await request('GET', `${POD}/web/log?limitBytes=6&tailLines=7&previous=true&follow=1&container=main`);
  assert.equal(limited.text, 'one\ntw');
  assert.deepEqual(fake.asked[1]?.options, { follow: true, previous: true, tailLines: 7 });
});

test('refusals in the words of the real server', async () => {
  const { create, request } = await openPods();
  await create('one', [container('main')], { main: { state: running } });
  await create('two', [container('a'), container('b')], { a: { state: { waiting: { reason: 'ErrImagePull' } } } });
  const cases: readonly (readonly [string, number, string])[] = [
    ['none/log', 404, 'pods "none" not found'],
    ['one/log?container=x', 400, 'container x is not valid for pod one'],
    ['two/log', 400, 'a container name must be specified for pod two, choose one of: [a b]'],
    ['two/log?container=a', 400, 'container "a" in pod "two" is waiting to start: image can\'t be pulled'],
    ['two/log?container=b', 400, 'container "b" in pod "two" is not available'],
    ['one/log?previous=true', 400, 'previous terminated container "main" in pod "one" not found'],
    ['one/log?tailLines=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    [
      'one/log?tailLines=-1&limitBytes=0',
      422,
      'PodLogOptions "one" is invalid: [tailLines: Invalid value: -1: must be greater than or equal to 0, limitBytes: Invalid value: 0: must be greater than 0]',
    ],
    [
      'one/log?sinceSeconds=5',
      501,
      'logs of pods are kept without times here: sinceSeconds cannot be served; tailLines and limitBytes can',
    ],
  ];
  for (const [path, status, message] of cases) {
    const answer = await request('GET', `${POD}/${path}`);
    assert.deepEqual([answer.status, answer.json.message], [status, message], path);
  }
  assert.equal((await request('PUT', `${POD}/one/log`, {})).status, 405);
});

test('a pod that nobody has yet has nothing to tell; whoever has it may know better than its status', async () => {
  const { of, fake, request, create } = await openPods();
  await of(pods).create({ metadata: { name: 'new' }, spec: { containers: [container('main')] } });
  const answer = await request('GET', `${POD}/new/log`);
  assert.deepEqual([answer.status, answer.text], [204, '']);
  await create('web', [container('main')], { main: { state: running } });
  fake.logs = () => Promise.reject(new Error('there is no such run'));
  const failed = await request('GET', `${POD}/web/log`);
  assert.deepEqual([failed.status, failed.json.message], [500, 'Internal error occurred: there is no such run']);
});

test('reading ends with the client, and with the server', async () => {
  const { server, fake, create } = await openPods();
  await create('web', [container('main')], { main: { state: running } });
  fake.lines = async function* () {
    yield Buffer.from('one\n');
    const signal = signals.at(-1);
    await new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
  };
  const signals: AbortSignal[] = [];
  const logs = fake.logs.bind(fake);
  fake.logs = (at, options, signal) => {
    signals.push(signal);
    return logs(at, options, signal);
  };
  const read = async (signal?: AbortSignal) => {
    const path = `${POD}/web/log?follow=true`;
    const { body } = await server.transport()({ method: 'GET', path, ...(signal && { signal }) });
    let text = '';
    for await (const chunk of body as AsyncIterable<Uint8Array>) text += Buffer.from(chunk).toString();
    return text;
  };
  const client = new AbortController();
  const first = read(client.signal);
  await new Promise((resolve) => setImmediate(resolve));
  client.abort(new Error('went away'));
  assert.equal(await first, 'one\n');
  const second = read();
  await new Promise((resolve) => setImmediate(resolve));
  server.close();
  assert.equal(await second, 'one\n');
  assert.equal(fake.ended.length, 2);
});

test('discovery tells of logs and commands only where somebody runs pods', async () => {
  const names = async (request: Awaited<ReturnType<typeof openPods>>['request']) => {
    const { json } = await request('GET', '/api/v1');
    return (json.resources as readonly { readonly name: string }[]).map(({ name }) => name);
  };
  assert.ok((await names((await openPods()).request)).includes('pods/exec'));
  const without = await openServer();
  assert.ok(!(await names(without.request)).includes('pods/log'));
  const answer = await without.request('GET', `${POD}/web/log`);
  assert.deepEqual(
    [answer.status, answer.json.message],
    [404, 'the server could not find the requested resource: pods/log is not served'],
  );
});
