import assert from 'node:assert/strict';
import { test } from 'node:test';
import { start, parts as pieces, type Thing, things } from '../manager/manager-testing.ts';
import type { DeepReadonly, ResourceEvent } from '../resource/resource.ts';
import { Controller, controller, watching } from './controller.ts';
import { HotLoop } from './hot-loop.ts';
import { Parts } from './parts.ts';
import { QuietWrites } from './quiet-writes.ts';

test('by extending: the set-up keeps the default shape and adds to it, or does without any queue', async () => {
  const runs: string[] = [];
  class Extended extends Controller<Thing> {
    override setUp(parts: Parts): void {
      const own = this.setUpKind(parts, things);
      parts.queue('slow');
      parts.work({
        of: own,
        queues: ['slow'],
        reconcile: async ({ key }) => void runs.push(`slow ${key}`),
      });
    }
  }
  class Watching extends Controller<Thing> {
    override setUp(parts: Parts): void {
      const seen = parts.reflect(things);
      parts.observe({
        of: seen,
        everyMs: 1_000,
        observe: async ({ metadata }) => void runs.push(`looked at ${metadata.name}`),
      });
    }
  }
  const it = start([
    new Extended({
      name: 'extended',
      reconcile: async ({ key, queues }) => {
        runs.push(`fast ${key}`);
        queues.slow?.add(key); // workers hold the queues
      },
    }),
    new Watching({ name: 'watching' }),
  ]);
  it.api.put('things', 'a', {});
  await it.advance(500);
  assert.deepEqual(runs, ['fast ns/a', 'slow ns/a', 'looked at a']);
  await it.end();
});

test('an observer may update the API itself: under the lock of the workers, and never with an old look', async () => {
  const sizes = new Map([['a', 1]]);
  let isWorking = false;
  let lookedDuringWork = 0;
  const it = start([
    controller<Thing, number>({
      name: 'things',
      kind: things,
      observe: {
        everyMs: 1_000,
        observe: async ({ metadata }) => {
          if (isWorking) lookedDuringWork++;
          return sizes.get(metadata.name) ?? 0;
        },
        wakes: () => false,
        update: async (size, { metadata, status }, api, signal) => {
          assert.equal(isWorking, false);
          if (status?.size === size) return;
          const { name, namespace } = metadata;
          await api
            .resource(things, namespace)
            .apply({ metadata: { name }, status: { size } }, { subresource: 'status', signal });
        },
      },
      reconcile: async ({ object, status, now }) => {
        if (object.spec?.size === undefined || object.spec.size === object.status?.size) return;
        isWorking = true;
        const until = now() + 3_000;
        while (now() < until) await it.clock.sleep(500); // the world is changed, the status not yet
        sizes.set('a', object.spec.size);
        await status({ size: object.spec.size });
        isWorking = false;
      },
    }),
  ]);
  const size = () => (it.api.object('things', 'ns/a') as Thing).status?.size;
  it.api.put('things', 'a', {});
  await it.advance(1_500);
  assert.equal(size(), 1, 'what the real world is like');
  it.api.put('things', 'a', { size: 5 });
  await it.advance(4_000);
  assert.ok(lookedDuringWork > 0);
  assert.equal(size(), 5, 'no look from before the change brought the old state back');
  it.api.put('things', 'a', {});
  sizes.set('a', 6);
  await it.advance(2_000);
  assert.equal(size(), 6, 'and a new look counts again');
  await it.end();
});

test('other kinds wake by a mapping, and a child that changes its owner wakes both', async () => {
  const runs: string[] = [];
  const it = start([
    controller<Thing>({
      name: 'things',
      kind: things,
      owns: [pieces],
      watches: [
        watching({
          kind: { ...pieces, plural: 'configs', kind: 'Config' },
          to: ({ metadata }) => [`ns/${metadata.name}`],
        }),
      ],
      reconcile: async ({ key }) => void runs.push(key),
    }),
  ]);
  for (const name of ['a', 'b']) it.api.put('things', name, {});
  await it.advance(100);
  runs.length = 0;
  it.api.put('configs', 'b', {});
  it.api.put('configs', 'nobody', {});
  await it.advance(100);
  assert.deepEqual(runs, ['ns/b']);
  runs.length = 0;
  const owner = (name: string) => ({ apiVersion: 'test.dev/v9', kind: 'Thing', name, uid: name, controller: true });
  const piece = (name: string) => ({
    metadata: { namespace: 'ns', name: 'p', uid: 'p', ownerReferences: [owner(name)] },
  });
  it.api.kind('parts').keep(piece('a') as never);
  await it.advance(100);
  it.api.kind('parts').keep(piece('b') as never);
  await it.advance(100);
  assert.deepEqual(runs.sort(), ['ns/a', 'ns/a', 'ns/b']);
  await it.end();
});

test('parts that do not fit are refused when they are described', () => {
  const parts = new Parts();
  const of = parts.reflect(things);
  parts.queue('q');
  assert.throws(() => parts.queue('q'), { code: 'CONTROLLER_OPTIONS' });
  assert.throws(() => parts.work({ of, queues: ['q'] }), { code: 'CONTROLLER_OPTIONS' });
  assert.throws(() => parts.work({ of, queues: ['r'], reconcile: async () => undefined }), {
    code: 'CONTROLLER_OPTIONS',
  });
  parts.observe({ of, everyMs: 1, observe: async () => 1 });
  assert.throws(() => parts.observe({ of, everyMs: 1, observe: async () => 1 }), { code: 'CONTROLLER_OPTIONS' });
  assert.throws(() => of.cache, { code: 'CONTROLLER_OPTIONS' });
});

test('hot loop: a second without runs, or another generation, begins anew', () => {
  const loop = new HotLoop({ perSecond: 3, againMs: 5_000 });
  const run = (times: number, at: number, generation = 1) =>
    Array.from({ length: times }, () => loop.ran('k', generation, at)).filter((told) => told !== undefined);
  assert.deepEqual(run(3, 0), []);
  assert.deepEqual(run(3, 1_000), []);
  assert.deepEqual(run(3, 1_500, 2), []);
  assert.deepEqual(run(2, 1_600, 2), [4], 'once');
  assert.deepEqual(run(9, 3_000, 2), [], 'not again so soon');
  assert.deepEqual(run(9, 7_000, 2), [4]);
});

test('status loops: what comes while a status is written is kept, and only our own state is dropped', async () => {
  const told: string[] = [];
  const quiet = new QuietWrites<Thing>((event) => told.push(`${event.object.metadata.resourceVersion}`));
  const event = (version: number, more: Partial<ResourceEvent<Thing>> = {}): ResourceEvent<Thing> => ({
    change: 'changed',
    key: 'k',
    uid: 'u',
    object: { metadata: { name: 'k', resourceVersion: String(version) } } as DeepReadonly<Thing>,
    listed: false,
    own: false,
    ...more,
  });
  const { promise, resolve } = Promise.withResolvers<string>();
  const writing = quiet.during('k', () => promise);
  quiet.take(event(5));
  quiet.take(event(6));
  quiet.take({ ...event(1), key: 'other' });
  assert.deepEqual(told, ['1'], 'other keys do not wait');
  resolve('6');
  await writing;
  assert.deepEqual(told, ['1', '5']);
  quiet.take(event(7));
  await quiet.during('k', async () => '8');
  quiet.take(event(8, { listed: true }));
  assert.deepEqual(told, ['1', '5', '7', '8'], 'in a list a change of others may hide before ours');
  await quiet.during('k', async () => '8'); // changed nothing: no event will come
  quiet.take(event(10));
  quiet.take(event(8));
  assert.deepEqual(told.slice(4), ['10', '8'], 'a version that was passed is not waited for');
  await assert.rejects(quiet.during('k', () => Promise.reject(new Error('reset'))));
  quiet.take(event(9));
  assert.equal(told.at(-1), '9', 'a write that failed hides nothing');
});

test('a write that changed nothing does not keep quiet whose version it was answered with', async () => {
  const told: string[] = [];
  const quiet = new QuietWrites<Thing>((event) => told.push(`${event.object.metadata.resourceVersion}`));
  const object = (version: string) => ({ metadata: { name: 'k', resourceVersion: version } }) as DeepReadonly<Thing>;
  const event = (version: string): ResourceEvent<Thing> => ({
    change: 'changed',
    key: 'k',
    uid: 'u',
    object: object(version),
    previous: object('4'),
    listed: false,
    own: false,
  });
  await quiet.during('k', async () => ({ version: '5', isNewTo: () => true }));
  quiet.take(event('5'));
  assert.deepEqual(told, [], 'ours');
  await quiet.during('k', async () => ({ version: '6', isNewTo: ({ metadata }) => metadata.resourceVersion !== '4' }));
  quiet.take(event('6'));
  assert.deepEqual(told, ['6'], 'somebody else’s');
});

const election = { namespace: 'ns', name: 'test', identity: 'one' };

/** A controller with something that lives as long as a term. */
function withCompanion(order: string[], end: () => Promise<void>): Controller<Thing> {
  class Accompanied extends Controller<Thing> {
    override setUp(parts: Parts): void {
      const own = parts.reflect(things, { route: () => queue });
      const queue = parts.queue('things');
      parts.work({ of: own, queues: [queue], reconcile: async () => void order.push('worked') });
      parts.duringTerm(({ term, queues }) => {
        order.push(`begun ${term.token} ${Object.keys(queues).join()}`);
        return { [Symbol.asyncDispose]: end };
      });
    }
  }
  return new Accompanied({ name: 'accompanied' });
}

test('what lives as long as a term is made before its work, and waited for before the lease is given back', async () => {
  const order: string[] = [];
  const it = start(
    [
      withCompanion(order, async () => {
        await it.clock.sleep(3_000);
        order.push('ended');
      }),
    ],
    { election },
  );
  it.api.put('things', 'a', {});
  await it.advance(1_000);
  it.api.answering = (what) => {
    const lease = it.api.object('leases', 'ns/test', 'coordination.k8s.io') as
      | { spec?: { holderIdentity?: string } }
      | undefined;
    if (what.includes('leases') && lease?.spec?.holderIdentity === '') order.push('given back');
  };
  await it.end();
  assert.deepEqual(order, ['begun 1/one things', 'worked', 'ended', 'given back']);
});

test('what does not end with its term is named, and the lease is left to expire', async () => {
  const it = start([withCompanion([], () => new Promise(() => undefined))], { election, stopMs: 5_000 });
  await it.advance(1_000);
  it.stop.abort();
  await it.advance(6_000);
  await assert.rejects(it.running, /work does not end although it was cancelled: accompanied/);
});
