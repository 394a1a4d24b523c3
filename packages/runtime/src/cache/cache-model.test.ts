/** Random histories: a server that writes, a watch that lags, answers that are late, gaps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ResourceCache } from './cache.ts';
import { deepFreeze, type Thing, thing } from './cache-testing.ts';

const name = fc.constantFrom('a', 'b', 'c');
const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('write' as const), name, own: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), name, own: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('watch' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('answer' as const), which: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('relist' as const) }) },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

interface Happened {
  readonly object: Thing;
  readonly isGone: boolean;
}

function play(actions: readonly Action[]): void {
  let clock = 8; // from one digit to two: the order of versions is not the order of texts
  const server = new Map<string, Thing>();
  let log: Happened[] = [];
  const answers: { readonly key: string; readonly happened: Happened }[] = [];
  /** Per uid: the newest version that a reader was shown, Infinity once it was gone. */
  const shown = new Map<string, number>();
  const cache = new ResourceCache<Thing>({ scope: { group: 'test.dev', kind: 'Thing' }, project: (object) => object });
  cache.replace([], String(clock));

  const current = new Map<string, string>();
  const look = () => {
    for (const one of ['a', 'b', 'c']) {
      const value = cache.get(`ns/${one}`);
      const before = current.get(one);
      if (before !== undefined && before !== value?.metadata.uid) shown.set(before, Number.POSITIVE_INFINITY);
      if (!value) continue;
      const { uid = '', resourceVersion } = value.metadata;
      current.set(one, uid);
      const version = Number(resourceVersion);
      assert.ok(version >= (shown.get(uid) ?? 0), `${uid} went back from ${shown.get(uid)} to ${version}`);
      shown.set(uid, version);
    }
  };
  for (const one of actions) {
    if (one.do === 'write' || one.do === 'delete') {
      const before = server.get(one.name);
      if (one.do === 'delete' && !before) continue;
      clock++;
      const uid = before?.metadata.uid ?? `${one.name}-${clock}`;
      const happened = { object: deepFreeze(thing(one.name, clock, { uid })), isGone: one.do === 'delete' };
      if (happened.isGone) server.delete(one.name);
      else server.set(one.name, happened.object);
      log.push(happened);
      if (one.own) answers.push({ key: `ns/${one.name}`, happened });
    } else if (one.do === 'watch') {
      const next = log.shift();
      if (next) (next.isGone ? cache.remove.bind(cache) : cache.apply.bind(cache))(next.object);
    } else if (one.do === 'answer') {
      const [answer] = answers.splice(one.which % Math.max(1, answers.length), 1);
      if (!answer) continue;
      const { object, isGone } = answer.happened;
      const { uid = '', resourceVersion } = object.metadata;
      if (!isGone) cache.wrote(object);
      else cache.deleted(answer.key, uid, resourceVersion);
      const got = cache.get(answer.key);
      // Read your own writes: this state or a newer one, of this uid or of its successor.
      if (isGone) assert.notEqual(got?.metadata.uid, uid);
      else if (got?.metadata.uid === uid) assert.ok(Number(got.metadata.resourceVersion) >= Number(resourceVersion));
    } else {
      log = [];
      cache.replace(server.values(), String(clock));
    }
    look();
  }
  for (const { object, isGone } of log) (isGone ? cache.remove.bind(cache) : cache.apply.bind(cache))(object);
  for (const { key, happened } of answers) {
    if (!happened.isGone) cache.wrote(happened.object);
    else cache.deleted(key, happened.object.metadata.uid ?? '', happened.object.metadata.resourceVersion);
  }
  const versions = (objects: Iterable<Thing>) =>
    [...objects].map(({ metadata }) => `${metadata.uid}@${metadata.resourceVersion}`).sort();
  assert.deepEqual(
    versions(cache.values() as Iterable<Thing>),
    versions(server.values()),
    'the cache equals a fresh list',
  );
}

test('a late tombstone or answer of one incarnation does not bring back the one before', () => {
  const foreign = (what: 'write' | 'delete') => ({ do: what, name: 'a', own: false }) as const;
  const own = (what: 'write' | 'delete') => ({ do: what, name: 'a', own: true }) as const;
  const answer = (which: number) => ({ do: 'answer', which }) as const;
  const watch = { do: 'watch' } as const;
  play([
    ...[foreign('write'), watch, own('write'), answer(0), foreign('delete'), own('write'), answer(0)],
    ...[own('delete'), answer(0)],
  ]);
  play([
    ...[foreign('write'), watch, own('write'), own('delete'), own('write'), own('delete')],
    ...[answer(3), answer(0), watch, watch, watch, answer(0)],
  ]);
});

test('reads never go back in time, own writes are read at once, and the end equals a fresh list', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60, size: 'max' }), (actions) => play(actions)),
    { numRuns: 500 },
  );
});
