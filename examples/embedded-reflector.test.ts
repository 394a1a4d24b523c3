import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnyObject, resource } from '@reeve/kube';
import { embeddedWorld, reflect } from './embedded-reflector.ts';

const widgets = resource({ group: 'example.com', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true });
const crds = resource({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
});
const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const definition: AnyObject = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
  },
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
let state = 1;
const random = {
  next: () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  },
};
/** The server's time stands still; the reflector never waits long. */
const serverClock = { now: () => 0, sleep: () => new Promise<void>(() => undefined) };
let time = 0;
const hastyClock = {
  now: () => (time += 1_000),
  // Longer than a request takes, shorter than anybody's patience.
  sleep: async (ms: number, signal?: AbortSignal) => {
    if (ms > 60_000)
      await new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    else for (let i = 0; i < 20; i++) await turn();
    signal?.throwIfAborted();
  },
};

async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 3_000; i++) {
    if (await condition()) return;
    await turn();
  }
  assert.fail(`never: ${what}`);
}

test('a reflector waits for its kind, and survives closed watches, compaction and a kind that comes again', async () => {
  const { client, store, server } = await embeddedWorld({ clock: serverClock, random });
  const objects = client.resource(widgets, 'default');
  const reflector = reflect(client, widgets, 'default', { clock: hastyClock, random });
  const stop = new AbortController();
  const versions = new Map<string, number>();
  const running = (async () => {
    for await (const event of reflector.events(stop.signal)) {
      const version = Number(event.object.metadata.resourceVersion);
      assert.ok(version >= (versions.get(event.uid) ?? 0), 'events of one object are monotonic');
      versions.set(event.uid, version);
    }
  })();
  const equalsList = async (): Promise<boolean> => {
    const list = await objects.list().catch(() => ({ items: [] }));
    const wanted = list.items.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).sort();
    const cached = [...reflector.cache.values()]
      .map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)
      .sort();
    return JSON.stringify(wanted) === JSON.stringify(cached);
  };
  for (let i = 0; i < 50; i++) await turn();
  await client.resource(crds).create(definition);
  const a = await objects.create({ metadata: { name: 'a' } });
  await objects.create({ metadata: { name: 'b' } });
  await until('the kind is found', () => reflector.cache.size === 2);

  await objects.update({ ...a, spec: { x: 1 } });
  await objects.delete('b');
  await until('changes arrive', equalsList);

  await client.resource(crds).delete('widgets.example.com');
  await until('the kind is gone', () => store.count('widgets.example.com') === 0);
  await client.resource(crds).create(definition);
  await objects.create({ metadata: { name: 'c' } });
  store.compact(store.revision);
  await objects.create({ metadata: { name: 'd' } });
  await until('the new kind is followed', async () => reflector.cache.size === 2 && (await equalsList()));

  stop.abort();
  await running;
  server.close();
});
