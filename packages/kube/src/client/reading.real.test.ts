/** Reading from a real kube-apiserver, once with watches over HTTP/1.1 and once over HTTP/2. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Kube, startKube, until } from '@reeve/rig';
import { metadataOnly } from '../object/resource.ts';
import type { WatchEvent } from '../object/watch-event.ts';
import { brief, type ConfigMap, configMaps, connected, failing, ownNamespace } from './real-testing.ts';
import type { ResourceClient } from './resource-client.ts';

let kube: Kube;
before(async () => {
  kube = await startKube();
});
after(() => kube?.stop());

const named = (name: string, labels: Record<string, string> = {}) => ({ metadata: { name, labels }, data: { a: 'b' } });

/** Reads until `count` events that are no bookmarks have come, then lets go of the watch. */
async function take(events: AsyncGenerator<WatchEvent<ConfigMap>>, count: number): Promise<WatchEvent<ConfigMap>[]> {
  const taken: WatchEvent<ConfigMap>[] = [];
  for await (const event of events) {
    if (event.type !== 'BOOKMARK') taken.push(event);
    if (taken.length === count) break;
  }
  return taken;
}

/** Follows a watch in the background. */
function follow(maps: ResourceClient<ConfigMap>, options: Parameters<typeof maps.watch>[0] = {}) {
  const stop = new AbortController();
  const told: string[] = [];
  let version = options.resourceVersion ?? '';
  const reading = (async () => {
    for await (const event of maps.watch({ ...options, signal: stop.signal })) {
      told.push(brief(event));
      version = event.type === 'BOOKMARK' ? event.resourceVersion : (event.object.metadata.resourceVersion ?? '');
    }
  })();
  const ended = reading.then(
    () => undefined,
    (error: unknown) => error,
  );
  return {
    told,
    ended,
    get version() {
      return version;
    },
    async stop() {
      stop.abort(new Error('enough'));
      assert.match(String(await ended), /enough/);
    },
  };
}

for (const watches of ['http1', 'http2'] as const) {
  describe(`watches over ${watches}`, () => {
    it('tells changes in order and resumes where it was', async (t) => {
      const connection = await connected(t, kube, { watches });
      const maps = connection.client.resource(configMaps, await ownNamespace(connection, `order-${watches}`));
      const { resourceVersion, items } = await maps.listAll();
      assert.deepEqual(items, []);
      const events = maps.watch({ resourceVersion });
      const created = await maps.create(named('a'));
      await maps.patch('a', { type: 'merge', value: { data: { a: 'c' } } });
      await maps.delete('a', { uid: created.metadata.uid });
      assert.deepEqual((await take(events, 3)).map(brief), ['A a', 'M a', 'D a']);
      // From the middle of what happened.
      const resumed = await take(maps.watch({ resourceVersion: created.metadata.resourceVersion }), 2);
      assert.deepEqual(resumed.map(brief), ['M a', 'D a']);
    });

    it('a streaming list tells what exists, then says that this was all, then changes', async (t) => {
      const connection = await connected(t, kube, { watches });
      const maps = connection.client.resource(configMaps, await ownNamespace(connection, `stream-${watches}`));
      for (const name of ['a', 'b', 'c']) await maps.create(named(name));
      const { resourceVersion } = await maps.listAll();
      const watch = follow(maps, { sendInitialEvents: true });
      await until('all were told', () => watch.told.includes('@!'));
      assert.deepEqual(watch.told.slice(0, 3).sort(), ['A a', 'A b', 'A c']);
      assert.ok(BigInt(watch.version) >= BigInt(resourceVersion));
      await maps.delete('b');
      await until('the deletion was told', () => watch.told.includes('D b'));
      await watch.stop();
    });

    it('selectors: by label and field; an object that no longer matches is told as deleted', async (t) => {
      const connection = await connected(t, kube, { watches });
      const maps = connection.client.resource(configMaps, await ownNamespace(connection, `select-${watches}`));
      for (const [name, color] of Object.entries({ a: 'red', b: 'blue', c: 'red' }))
        await maps.create(named(name, { color }));
      const names = async (selection: Parameters<typeof maps.listAll>[0]) =>
        (await maps.listAll(selection)).items.map(({ metadata }) => metadata.name);
      assert.deepEqual(await names({ labelSelector: { color: 'red' } }), ['a', 'c']);
      assert.deepEqual(await names({ labelSelector: 'color in (blue, green), !size' }), ['b']);
      assert.deepEqual(await names({ fieldSelector: 'metadata.name=c' }), ['c']);
      const { resourceVersion } = await maps.listAll();
      const watch = follow(maps, { labelSelector: { color: 'red' }, resourceVersion });
      await maps.patch('a', { type: 'merge', value: { metadata: { labels: { color: 'blue' } } } });
      await maps.patch('b', { type: 'merge', value: { metadata: { labels: { color: 'red' } } } });
      await until('both were told', () => watch.told.length === 2);
      assert.deepEqual(watch.told, ['D a', 'A b']);
      await watch.stop();
      await assert.rejects(maps.list({ labelSelector: 'a==b==c' }), failing('KUBE_INVALID'));
    });

    it('many watches at once are all alive', async (t) => {
      const connection = await connected(t, kube, { watches });
      const maps = connection.client.resource(configMaps, await ownNamespace(connection, `many-${watches}`));
      const { resourceVersion } = await maps.listAll();
      const all = Array.from({ length: 130 }, () => follow(maps, { resourceVersion }));
      await maps.create(named('a'));
      await until('all have heard', () => all.every(({ told }) => told.length === 1), { timeoutMs: 40_000 });
      await Promise.all(all.map((watch) => watch.stop()));
    });

    it('a server that is killed under a watch breaks it, and the next one misses nothing', async (t) => {
      const connection = await connected(t, kube, { watches });
      const maps = connection.client.resource(configMaps, await ownNamespace(connection, `killed-${watches}`));
      const first = await maps.create(named('before'));
      const watch = follow(maps, { resourceVersion: first.metadata.resourceVersion });
      await maps.create(named('seen'));
      await until('it is told', () => watch.told.includes('A seen'));
      await kube.apiserver.kill9();
      assert.ok(failing('KUBE_CONNECTION_LOST')(await watch.ended), String(await watch.ended));
      await assert.rejects(maps.create(named('never')), failing('KUBE_UNREACHABLE'));
      await kube.apiserver.restart();
      await maps.create(named('after'));
      const resumed = follow(maps, { resourceVersion: watch.version });
      let isOver = false;
      void resumed.ended.then(() => (isOver = true));
      await until('the next is told', () => resumed.told.length > 0 || isOver);
      // A server knows no history from before its start: if anything at all was written since, it says so.
      if (isOver) assert.ok(failing('KUBE_GONE')(await resumed.ended), String(await resumed.ended));
      else {
        assert.deepEqual(resumed.told, ['A after']);
        await resumed.stop();
      }
    });
  });
}

it('bookmarks tell how far a watch is; one whose time is over ends in good order after the last of them', async (t) => {
  const connection = await connected(t, kube);
  const namespace = await ownNamespace(connection, 'bookmarks');
  const maps = connection.client.resource(configMaps, namespace);
  const { resourceVersion } = await maps.listAll();
  const endings = (['http1', 'http2'] as const).map(async (watches) => {
    const { client } = await connected(t, kube, { watches });
    return follow(client.resource(configMaps, namespace), { resourceVersion, timeoutSeconds: 15 });
  });
  const both = await Promise.all(endings);
  await maps.create(named('a'));
  await until('both are open', () => both.every(({ told }) => told.length > 0));
  // A watch that was told nothing new since it was opened gets no bookmark either, unless etcd's revision moves on.
  const created = await maps.create(named('b'));
  for (const watch of both) {
    assert.equal(await watch.ended, undefined);
    // The server sends the last one two seconds before the end.
    assert.deepEqual([...new Set(watch.told)], ['A a', 'A b', '@']);
    assert.ok(BigInt(watch.version) >= BigInt(created.metadata.resourceVersion));
  }
});

it('lists by pages of one version; after a compaction the rest of them is gone, and so is an old watch', async (t) => {
  const connection = await connected(t, kube);
  const maps = connection.client.resource(configMaps, await ownNamespace(connection, 'pages'));
  const names = Array.from({ length: 25 }, (_, index) => `map-${String(index).padStart(2, '0')}`);
  const versions: string[] = [];
  for (const name of names) versions.push((await maps.create(named(name))).metadata.resourceVersion);
  const pages = maps.pages({ limit: 10 });
  const first = (await pages.next()).value;
  assert.ok(first);
  assert.deepEqual([first.items.length, first.metadata.remainingItemCount], [10, 15]);
  // What is written meanwhile belongs to no page.
  await maps.create(named('map-99'));
  const second = (await pages.next()).value;
  assert.equal(second?.metadata.resourceVersion, first.metadata.resourceVersion);
  const third = (await pages.next()).value;
  assert.deepEqual([third?.items.length, third?.items.at(-1)?.metadata.name], [5, 'map-24']);
  assert.equal((await pages.next()).done, true);

  const { metadata } = await maps.list({ limit: 10 });
  assert.ok(metadata.continue);
  await maps.create(named('later'));
  await kube.compact();
  await kube.apiserver.restart();
  await assert.rejects(maps.list({ limit: 10, continue: metadata.continue }), failing('KUBE_GONE'));
  const old = follow(maps, { resourceVersion: versions[0] ?? '' });
  assert.ok(failing('KUBE_GONE')(await old.ended), String(await old.ended));
  const { items } = await maps.listAll({ limit: 7 });
  assert.equal(items.length, 27, 'a new list is whole');
});

it('reads only metadata where that is asked for, and objects of list, watch and get are equal', async (t) => {
  const connection = await connected(t, kube);
  const namespace = await ownNamespace(connection, 'equal');
  const maps = connection.client.resource(configMaps, namespace);
  const created = await maps.create(named('a', { color: 'red' }));
  const [listed] = (await maps.list()).items;
  const [told] = await take(maps.watch(), 1);
  assert.deepEqual(listed, created);
  assert.deepEqual(told?.type === 'ADDED' && told.object, created);
  assert.deepEqual(await maps.get('a'), created);
  assert.equal((await maps.list({ dropManagedFields: true })).items[0]?.metadata.managedFields, undefined);
  const partial = connection.client.resource(metadataOnly(configMaps), namespace);
  const [item] = (await partial.list()).items;
  assert.deepEqual(item?.metadata, created.metadata);
  assert.equal('data' in (item ?? {}), false);
  for await (const event of partial.watch()) {
    assert.ok(event.type === 'ADDED' && !('data' in event.object));
    break;
  }
  assert.equal((await partial.get('a')).kind, 'PartialObjectMetadata');
});

it('what is not there yet, or not any more, is told apart', async (t) => {
  const connection = await connected(t, kube, { retries: 0 });
  const maps = connection.client.resource(configMaps, 'default');
  assert.equal(await maps.find('nothing'), undefined);
  await assert.rejects(maps.get('nothing'), failing('KUBE_NOT_FOUND', /configmaps "nothing" not found/));
  const { resourceVersion } = await maps.listAll();
  const future = String(BigInt(resourceVersion) + 1_000_000n);
  const start = performance.now();
  await assert.rejects(
    maps.list({ resourceVersion: future, resourceVersionMatch: 'NotOlderThan' }),
    failing('KUBE_VERSION_TOO_LARGE'),
  );
  t.diagnostic(`a version of the future was refused after ${Math.round(performance.now() - start)} ms`);
});
