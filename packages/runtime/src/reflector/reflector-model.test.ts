/** Any order of writes and accidents: the cache ends equal to the server, and no object was told to go back in time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ResourceCache } from '../cache/cache.ts';
import type { Thing } from '../cache/cache-testing.ts';
import { seededRandom, settled, VirtualClock } from '../ports/virtual-clock-testing.ts';
import { Reflector } from './reflector.ts';
import { gone, ServerError, TestServer } from './server-testing.ts';

const name = fc.constantFrom('a', 'b', 'c', 'd');
const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), name }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1, 500, 3_000, 100_000) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('cut', 'compact', 'bookmark', 'half-open', 'healed', 'uninstall', 'install' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('refuse' as const), with: fc.constantFrom(410, 429, 500, 503, 0) }),
  },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

function refusal(status: number): unknown {
  if (status === 0) return new Error('connection reset');
  return status === 410 ? gone() : new ServerError(status);
}

function act(server: TestServer, one: Exclude<Action, { do: 'pass' }>): void {
  if (one.do === 'put') server.put(one.name);
  else if (one.do === 'delete') server.delete(one.name);
  else if (one.do === 'refuse') server.refusals.push(refusal(one.with));
  else if (one.do === 'cut') server.cut();
  else if (one.do === 'compact') server.compact();
  else if (one.do === 'bookmark') server.bookmark();
  else if (one.do === 'half-open') server.isHalfOpen = true;
  else if (one.do === 'healed') server.isHalfOpen = false;
  else server.isInstalled = one.do === 'install';
}

async function play(actions: readonly Action[], streams: boolean, seed: number): Promise<void> {
  const clock = new VirtualClock();
  const server = new TestServer();
  server.canStream = streams;
  const cache = new ResourceCache<Thing>({ scope: { group: 'test.dev', kind: 'Thing' } });
  const reflector = new Reflector({ clock, random: seededRandom(seed) }, { source: server, cache, pageSize: 2 });
  const told = new Map<string, number>();
  const present = new Set<string>();
  const stop = new AbortController();
  const running = (async () => {
    for await (const { change, uid, object } of reflector.events(stop.signal)) {
      const version = Number(object.metadata.resourceVersion);
      if (change === 'removed') assert.ok(present.delete(uid), `${uid} removed twice`);
      else {
        assert.equal(present.has(uid), change === 'changed', `${uid} ${change}`);
        assert.ok(version > (told.get(uid) ?? 0), `${uid} went back to ${version}`);
        present.add(uid);
        told.set(uid, version);
      }
    }
  })();
  for (const one of actions) {
    if (one.do === 'pass') await clock.advance(one.ms);
    else act(server, one);
    await settled();
  }
  // The last accident is over.
  server.refusals.length = 0;
  server.isHalfOpen = false;
  server.isInstalled = true;
  await clock.advance(300_000);
  server.bookmark();
  await settled();
  const versions = (objects: Iterable<Thing>) =>
    [...objects].map(({ metadata }) => `${metadata.uid}@${metadata.resourceVersion}`).sort();
  assert.deepEqual(versions(cache.values() as Iterable<Thing>), versions(server.objects.values()));
  assert.deepEqual([...present].sort(), [...server.objects.values()].map(({ metadata }) => metadata.uid).sort());
  assert.ok(server.requests.length < 40 + 8 * actions.length, `${server.requests.length} requests`);
  stop.abort();
  await running;
  await settled();
  assert.equal(server.open, 0);
  assert.equal(clock.sleeping, 0);
}

test('whatever happens, the cache ends equal to a fresh list, events are monotonic per object, nothing is left open', async () => {
  await fc.assert(fc.asyncProperty(fc.array(action, { maxLength: 40, size: 'max' }), fc.boolean(), fc.nat(), play), {
    numRuns: 40,
  });
});
