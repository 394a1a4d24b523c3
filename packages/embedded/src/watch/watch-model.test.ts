import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type AnyObject, isKubeError, type Stored } from '@reeve/kube';
import { configMaps, openServer, turn } from '../server/server-testing.ts';

/** Follows a selection by watch alone, from a list on, and resumes whenever it is cut. */
class Picture {
  readonly objects = new Map<string, string>();
  readonly problems: string[] = [];
  readonly selector: string;
  readonly #server: Awaited<ReturnType<typeof openServer>>;
  #version = '';
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(server: Awaited<ReturnType<typeof openServer>>, selector: string) {
    this.#server = server;
    this.selector = selector;
  }

  start(): void {
    this.#stop = new AbortController();
    this.#running = this.#follow(this.#stop.signal).catch((error: unknown) => {
      if (isKubeError(error, 'KUBE_GONE')) {
        this.#version = '';
        this.start();
      } else if (!this.#stop.signal.aborted) this.problems.push(String(error));
    });
  }

  async cut(): Promise<void> {
    this.#stop.abort(new Error('cut'));
    await this.#running;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const client = this.#server.of(configMaps);
    const options = { labelSelector: this.selector, signal };
    if (this.#version === '') {
      const list = await client.list(options);
      this.objects.clear();
      for (const item of list.items) this.objects.set(item.metadata.name, item.metadata.resourceVersion);
      this.#version = list.metadata.resourceVersion as string;
    }
    for await (const event of client.watch({ ...options, resourceVersion: this.#version })) {
      if (event.type === 'BOOKMARK') continue;
      const { name = '', resourceVersion = '' } = event.object.metadata;
      if (Number(resourceVersion) <= Number(this.#version))
        this.problems.push(`${resourceVersion} after ${this.#version}`);
      this.#version = resourceVersion;
      const had = this.objects.has(name);
      if (event.type === 'ADDED' ? had : !had) this.problems.push(`${event.type} ${name}, had ${had}`);
      if (event.type === 'DELETED') this.objects.delete(name);
      else this.objects.set(name, resourceVersion);
    }
  }
}

const step = fc.record({
  what: fc.constantFrom('write', 'write', 'write', 'delete', 'release', 'cut', 'compact'),
  name: fc.constantFrom('a', 'b', 'c'),
  app: fc.constantFrom('x', 'y'),
  held: fc.boolean(),
  picture: fc.nat(2),
});

test('whoever follows by watch, with any selector, cut and resumed at any time, has the picture of the list', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const server = await openServer();
      const client = server.of(configMaps);
      const pictures = ['app=x', 'app!=x', ''].map((selector) => new Picture(server, selector));
      for (const picture of pictures) picture.start();
      for (const { what, name, app, held, picture } of steps) {
        const current: Stored<AnyObject> | undefined = await client.find(name);
        if (what === 'write') {
          const finalizers = held && current?.metadata.deletionTimestamp === undefined ? ['x.io/hold'] : [];
          const metadata = { name, labels: { app }, finalizers };
          if (current === undefined) await client.create({ metadata });
          else await client.update({ metadata: { ...metadata, resourceVersion: current.metadata.resourceVersion } });
        } else if (what === 'delete' && current) await client.delete(name);
        else if (what === 'release' && current) {
          await client.update({ ...current, metadata: { ...current.metadata, finalizers: [] } });
        } else if (what === 'cut') {
          await pictures[picture]?.cut();
          if (held) await turn();
          pictures[picture]?.start();
        } else if (what === 'compact') server.store.compact(server.store.revision);
      }
      await turn();
      await turn();
      for (const { selector, objects, problems } of pictures) {
        const list = await client.list(selector === '' ? {} : { labelSelector: selector });
        const wanted = list.items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]);
        assert.deepEqual([...objects].sort(), wanted, selector);
        assert.deepEqual(problems, []);
      }
      server.server.close();
    }),
    { numRuns: 40, seed: 5 },
  );
});
