import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ResourceCache } from '../cache/cache.ts';
import { type Thing, thing } from '../cache/cache-testing.ts';
import { constantRandom, settled, VirtualClock } from '../ports/virtual-clock-testing.ts';
import { WorkQueue } from '../queue/queue.ts';
import type { ResourceEvent } from '../resource/resource.ts';
import type { ListWatch } from './port.ts';
import { Reflector } from './reflector.ts';
import { routeEvents } from './route.ts';
import { gone, ServerError, TestServer } from './server-testing.ts';
import { Slots } from './slots.ts';
import type { ReflectorOptions } from './state.ts';

function setUp(options: Partial<ReflectorOptions> & { slots?: Slots } = {}, server = new TestServer()) {
  const clock = new VirtualClock();
  const cache = new ResourceCache<Thing>({ scope: { group: 'test.dev', kind: 'Thing' } });
  const reflector = new Reflector({ clock, random: constantRandom(0) }, { source: server, cache, ...options });
  const told: string[] = [];
  const stop = new AbortController();
  const start = async () => {
    for await (const event of reflector.events(stop.signal)) told.push(brief(event));
  };
  const running = start();
  const end = async () => {
    stop.abort();
    await running;
    await settled();
    assert.equal(server.open, 0, 'a watch was left open');
    assert.equal(clock.sleeping, 0, 'a timer was left');
  };
  return { clock, cache, reflector, server, told, end };
}

function brief({ change, key, final, listed }: ResourceEvent<Thing>): string {
  return `${change} ${key.slice(3)}${final === false ? ' unseen' : ''}${listed ? ' listed' : ''}`;
}

/** Cache and server agree. */
function assertEqual({ cache, server }: { cache: ResourceCache<Thing>; server: TestServer }): void {
  const versions = (objects: Iterable<Thing>) =>
    [...objects].map(({ metadata }) => `${metadata.uid}@${metadata.resourceVersion}`).sort();
  assert.deepEqual(versions(cache.values() as Iterable<Thing>), versions(server.objects.values()));
}

test('a stream tells all objects, then changes, on one connection', async () => {
  const server = new TestServer();
  server.put('a');
  server.put('b');
  const it = setUp({}, server);
  await settled();
  server.put('a');
  server.put('c');
  server.delete('b');
  await settled();
  assert.deepEqual(it.told, ['added b listed', 'added a listed', 'changed a', 'added c', 'removed b']);
  assert.deepEqual(server.requests, ['stream newest']);
  await it.end();
});

test('RV during initial stream: a stream that breaks before its end mark shows nothing and is begun anew', async () => {
  const server = new TestServer();
  server.put('a');
  server.ignoresStreaming = true; // no end mark yet
  const it = setUp({}, server);
  await settled();
  assert.equal(it.cache.isSynced, false);
  assert.equal(it.reflector.state.version, undefined);
  server.ignoresStreaming = false;
  server.cut();
  await it.clock.advance(2_000);
  assert.deepEqual(server.requests, ['stream newest', 'stream newest']);
  assert.deepEqual(it.told, ['added a listed']);
  await it.end();
});

test('a server that cannot stream lists is read by pages, one that only ignores the wish too', async () => {
  const server = new TestServer();
  for (const name of ['a', 'b', 'c']) server.put(name);
  server.canStream = false;
  const it = setUp({ pageSize: 2 }, server);
  await settled();
  assert.deepEqual(server.requests, ['stream newest', 'list newest', 'list token-103-1', 'watch 103']);
  assertEqual(it);
  await it.end();
  const old = new TestServer();
  old.put('a');
  old.ignoresStreaming = true;
  const other = setUp({}, old);
  await other.clock.advance(75_000);
  assert.deepEqual(old.requests, ['stream newest', 'list newest', 'watch 101']);
  assertEqual(other);
  await other.end();
});

test('missed deletes while disconnected: compaction, then a list that tells what is gone as unseen', async () => {
  const server = new TestServer();
  for (const name of ['a', 'b']) server.put(name);
  const it = setUp({}, server);
  await it.clock.advance(2_000);
  it.told.length = 0;
  server.refusals.push(new Error('connection refused'));
  server.cut();
  await settled();
  server.delete('a');
  server.put('c');
  server.compact();
  await it.clock.advance(5_000);
  assert.deepEqual(server.requests, ['stream newest', 'watch 102', 'watch 102', 'stream 102']);
  assert.deepEqual(it.told, ['removed a unseen listed', 'added c listed']);
  await it.end();
});

test('410 / too-large RV: list at the last version, then the newest, and never an older state', async () => {
  const server = new TestServer();
  server.put('a');
  server.canStream = false;
  const it = setUp({}, server);
  await it.clock.advance(2_000);
  server.requests.length = 0;
  server.refusals.push(gone(), gone(), gone());
  server.cut();
  await settled();
  assert.deepEqual(server.requests, ['watch 101', 'list 101', 'list newest']);
  // This replica of the server was restored and is behind: what it has is older than what was seen.
  await it.clock.advance(5_000);
  server.requests.length = 0;
  server.version = 50;
  server.cut();
  await it.clock.advance(10_000);
  assert.deepEqual(server.requests.slice(0, 3), ['watch 101', 'list 101', 'list newest']);
  // And here each watch is refused with 410 right after its list: no storm of lists.
  assert.ok(server.requests.length < 15, server.requests.join());
  assert.equal(it.cache.version, '50', 'only the newest state there is may be older: a restored server');
  await it.end();
});

test('410 / too-large RV: a page whose token has expired begins the list anew, and then in one piece', async () => {
  const server = new TestServer();
  for (const name of ['a', 'b', 'c']) server.put(name);
  const original = server.list.bind(server);
  server.list = async (request) => {
    const page = await original(request);
    if (!request.continue) server.compact();
    return page;
  };
  const it = setUp({ pageSize: 2, streams: false }, server);
  await settled();
  assert.deepEqual(server.requests, [
    ...['list newest', 'list token-103-1', 'list newest', 'list token-103-1'],
    ...['list newest whole', 'watch 103'],
  ]);
  assertEqual(it);
  await it.end();
});

test('429 / APF: the watch waits as long as it is told to and goes on without a list', async () => {
  const server = new TestServer();
  server.put('a');
  const it = setUp({}, server);
  await it.clock.advance(2_000);
  server.requests.length = 0;
  server.refusals.push(new ServerError(429, { details: { retryAfterSeconds: 20 } }), new ServerError(429));
  server.cut();
  await it.clock.advance(19_000);
  assert.deepEqual(server.requests, ['watch 101']);
  server.put('b');
  await it.clock.advance(4_000);
  assert.deepEqual(server.requests, ['watch 101', 'watch 101', 'watch 101']);
  assertEqual(it);
  await it.end();
});

test('half-open TCP: a watch without events and bookmarks is given up after 75 s and goes on where it was', async () => {
  const server = new TestServer();
  server.put('a');
  const it = setUp({}, server);
  await it.clock.advance(60_000);
  server.bookmark();
  await it.clock.advance(60_000);
  assert.deepEqual(server.requests, ['stream newest'], 'bookmarks keep it alive');
  server.isHalfOpen = true;
  server.put('b');
  await it.clock.advance(14_000);
  assert.equal(server.requests.length, 1);
  await it.clock.advance(2_000);
  server.isHalfOpen = false;
  server.bookmark();
  await settled();
  assert.deepEqual(server.requests, ['stream newest', 'watch 101']);
  assert.equal(it.reflector.state.silences, 1);
  assertEqual(it);
  await it.end();
});

test('half-open TCP: an inactivity limit below 60 s is refused', () => {
  assert.throws(() => setUp({ silenceMs: [30_000, 50_000] }), { code: 'REFLECTOR_OPTIONS' });
});

test('too short watches: they are counted and backed off, and no event is lost', async () => {
  const server = new TestServer();
  const it = setUp({}, server);
  await it.clock.advance(2_000);
  for (let i = 0; i < 1_200; i++) {
    if (i % 10 === 0) server.put(`t${i % 70}`);
    server.cut();
    await it.clock.advance(50);
  }
  assert.ok(server.requests.length < 15, `${server.requests.length} requests in a minute`);
  assert.ok(it.reflector.state.shortWatches >= 4);
  await it.clock.advance(31_000);
  assertEqual(it);
  await it.end();
});

test('missing CRD at start: it is looked for slowly; deleted and created again, it is reflected again', async () => {
  const server = new TestServer();
  server.isInstalled = false;
  const it = setUp({}, server);
  await it.clock.advance(60_000);
  assert.ok(server.requests.length >= 3 && server.requests.length <= 4, server.requests.join());
  assert.equal(it.reflector.state.isMissing, true);
  server.isInstalled = true;
  server.put('a');
  await it.clock.advance(20_000);
  assert.equal(it.reflector.state.isMissing, false);
  assertEqual(it);
  // The kind goes, and its objects with it; what is known stays until a list says otherwise.
  server.isInstalled = false;
  server.cut();
  await it.clock.advance(30_000);
  assert.equal(it.reflector.state.isMissing, true);
  assert.equal(it.cache.size, 1);
  server.delete('a');
  server.put('b');
  server.isInstalled = true;
  await it.clock.advance(20_000);
  assert.deepEqual(it.told, ['added a listed', 'removed a unseen listed', 'added b listed']);
  await it.end();
});

test('label-selector exits: DELETED removes from the cache; that the object is gone is not said', async () => {
  const server = new TestServer();
  server.selects = ({ spec }) => spec?.color === 'red';
  server.put('a', { color: 'red' });
  server.put('b', { color: 'blue' });
  const it = setUp({}, server);
  await settled();
  server.put('a', { color: 'blue' });
  await settled();
  assert.deepEqual(it.told, ['added a listed', 'removed a']);
  assert.deepEqual([...it.cache.keys()], []);
  assert.ok(server.objects.has('ns/a'), 'it is there all the same');
  assert.equal(it.cache.version, String(server.version), 'and what was written to it since is not waited for');
  server.put('a', { color: 'green' });
  server.delete('b');
  await settled();
  assert.equal(it.told.length, 2, 'nothing is heard of those outside');
  server.put('a', { color: 'red' });
  await settled();
  assert.deepEqual(it.told.slice(2), ['added a'], 'it came back, with the same uid');
  await it.end();
});

test('missed deletes: what goes before the end of the initial events is marked is no ghost', async () => {
  const clock = new VirtualClock();
  const cache = new ResourceCache<Thing>({ scope: { group: 'test.dev', kind: 'Thing' } });
  const source: ListWatch<Thing> = {
    list: () => Promise.reject(new Error('not asked for')),
    async *watch({ signal }) {
      yield { type: 'ADDED', object: thing('a', 90) };
      yield { type: 'ADDED', object: thing('b', 91) };
      yield { type: 'ADDED', object: thing('c', 92) };
      yield { type: 'DELETED', object: thing('a', 101) };
      yield { type: 'DELETED', object: thing('b', 102) };
      yield { type: 'ADDED', object: thing('b', 103, { uid: 'next' }) };
      yield { type: 'DELETED', object: thing('c', 92, { uid: 'before' }) };
      yield { type: 'BOOKMARK', resourceVersion: '103', initialEventsEnd: true };
      await clock.sleep(60_000, signal);
    },
  };
  const reflector = new Reflector({ clock, random: constantRandom(0) }, { source, cache });
  const told: string[] = [];
  const running = (async () => {
    for await (const event of reflector.events()) told.push(`${brief(event)} ${event.uid}`);
  })();
  await settled();
  assert.deepEqual(told.sort(), ['added b listed next', 'added c listed uid-c']);
  assert.deepEqual([...cache.keys()].sort(), ['ns/b', 'ns/c']);
  reflector.stop();
  await running;
});

test('ordering: an event is told after the cache has it, and the cache is never behind what was told', async () => {
  const server = new TestServer();
  const clock = new VirtualClock();
  const cache = new ResourceCache<Thing>({ scope: { group: 'test.dev', kind: 'Thing' } });
  const reflector = new Reflector({ clock, random: constantRandom(0) }, { source: server, cache });
  const events = reflector.events();
  const first = events.next();
  await settled();
  for (let i = 0; i < 20; i++) server.put('a');
  let last = Number((await first).value?.object.metadata.resourceVersion);
  for (let i = 1; i < 20; i++) {
    const { value } = await events.next();
    const version = Number(value?.object.metadata.resourceVersion);
    assert.ok(version === last + 1 && Number(cache.get('ns/a')?.metadata.resourceVersion) >= version);
    last = version;
  }
  await events.return();
  await settled();
  assert.equal(server.open, 0);
});

test('thundering herd at restart: no more lists at once than there are slots', async () => {
  const slots = new Slots(2);
  const servers = Array.from({ length: 5 }, () => new TestServer());
  for (const server of servers) server.ignoresStreaming = true; // none comes to its end by itself
  const all = servers.map((server) => setUp({ slots }, server));
  await settled();
  assert.equal(servers.filter(({ requests }) => requests.length > 0).length, 2);
  for (const server of servers) server.ignoresStreaming = false;
  for (const it of all) await it.clock.advance(75_000); // the first two find out, and read by pages
  for (let i = 0; i < 5; i++) await settled();
  assert.ok(all.every(({ cache }) => cache.isSynced));
  for (const it of all) await it.end();
});

test('the stop switch ends it at once, and it can be started again', async () => {
  const server = new TestServer();
  server.put('a');
  const it = setUp({}, server);
  await settled();
  await assert.rejects(it.reflector.events().next(), { code: 'REFLECTOR_RUNNING' });
  it.reflector.stop();
  await settled();
  assert.equal(server.open, 0);
  server.put('b');
  const again = it.reflector.events();
  const { value } = await again.next();
  assert.equal(value?.key, 'ns/b', 'what the cache has already is not told again');
  await again.return();
  await it.end();
});

test('a route names the queue or queues by the state of the object, and may choose key, lane and delay', async () => {
  const server = new TestServer();
  const it = setUp({}, server);
  const ports = { clock: it.clock, random: constantRandom(0) };
  const queues = { red: new WorkQueue(ports, { name: 'red' }), all: new WorkQueue(ports, { name: 'all' }) };
  it.reflector.stop();
  await settled();
  const stop = new AbortController();
  const routing = routeEvents(
    it.reflector.events(stop.signal),
    ({ spec }, { listed }) => {
      if (spec?.color === undefined) return undefined;
      return [
        ...(spec.color === 'red' ? ['red'] : []),
        { queue: 'all', key: 'ns/cluster', ...(listed && { afterMs: 50 }) },
      ];
    },
    queues,
  );
  server.put('quiet');
  server.put('a', { color: 'red' });
  server.put('b', { color: 'blue' });
  await settled();
  assert.equal(queues.red.takeNow(), 'ns/a');
  assert.equal(queues.red.takeNow(), undefined);
  await it.clock.advance(50);
  assert.equal(queues.all.takeNow(), 'ns/cluster');
  assert.equal(queues.all.takeNow(), undefined);
  stop.abort();
  await routing;
  const nowhere = routeEvents(it.reflector.events(), () => 'nowhere', {});
  server.put('c');
  await assert.rejects(nowhere, { code: 'QUEUE_UNKNOWN' });
  await it.end();
});
