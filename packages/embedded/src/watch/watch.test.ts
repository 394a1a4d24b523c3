import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnyObject, INITIAL_EVENTS_END, type WatchEvent, type WatchOptions } from '@reeve/kube';
import { configMaps, openServer, pods, refused, turn } from '../server/server-testing.ts';

type Server = Awaited<ReturnType<typeof openServer>>;

/** Collects what a watch tells until it is stopped. */
function watching(server: Server, options: WatchOptions = {}, namespace = 'default') {
  const stop = new AbortController();
  const seen: string[] = [];
  const read = async () => {
    for await (const event of server.of(configMaps, namespace).watch({ signal: stop.signal, ...options })) {
      seen.push(text(event));
    }
    seen.push('end');
  };
  const done = read().catch((error: Error) => void seen.push(`error ${error.message}`));
  return { seen, done, stop: () => stop.abort(new Error('stopped')) };
}
function text(event: WatchEvent<AnyObject>): string {
  if (event.type === 'BOOKMARK') return `BOOKMARK ${event.resourceVersion}${event.initialEventsEnd ? ' initial' : ''}`;
  return `${event.type} ${event.object.metadata.name} ${event.object.metadata.resourceVersion}`;
}
const map = (name: string, app?: string) => ({ metadata: { name, ...(app ? { labels: { app } } : {}) } });

test('everything there is, and then what happens', async () => {
  const server = await openServer();
  const { of } = server;
  await of(configMaps).create(map('a'));
  await of(configMaps, 'kube-system').create(map('elsewhere'));
  const legacy = watching(server, { bookmarks: false });
  const streaming = watching(server, { sendInitialEvents: true });
  const any = watching(server, { resourceVersion: '0' });
  await turn();
  const b = await of(configMaps).create(map('b'));
  await of(configMaps).update({ ...b, data: { x: 'y' } });
  await of(configMaps).delete('a');
  await turn();
  const changes = ['ADDED b 7', 'MODIFIED b 8', 'DELETED a 9'];
  assert.deepEqual(legacy.seen, ['ADDED a 5', ...changes]);
  assert.deepEqual(streaming.seen, ['ADDED a 5', 'BOOKMARK 6 initial', ...changes]);
  assert.deepEqual(any.seen, ['ADDED a 5', 'BOOKMARK 6 initial', ...changes]);
  for (const one of [legacy, streaming, any]) {
    one.stop();
    await one.done;
    assert.equal(one.seen.at(-1), 'error stopped');
  }
  assert.equal(server.clock.waiting(), 0);
});

test('from a version on, without a gap and without a repetition', async () => {
  const server = await openServer();
  const { of } = server;
  for (const name of ['a', 'b', 'c']) await of(configMaps).create(map(name));
  const resumed = watching(server, { resourceVersion: '6' });
  const future = watching(server, { resourceVersion: '8' });
  await turn();
  await of(configMaps).create(map('d'));
  await of(configMaps).create(map('e'));
  await turn();
  assert.deepEqual(resumed.seen, ['ADDED c 7', 'ADDED d 8', 'ADDED e 9']);
  assert.deepEqual(future.seen, ['ADDED e 9']);
  resumed.stop();
  future.stop();
});

test('only changes, when initial events are not wanted', async () => {
  const server = await openServer();
  await server.of(configMaps).create(map('a'));
  const path =
    '/api/v1/namespaces/default/configmaps?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&timeoutSeconds=1';
  const answer = server.request('GET', path);
  await turn();
  await server.of(configMaps).create(map('b'));
  await server.clock.advance(1_000);
  const { text: body, status } = await answer;
  assert.equal(status, 200);
  assert.deepEqual(
    body
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { object: AnyObject }).object.metadata.name),
    ['b'],
  );
});

test('a version that is forgotten, or one that is none, is told', async () => {
  const server = await openServer();
  const { of, store } = server;
  for (const name of ['a', 'b', 'c']) await of(configMaps).create(map(name));
  store.compact(6);
  const old = await refused(
    (async () => {
      for await (const _event of of(configMaps).watch({ resourceVersion: '5' })) assert.fail('no event can come');
    })(),
  );
  assert.deepEqual([old.code, old.reason, old.message], [410, 'Expired', 'too old resource version: 5 (6)']);
  const edge = watching(server, { resourceVersion: '6' });
  await turn();
  assert.deepEqual(edge.seen, ['ADDED c 7']);
  edge.stop();
  const future = await server.request(
    'GET',
    '/api/v1/namespaces/default/configmaps?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=99',
  );
  const { type, object } = JSON.parse(future.text) as { type: string; object: { code: number } };
  assert.deepEqual([type, object.code], ['ERROR', 504]);
  const none = await server.request('GET', '/api/v1/configmaps?watch=1&resourceVersion=abc');
  assert.equal(
    none.json.message,
    'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
  );
  const both = await server.request('GET', '/api/v1/configmaps?watch=1&sendInitialEvents=true');
  assert.equal(
    both.json.message,
    'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
  );
});

test('what enters a selection is added, what leaves it is deleted as it was', async () => {
  const server = await openServer();
  const { of } = server;
  const watch = watching(server, { labelSelector: 'app=x' });
  await turn();
  const a = await of(configMaps).create(map('a', 'y'));
  const entered = await of(configMaps).update({ ...a, metadata: { ...a.metadata, labels: { app: 'x' } } });
  const inside = await of(configMaps).update({ ...entered, data: { k: '1' } });
  await of(configMaps).update({ ...inside, metadata: { ...inside.metadata, labels: { app: 'z' } } });
  await of(configMaps).delete('a');
  await turn();
  assert.deepEqual(watch.seen.slice(1), ['ADDED a 6', 'MODIFIED a 7', 'DELETED a 8']);
  watch.stop();
  const raw = server.request(
    'GET',
    '/api/v1/configmaps?watch=1&resourceVersion=7&labelSelector=app%3Dx&timeoutSeconds=1',
  );
  await server.clock.advance(1_000);
  const event = JSON.parse((await raw).text) as { type: string; object: AnyObject };
  assert.deepEqual(
    [event.type, event.object.metadata.labels, event.object.metadata.resourceVersion],
    ['DELETED', { app: 'x' }, '8'],
  );
});

test('fields select events, too', async () => {
  const server = await openServer();
  const { of } = server;
  const seen: string[] = [];
  const stop = new AbortController();
  const done = (async () => {
    const options = { fieldSelector: 'spec.nodeName=n', bookmarks: false, signal: stop.signal };
    for await (const event of of(pods).watch(options)) seen.push(text(event));
  })().catch(() => undefined);
  await turn();
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  const pod = await of(pods).create({ metadata: { name: 'p' }, spec });
  await of(pods).create({ metadata: { name: 'other' }, spec: { ...spec, nodeName: 'm' } });
  await of(pods).update({ ...pod, spec: { ...(pod.spec as object), nodeName: 'n' } });
  await turn();
  stop.abort(new Error('enough'));
  await done;
  assert.deepEqual(seen, ['ADDED p 7']);
});

test('bookmarks come every minute and before the end, and the end comes in time', async () => {
  const server = await openServer();
  const watch = watching(server, { resourceVersion: '4', timeoutSeconds: 150 });
  await turn();
  await server.of(configMaps, 'kube-system').create(map('elsewhere'));
  await server.clock.advance(60_000);
  assert.deepEqual(watch.seen, ['BOOKMARK 5']);
  await server.clock.advance(60_000);
  await server.clock.advance(28_000);
  assert.deepEqual(watch.seen, ['BOOKMARK 5', 'BOOKMARK 5', 'BOOKMARK 5']);
  await server.clock.advance(2_000);
  await watch.done;
  assert.equal(watch.seen.at(-1), 'end');
  assert.equal(server.clock.waiting(), 0);
});

test('the mark that ends initial events is an annotation', async () => {
  const server = await openServer();
  const answer = server.request('GET', '/api/v1/configmaps?watch=1&allowWatchBookmarks=true&timeoutSeconds=1');
  await server.clock.advance(1_000);
  const { object } = JSON.parse((await answer).text) as { object: AnyObject };
  assert.deepEqual(object, {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { resourceVersion: '4', annotations: { [INITIAL_EVENTS_END]: 'true' } },
  });
});

test('a reader that does not read is dropped, and the others are not', async () => {
  const server = await openServer({ watch: { maxBufferedBytes: 2_000 } });
  const { of } = server;
  const transport = server.server.transport();
  const slow = await transport({ method: 'GET', path: '/api/v1/configmaps?watch=1&resourceVersion=4' });
  const quick = watching(server, { resourceVersion: '4' });
  for (let i = 0; i < 20; i++) {
    await of(configMaps).create(map(`m${i}`));
    await turn();
  }
  assert.equal(quick.seen.length, 20);
  let bytes = 0;
  for await (const chunk of slow.body as AsyncIterable<Uint8Array>) bytes += chunk.length;
  assert.equal(bytes, 0);
  quick.stop();
});

test('the bytes of an event are made once for all who watch', async () => {
  const server = await openServer();
  const transport = server.server.transport();
  const bodies = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const { body } = await transport({ method: 'GET', path: '/api/v1/configmaps?watch=1&resourceVersion=4' });
      return (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    }),
  );
  const firsts = Promise.all(bodies.map((body) => body.next()));
  await server.of(configMaps).create(map('a'));
  const chunks = (await firsts).map(({ value }) => value as Uint8Array);
  assert.ok(chunks.every((chunk) => chunk === chunks[0]));
  for (const body of bodies) await body.return?.();
});

test('a server that closes ends its watches in good order', async () => {
  const server = await openServer();
  const watch = watching(server, { resourceVersion: '4' });
  await turn();
  server.server.close();
  await watch.done;
  assert.deepEqual(watch.seen, ['end']);
});
