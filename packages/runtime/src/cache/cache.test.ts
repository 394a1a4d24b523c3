import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceEvent } from '../resource/resource.ts';
import { ResourceCache } from './cache.ts';
import { deepFreeze, type Thing, thing } from './cache-testing.ts';
import { Gate } from './gate.ts';

const scope = { group: 'test.dev', kind: 'Thing' };
const brief = (events: readonly ResourceEvent<unknown>[]): string[] =>
  events.map(({ change, uid, final }) => `${change} ${uid}${final === undefined ? '' : ` final:${final}`}`);

function setUp(...objects: readonly Thing[]) {
  const cache = new ResourceCache<Thing>({
    scope,
    indexes: { color: (value) => (value.spec?.color === undefined ? [] : [value.spec.color]) },
  });
  cache.replace(objects, '100');
  return cache;
}

test('stale read after own write: the answer is read until the watch has caught up', () => {
  const cache = setUp(thing('a', 90, { color: 'red' }));
  cache.wrote(thing('a', 110, { color: 'blue' }));
  assert.equal(cache.get('ns/a')?.spec?.color, 'blue');
  assert.deepEqual(cache.byIndex('color', 'red'), []);
  assert.equal(cache.byIndex('color', 'blue').length, 1);
  // Somebody else's earlier change arrives: older than our write, it must not show.
  cache.apply(thing('a', 105, { color: 'green' }));
  assert.equal(cache.get('ns/a')?.spec?.color, 'blue');
  cache.apply(thing('a', 112, { color: 'white' }));
  assert.equal(cache.get('ns/a')?.spec?.color, 'white');
});

test('stale read after own write: a late response never overwrites a newer watch event', () => {
  const cache = setUp(thing('a', 90));
  cache.apply(thing('a', 120, { color: 'new' }));
  cache.wrote(thing('a', 110, { color: 'late' }));
  assert.equal(cache.get('ns/a')?.spec?.color, 'new');
  // Nor does it bring back what the watch has seen go.
  cache.remove(thing('a', 130));
  cache.wrote(thing('a', 125, { color: 'ghost' }));
  assert.equal(cache.get('ns/a'), undefined);
  assert.deepEqual([...cache.keys()], []);
});

test('stale read after own write: two responses in the wrong order', () => {
  const cache = setUp();
  cache.wrote(thing('a', 111, { color: 'second' }));
  cache.wrote(thing('a', 110, { color: 'first' }));
  assert.equal(cache.get('ns/a')?.spec?.color, 'second');
});

test('stale read after own write: deletes too, with a tombstone that hides the deleted uid only', () => {
  const cache = setUp(thing('a', 90, { color: 'red' }));
  cache.deleted('ns/a', 'uid-a');
  assert.equal(cache.get('ns/a'), undefined);
  assert.deepEqual(cache.byIndex('color', 'red'), []);
  cache.apply(thing('a', 101, { color: 'red' })); // told before the deletion
  assert.equal(cache.get('ns/a'), undefined);
  cache.wrote(thing('a', 102)); // a response that was slower than the deletion
  assert.equal(cache.get('ns/a'), undefined);
  cache.apply(thing('a', 140, { uid: 'uid-next' }));
  assert.equal(cache.uidOf('ns/a'), 'uid-next');
});

test('stale read after own write: an overlay goes with any newer event or bookmark, also if its own event never comes', () => {
  const cache = setUp();
  cache.wrote(thing('left-the-selector', 110));
  cache.bookmark('109');
  assert.deepEqual([...cache.keys()], ['ns/left-the-selector']);
  cache.bookmark('110');
  assert.deepEqual([...cache.keys()], []);
});

test('stale read after own write: versions beyond 2^53 are compared as integers, and what is no number fails open', () => {
  const cache = setUp();
  cache.apply(thing('a', '9007199254740993', { color: 'newer' }));
  cache.wrote(thing('a', '9007199254740992', { color: 'older' }));
  assert.equal(cache.get('ns/a')?.spec?.color, 'newer');
  assert.equal(cache.caughtUp('ns/a', 'not-a-number'), true);
  cache.wrote(thing('a', 'not-a-number', { color: 'odd' }));
  assert.equal(cache.get('ns/a')?.spec?.color, 'newer');
});

test('missed deletes while disconnected: a list after a gap tells them with final: false', () => {
  const cache = setUp(thing('a', 90), thing('b', 91), thing('c', 92));
  const kept = cache.get('ns/a');
  const events = cache.replace([thing('a', 90), thing('c', 150), thing('d', 151)], '200');
  assert.deepEqual(brief(events), ['removed uid-b final:false', 'changed uid-c', 'added uid-d']);
  assert.ok(events.every(({ listed }) => listed));
  assert.equal(cache.get('ns/a'), kept, 'what did not change is the very same object');
  assert.equal(cache.version, '200');
});

test('missed deletes while disconnected: nothing shows of a list that was never completed', () => {
  const cache = setUp(thing('a', 90));
  cache.replacement().add(thing('b', 150));
  assert.deepEqual([...cache.keys()], ['ns/a']);
});

test('uid reuse by name: removed and added, from a watch and from a list', () => {
  const cache = setUp(thing('a', 90));
  assert.deepEqual(brief(cache.apply(thing('a', 110, { uid: 'second' }))), [
    'removed uid-a final:false',
    'added second',
  ]);
  const listed = cache.replace([thing('a', 120, { uid: 'third' })], '120');
  assert.deepEqual(brief(listed), ['removed second final:false', 'added third']);
  assert.deepEqual(
    brief(cache.remove(thing('a', 121, { uid: 'second' }))),
    [],
    'an old deletion is not about the new one',
  );
  assert.equal(cache.uidOf('ns/a'), 'third');
});

test('status loops: the watch event of exactly our own write says so, one with more in it does not', () => {
  const cache = setUp(thing('a', 90));
  cache.wrote(thing('a', 110));
  assert.equal(cache.apply(thing('a', 105))[0]?.own, false);
  assert.equal(cache.apply(thing('a', 110))[0]?.own, true);
  cache.wrote(thing('a', 120));
  assert.equal(cache.apply(thing('a', 121))[0]?.own, false);
  // After a gap nobody knows what else happened before our write.
  cache.wrote(thing('a', 130));
  assert.equal(cache.replace([thing('a', 130)], '130')[0]?.own, false);
});

test('expectations: the gate of a key is closed until the caches of its children have seen what was written', () => {
  const parents = setUp(thing('parent', 90));
  const children = setUp();
  const gate = new Gate();
  gate.expect('ns/parent', children, 'ns/child', '110');
  gate.expect('ns/parent', parents, 'ns/parent', '111');
  assert.deepEqual(gate.waitsFor('ns/parent'), ['ns/child', 'ns/parent']);
  children.apply(thing('child', 110));
  assert.deepEqual(gate.waitsFor('ns/parent'), ['ns/parent']);
  parents.bookmark('115');
  assert.equal(gate.isOpen('ns/parent'), true);
});

test('ordering: an event that is older than what is known is no event', () => {
  const cache = setUp(thing('a', 90));
  assert.deepEqual(brief(cache.apply(thing('a', 110))), ['changed uid-a']);
  assert.deepEqual(cache.apply(thing('a', 110)), []);
  assert.deepEqual(cache.apply(thing('a', 105)), []);
});

test('mutating cached objects: the cache changes nothing that it was given and hands out the same object', () => {
  const cache = new ResourceCache<Thing>({ scope, project: (object) => object });
  const first = deepFreeze(thing('a', 90, { color: 'red' }));
  cache.replace([first], '100');
  assert.equal(cache.get('ns/a'), first);
  const own = deepFreeze(thing('a', 110, { color: 'blue' }));
  cache.wrote(own);
  assert.equal(cache.get('ns/a'), own);
  cache.apply(deepFreeze(thing('a', 120)));
  cache.remove(deepFreeze(thing('a', 121)));
  assert.equal(cache.size, 0);
});

test('a projection is made once as an object comes in, and managedFields go by default', () => {
  let calls = 0;
  const names = new ResourceCache<Thing, { name: string }>({
    scope,
    project: ({ metadata }) => {
      calls++;
      return { name: metadata.name };
    },
  });
  names.replace([thing('a', 1), thing('b', 2)], '2');
  assert.deepEqual([...names.values()], [{ name: 'a' }, { name: 'b' }]);
  names.get('ns/a');
  assert.equal(calls, 2);
  const plain = setUp();
  plain.apply({ metadata: { ...thing('m', 110).metadata, ...{ managedFields: [{ manager: 'kubectl' }] } } });
  assert.deepEqual(Object.keys(JSON.parse(JSON.stringify(plain.get('ns/m')?.metadata)) as object), [
    ...['namespace', 'name', 'uid', 'resourceVersion'],
  ]);
});

test('a cache of a whole heavy kind is refused unless told', () => {
  const cacheOf = (more: object) => new ResourceCache<Thing>({ scope: { group: '', kind: 'Secret', ...more } });
  assert.throws(() => cacheOf({}), { code: 'CACHE_UNSCOPED' });
  for (const more of [{ namespace: 'ns' }, { labelSelector: 'app=x' }, { unscoped: true }]) assert.ok(cacheOf(more));
  assert.throws(() => setUp().byIndex('size', 'x'), { code: 'CACHE_INDEX_UNKNOWN' });
});

test('bytes grow with what is held and shrink with it', () => {
  const cache = setUp();
  assert.equal(cache.bytes, 0);
  const big = (i: number) => thing(`t${i}`, 200 + i, { annotations: { text: 'x'.repeat(1_000) } });
  for (let i = 0; i < 100; i++) cache.apply(big(i));
  assert.ok(cache.bytes > 100_000 && cache.bytes < 200_000, String(cache.bytes));
  cache.replace([big(0)], '400');
  assert.ok(cache.bytes < 2_000, String(cache.bytes));
});

test('an index can be added later, by those who come to share the cache; the same one twice is one', () => {
  const cache = new ResourceCache<Thing>({ scope });
  cache.replace([thing('a', 1, { color: 'red' }), thing('b', 2, { color: 'blue' })], '2');
  const byColor = ({ spec }: { readonly spec?: { readonly color?: string } }) => (spec?.color ? [spec.color] : []);
  cache.addIndex('color', byColor);
  cache.addIndex('color', byColor);
  assert.deepEqual(
    cache.byIndex('color', 'red').map(({ metadata }) => metadata.name),
    ['a'],
  );
  cache.apply(thing('b', 3, { color: 'red' }));
  assert.equal(cache.byIndex('color', 'red').length, 2);
  assert.equal(cache.byIndex('color', 'blue').length, 0);
  assert.throws(() => cache.addIndex('color', () => []), { code: 'CACHE_INDEX_TWICE' });
});

test('an index that throws for one object: it is in the cache without that index, and told once for each state', () => {
  const failures: string[] = [];
  const cache = new ResourceCache<Thing>({
    scope,
    indexes: {
      color: ({ metadata, spec }) => {
        if (spec?.color === 'bad') throw new Error(`${metadata.name} has no good color`);
        return spec?.color === undefined ? [] : [spec.color];
      },
      name: ({ metadata }) => [metadata.name],
    },
    failed: ({ key, what }) => failures.push(`${key} ${what}`),
  });
  cache.replace([thing('a', 90, { color: 'bad' }), thing('b', 91, { color: 'red' })], '100');
  assert.equal(cache.get('ns/a')?.spec?.color, 'bad');
  assert.deepEqual(cache.byIndex('color', 'bad'), []);
  assert.equal(cache.byIndex('name', 'a').length, 1, 'the other indexes have it');
  assert.deepEqual(failures, ['ns/a index color']);
  assert.deepEqual([...cache.defects], [['ns/a', 'index color: a has no good color']]);
  cache.apply(thing('a', 110, { color: 'red' }));
  assert.equal(cache.byIndex('color', 'red').length, 2);
  assert.deepEqual([...cache.defects], [], 'mended');
  cache.apply(thing('a', 111, { color: 'bad' }));
  assert.equal(cache.byIndex('color', 'red').length, 1, 'nothing is left of the state before');
  cache.remove(thing('a', 112));
  assert.deepEqual([...cache.defects], [], 'and gone');
  cache.apply(thing('b', 113, { color: 'bad' }));
  cache.addIndex('late', () => {
    throw new Error('never');
  });
  assert.deepEqual([...cache.defects], [['ns/b', 'index late: never']]);
});

test('an object that cannot be projected: what was known of it stays, what was not is not there, and both are told', () => {
  const failures: string[] = [];
  const cache = new ResourceCache<Thing, { readonly color: string }>({
    scope,
    project: ({ metadata, spec }) => {
      if (spec?.color === 'bad') throw new Error(`${metadata.name} is bad`);
      return { color: spec?.color ?? '' };
    },
    failed: ({ key, what, error }) => failures.push(`${key} ${what} ${(error as Error).message}`),
  });
  const listed = cache.replace([thing('a', 90, { color: 'bad' }), thing('b', 91, { color: 'red' })], '100');
  assert.deepEqual(brief(listed), ['added uid-b']);
  assert.deepEqual([...cache.keys()], ['ns/b']);
  assert.deepEqual(failures, ['ns/a project a is bad']);
  assert.deepEqual(cache.apply(thing('b', 101, { color: 'bad' })), []);
  assert.deepEqual(cache.get('ns/b'), { color: 'red' }, 'unknown is not absent');
  assert.equal(cache.version, '101', 'the watch goes on');
  assert.deepEqual(cache.replace([thing('a', 90, { color: 'bad' }), thing('b', 101, { color: 'bad' })], '102'), []);
  assert.deepEqual([...cache.defects.keys()], ['ns/a', 'ns/b']);
  cache.replace([thing('b', 101, { color: 'bad' })], '102');
  assert.deepEqual([...cache.defects.keys()], ['ns/b'], 'what a list does not have is no defect');
  // A write of ours whose answer cannot be kept is no overlay; the watch tells of it.
  cache.wrote(thing('b', 103, { color: 'bad' }));
  assert.deepEqual(cache.get('ns/b'), { color: 'red' });
  // A successor that cannot be read: the one before is gone all the same.
  assert.deepEqual(brief(cache.apply(thing('b', 104, { color: 'bad', uid: 'uid-next' }))), [
    'removed uid-b final:false',
  ]);
  assert.equal(cache.get('ns/b'), undefined);
  assert.deepEqual(brief(cache.apply(thing('a', 105, { color: 'blue' }))), ['added uid-a']);
  assert.deepEqual(brief(cache.remove(thing('b', 106, { uid: 'uid-next' }))), []);
  assert.deepEqual([...cache.defects], []);
});
