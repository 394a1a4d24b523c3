import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import fc from 'fast-check';
import type { KubeError } from '../errors/errors.ts';
import type { KubeObject } from '../object/object.ts';
import { resource } from '../object/resource.ts';
import type { WatchEvent } from '../object/watch-event.ts';
import { testPorts } from '../ports/testing.ts';
import { KubeClient } from './client.ts';
import { LineCutter } from './lines.ts';
import type { WatchOptions } from './options.ts';
import { failureBody, scripted } from './server-testing.ts';

const pods = resource<KubeObject>({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true });

const event = (type: string, name: string, version: string, more: object = {}): string =>
  `${JSON.stringify({ type, object: { metadata: { name, resourceVersion: version, ...more } } })}\n`;

async function* chunked(...chunks: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

function watching(body: AsyncIterable<Uint8Array>, options: WatchOptions = {}) {
  const ports = testPorts();
  const { transport, seen } = scripted(() => ({ body }));
  const client = new KubeClient({ ...ports, transport }).resource(pods);
  return { ports, seen, batches: client.watchBatches(options), events: client.watch(options) };
}

async function collect<T>(from: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of from) all.push(one);
  return all;
}

const brief = (one: WatchEvent<KubeObject>): string =>
  one.type === 'BOOKMARK'
    ? `@${one.resourceVersion}${one.initialEventsEnd ? '!' : ''}`
    : `${one.type[0]}${one.object.metadata.name}`;

test('events come in order, together as they arrived, and the watch ends with its stream', async () => {
  const text = event('ADDED', 'a', '1') + event('MODIFIED', 'a', '2') + event('DELETED', 'a', '3');
  const cut = text.length - 20;
  const { batches } = watching(chunked(text.slice(0, cut), text.slice(cut)));
  assert.deepEqual(
    (await collect(batches)).map((batch) => batch.map(brief)),
    [['Aa', 'Ma'], ['Da']],
  );
});

test('a streaming list is asked for properly, and its end is seen', async () => {
  const end = event('BOOKMARK', '', '9', { annotations: { 'k8s.io/initial-events-end': 'true' } });
  const { events, seen } = watching(chunked(event('ADDED', 'a', '5'), end, event('BOOKMARK', '', '12')), {
    sendInitialEvents: true,
    timeoutSeconds: 300,
    labelSelector: 'a=b',
  });
  assert.deepEqual((await collect(events)).map(brief), ['Aa', '@9!', '@12']);
  assert.deepEqual(seen[0]?.query, {
    watch: 'true',
    labelSelector: 'a=b',
    allowWatchBookmarks: 'true',
    timeoutSeconds: '300',
    sendInitialEvents: 'true',
    resourceVersionMatch: 'NotOlderThan',
  });
  const from = watching(chunked(), { resourceVersion: '7', bookmarks: false });
  await collect(from.events);
  assert.deepEqual(from.seen[0]?.query, { watch: 'true', resourceVersion: '7', allowWatchBookmarks: 'false' });
});

test('an ERROR event is thrown with its Status, after what came before it', async () => {
  const error = JSON.stringify({ type: 'ERROR', object: failureBody(410, 'Expired') });
  const { events } = watching(chunked(`${event('ADDED', 'a', '1')}${error}\n`));
  assert.equal(brief((await events.next()).value as WatchEvent<KubeObject>), 'Aa');
  await assert.rejects(events.next(), (thrown: KubeError) => {
    assert.equal(thrown.code, 'KUBE_GONE');
    assert.equal(thrown.status?.reason, 'Expired');
    return true;
  });
});

test('a refused watch is an error at once, not a retry', async () => {
  const { transport, seen } = scripted(() => ({
    status: 429,
    headers: { 'retry-after': '3' },
    body: failureBody(429, 'TooManyRequests'),
  }));
  const client = new KubeClient({ ...testPorts(), transport }).resource(pods);
  await assert.rejects(client.watch().next(), { code: 'KUBE_TOO_MANY_REQUESTS', retryAfterMs: 3000 });
  assert.equal(seen.length, 1);
});

test('lines that are no events are errors', async () => {
  for (const line of [
    '{"type":"ADDED"}',
    '{"type":"OTHER","object":{"metadata":{}}}',
    'null',
    '[]',
    '{"type":"ADDED","object":{',
  ]) {
    await assert.rejects(collect(watching(chunked(`${line}\n`)).events), { code: 'KUBE_JSON' }, line);
  }
  await assert.rejects(collect(watching(chunked('{"type":"ERROR","object":{}}\n')).events), {
    code: 'KUBE_SERVER_ERROR',
  });
});

test('managed fields are dropped when asked, without changing the shape', async () => {
  const line = event('ADDED', 'a', '1', { managedFields: [{ manager: 'm' }] });
  const [kept] = await collect(watching(chunked(line)).events);
  const [dropped] = await collect(watching(chunked(line), { dropManagedFields: true }).events);
  assert.ok(kept?.type === 'ADDED' && kept.object.metadata.managedFields?.length === 1);
  assert.ok(dropped?.type === 'ADDED' && dropped.object.metadata.managedFields === undefined);
  assert.ok('managedFields' in dropped.object.metadata);
});

test('lazy events are the same events, also those that are no plain change', async () => {
  const more = { managedFields: [{ manager: 'm' }], labels: { a: 'b' } };
  const lines = [
    event('ADDED', 'a', '1', more),
    `{"type":"MODIFIED","object":{"kind":"Pod","metadata":{"name":"a"},"spec":{"big":9007199254740993}}}\n`,
    `{"object":{"metadata":{"name":"b"}},"type":"DELETED"}\n`,
    `{"type":"ADDED","object":{"metadata":{"name":"c"}},"more":{}}\n`,
    event('BOOKMARK', '', '12'),
  ];
  const whole = await collect(watching(chunked(...lines)).events);
  const lazy = await collect(watching(chunked(...lines), { lazy: true }).events);
  assert.deepEqual(lazy, whole);
  const [dropped] = await collect(watching(chunked(...lines), { lazy: true, dropManagedFields: true }).events);
  assert.ok(dropped?.type === 'ADDED' && dropped.object.metadata.managedFields === undefined);
  await assert.rejects(collect(watching(chunked('{"type":"ADDED","object":{"metadata":{}\n'), { lazy: true }).events), {
    code: 'KUBE_JSON',
  });
});

test('the time limit is for the beginning of a watch, its signal for all of it', async () => {
  const controller = new AbortController();
  const ports = testPorts();
  async function* quiet(signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    yield Buffer.from(event('ADDED', 'a', '1'));
    await ports.clock.sleep(3_600_000, signal);
  }
  const { transport } = scripted(({ signal }) => ({ body: quiet(signal) }));
  const events = new KubeClient({ ...ports, transport }).resource(pods).watch({ signal: controller.signal });
  await events.next();
  const next = events.next();
  next.catch(() => undefined);
  await ports.advance(600_000);
  controller.abort(new Error('enough'));
  await assert.rejects(next, { message: 'enough' });

  const dead = scripted(
    ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
  );
  const opening = new KubeClient({ ...ports, transport: dead.transport }).resource(pods).watch().next();
  opening.catch(() => undefined);
  await ports.advance(60_000);
  await assert.rejects(opening, { code: 'KUBE_TIMEOUT' });
});

test('who leaves a watch lets go of its stream', async () => {
  let left = false;
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (let i = 1; ; i++) yield Buffer.from(event('ADDED', `p${i}`, `${i}`));
    } finally {
      left = true;
    }
  }
  const { signal } = new AbortController();
  for await (const one of watching(endless(), { signal }).events) if (brief(one) === 'Ap3') break;
  assert.equal(left, true);
  assert.equal(getEventListeners(signal, 'abort').length, 0, 'and of the signal');
});

function linesOf(chunks: readonly Uint8Array[], maxBytes: number): readonly string[] {
  const cutter = new LineCutter(maxBytes);
  const lines = chunks.flatMap((chunk) => {
    // Lent: written over before the next.
    const lent = Buffer.from(chunk);
    const texts = cutter.push(lent).map(String);
    lent.fill(0);
    return texts;
  });
  return [...lines, ...cutter.end().map(String)];
}

test('however bytes are cut, the lines are the same', () => {
  const lines = fc.array(
    fc.string({ minLength: 1 }).map((line) => line.replaceAll('\n', 'é')),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(lines, fc.array(fc.nat(400), { maxLength: 12 }), (expected, cuts) => {
      const bytes = Buffer.from(expected.map((line) => `${line}\n`).join(''));
      const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
      const pieces = places.slice(1).map((place, index) => bytes.subarray(places[index], place));
      assert.deepEqual(linesOf(pieces, 10_000), expected);
    }),
  );
});

test('a line beyond the limit is not held', () => {
  const chunks = (...texts: readonly string[]) => texts.map((text) => Buffer.from(text));
  assert.throws(() => linesOf(chunks('aaaa', 'bbbb'), 7), { code: 'KUBE_TOO_LARGE' });
  assert.throws(() => linesOf(chunks('aaaabbbb\n'), 7), { code: 'KUBE_TOO_LARGE' });
  assert.deepEqual(linesOf(chunks('aaa', 'bbbb\n', 'cc'), 7), ['aaabbbb', 'cc']);
});
