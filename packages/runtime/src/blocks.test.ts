/** Seed 003's diagram, put together from the blocks alone: no controller, no manager. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Thing } from './cache/cache-testing.ts';
import {
  Changes,
  Observers,
  Reflector,
  ResourceCache,
  type Route,
  routeEvents,
  type Work,
  Workers,
  WorkQueue,
} from './index.ts';
import { seededRandom, settled, VirtualClock } from './ports/virtual-clock-testing.ts';
import { TestServer } from './reflector/server-testing.ts';

test('kind A: one queue, two types of worker; kind B: two queues, a worker each; one observer per resource', async () => {
  const clock = new VirtualClock();
  const ports = { clock, random: seededRandom(1) };
  const stop = new AbortController();
  const runs: string[] = [];
  const work =
    (name: string) =>
    async ({ key }: Work) => {
      runs.push(`${name} ${key}`);
      return undefined;
    };
  const changes = new Changes();
  const world = new Map<string, string>();

  const reflect = (
    kind: string,
    route: Route<Thing>,
    queues: Record<string, WorkQueue>,
    observers: Observers<unknown>,
  ) => {
    const server = new TestServer();
    const cache = new ResourceCache<Thing>({ scope: { group: 'test.dev', kind } });
    const reflector = new Reflector(ports, { source: server, cache });
    const routing = routeEvents(
      reflector.events(stop.signal),
      (object, event) => {
        observers.follow(event);
        return route(object, event);
      },
      queues,
    );
    return { server, cache, routing };
  };
  const observersFor = (queue: WorkQueue) =>
    new Observers(ports, changes, {
      everyMs: 1_000,
      observe: async (key) => world.get(key),
      report: (key, seen) => {
        if (seen === 'broken') queue.add(key);
      },
    });

  const all = new WorkQueue(ports, {
    name: 'a',
    routes: ['red', 'other'],
    routeOf: (key) => (a.cache.get(key)?.spec?.color === 'red' ? 'red' : 'other'),
  });
  const calm = new WorkQueue(ports, { name: 'calm' });
  const urgent = new WorkQueue(ports, { name: 'urgent' });
  const observers = [observersFor(all), observersFor(calm)] as const;
  const a = reflect('A', () => 'all', { all }, observers[0]);
  const b = reflect('B', ({ spec }) => (spec?.color === 'red' ? 'urgent' : 'calm'), { calm, urgent }, observers[1]);
  const workers = [
    new Workers(ports, { queues: [all], route: 'red', reconcile: work('a-red') }),
    new Workers(ports, { queues: [all], route: 'other', reconcile: work('a-other') }),
    new Workers(ports, { queues: [calm], reconcile: work('b-calm') }),
    new Workers(ports, { queues: [urgent], reconcile: work('b-urgent') }),
  ];
  for (const one of workers) one.start();
  await settled();

  a.server.put('x', { color: 'red' });
  a.server.put('y');
  b.server.put('p', { color: 'red' });
  b.server.put('q');
  await settled();
  assert.deepEqual(runs.sort(), ['a-other ns/y', 'a-red ns/x', 'b-calm ns/q', 'b-urgent ns/p']);

  // The real world changes by itself, and the observer of that resource brings it back to work.
  runs.length = 0;
  await clock.advance(3_000);
  assert.deepEqual(runs, []);
  world.set('ns/y', 'broken');
  await clock.advance(1_300);
  assert.deepEqual([...new Set(runs)], ['a-other ns/y']);

  stop.abort();
  for (const one of observers) await one[Symbol.asyncDispose]();
  await Promise.all([a.routing, b.routing, ...workers.map((one) => one.stop())]);
  for (const queue of [all, calm, urgent]) await queue.close();
  await settled();
  assert.equal(clock.sleeping, 0);
  assert.equal(a.server.open + b.server.open, 0);
});
