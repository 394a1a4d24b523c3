import type { JsonObject } from '../object/draft.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { thing, thingDefinition } from '../cases/thing-testing.ts';
import { ownersOf } from '../cases/world-testing.ts';
import { customTypes, deducedTypes } from '../types/custom.ts';
import { asList, asMap } from '../types/type.ts';
import { applyPatch } from './apply.ts';
import { fromFieldsV1, toFieldsV1 } from './fields-v1.ts';
import { keepTimes } from './times.ts';
import { trackUpdate } from './track.ts';

const types = customTypes(thingDefinition, 'v1');
const second = (n: number) => Date.UTC(2026, 0, 1, 0, 0, n, 789);

function stored(object: JsonObject, entries?: readonly JsonObject[]): JsonObject {
  const metadata = { ...asMap(object['metadata']), uid: 'u' };
  return { ...object, metadata: entries ? { ...metadata, managedFields: [...entries] } : metadata };
}

const entriesOf = (object: JsonObject): JsonObject[] =>
  (asList(asMap(object['metadata'])?.['managedFields']) ?? []).map((entry) => asMap(entry) ?? {});

function applied(live: JsonObject | undefined, object: JsonObject, manager: string, now: number): JsonObject {
  const result = applyPatch({ types, applied: object, manager, now, force: true, ...(live ? { live } : {}) });
  assert.ok('object' in result, 'status' in result ? result.status.message : '');
  return stored(result.object);
}

const entry = (manager: string, fields: JsonObject, rest: JsonObject = {}): JsonObject => ({
  manager,
  operation: 'Update',
  apiVersion: 'example.com/v1',
  time: '2025-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: fields,
  ...rest,
});

test('an entry has the fields of the server, in whole seconds', () => {
  const object = applied(undefined, thing({ text: 'x' }), 'a', second(1));
  assert.deepEqual(entriesOf(object), [
    {
      manager: 'a',
      operation: 'Apply',
      apiVersion: 'example.com/v1',
      time: '2026-01-01T00:00:01Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:text': {} } },
    },
  ]);
});

test('entries are ordered: appliers, then by time, then by name', () => {
  let object = trackUpdate({ types, after: thing({ flag: true }), manager: 'u', now: second(0) });
  object = applied(stored(object), thing({ text: 'x' }), 'late', second(2));
  object = applied(object, thing({ number: 1 }), 'b', second(3));
  object = applied(object, thing({ tags: ['t'] }), 'a', second(3));
  assert.deepEqual(
    entriesOf(object).map(({ manager }) => manager),
    ['late', 'a', 'b', 'u'],
  );
});

test('an apply that changes nothing keeps its time, one that only shares a field keeps the object', () => {
  const first = applied(undefined, thing({ text: 'x' }), 'a', second(1));
  assert.deepEqual(applied(first, thing({ text: 'x' }), 'a', second(2)), first);
  const shared = applied(first, thing({ text: 'x' }), 'b', second(3));
  // The new entry came without a change of the object, so it has no time, and stands before those that have one.
  assert.deepEqual(
    entriesOf(shared).map(({ manager, time }) => [manager, time]),
    [
      ['b', undefined],
      ['a', '2026-01-01T00:00:01Z'],
    ],
  );
  assert.deepEqual(ownersOf(shared), { 'a Apply': ['.spec.text'], 'b Apply': ['.spec.text'] });
});

test('times alone are no change', () => {
  const object = stored(thing({ text: 'x' }), [entry('a', { 'f:spec': {} }, { time: '2025-01-01T00:00:00Z' })]);
  const later = stored(thing({ text: 'x' }), [entry('a', { 'f:spec': {} }, { time: '2026-01-01T00:00:00Z' })]);
  assert.deepEqual(keepTimes(object, later), object);
  const other = stored(thing({ text: 'y' }), [entry('a', { 'f:spec': {} }, { time: '2026-01-01T00:00:00Z' })]);
  assert.equal(keepTimes(object, other), other);
  const owned = stored(thing({ text: 'x' }), [entry('a', { 'f:spec': { 'f:text': {} } })]);
  assert.equal(keepTimes(object, owned), owned);
});

test('of more than ten updaters the oldest become one', () => {
  const entries = Array.from({ length: 10 }, (_, n) =>
    entry(`u${n}`, { 'f:spec': { 'f:settings': { [`f:k${n}`]: {} } } }, { time: `2025-01-01T00:00:0${n}Z` }),
  );
  const settings = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`k${n}`, 'v']));
  const before = stored(thing({ settings }), entries);
  const after = thing({ settings: { ...settings, new: 'v' } });
  const object = trackUpdate({ types, before, after: stored(after), manager: 'new', now: second(0) });
  assert.deepEqual(
    entriesOf(object).map(({ manager, time }) => `${manager as string} ${time as string}`),
    [
      'ancient-changes 2025-01-01T00:00:01Z',
      ...[2, 3, 4, 5, 6, 7, 8, 9].map((n) => `u${n} 2025-01-01T00:00:0${n}Z`),
      'new 2026-01-01T00:00:00Z',
    ],
  );
  assert.deepEqual(ownersOf(object)['ancient-changes Update'], ['.spec.settings.k0', '.spec.settings.k1']);
});

test('entries of a version that is not served any more are dropped', () => {
  const old = entry('o', { 'f:spec': { 'f:number': {} } }, { apiVersion: 'example.com/v0' });
  const before = stored(thing({ text: 'x', number: 1 }), [old, entry('u', { 'f:spec': { 'f:text': {} } })]);
  const object = trackUpdate({ types, before, after: stored(thing({ text: 'y', number: 1 })), manager: 'u', now: 0 });
  assert.deepEqual(ownersOf(object), { 'u Update': ['.spec.text'] });
});

test('owners in another served version are judged in theirs', () => {
  const two = {
    ...thingDefinition,
    versions: [...thingDefinition.versions, { ...thingDefinition.versions[0], name: 'v2' }],
  };
  const v2 = customTypes(two as typeof thingDefinition, 'v2');
  const live = stored(thing({ text: 'x', number: 1 }), [
    entry('a', { 'f:spec': { 'f:text': {}, 'f:number': {} } }, { operation: 'Apply' }),
  ]);
  const object = { ...thing({ text: 'y' }), apiVersion: 'example.com/v2' };
  const asV2 = { ...live, apiVersion: 'example.com/v2' };
  const refused = applyPatch({ types: v2, live: asV2, applied: object, manager: 'b', now: 0 });
  assert.ok('status' in refused && /conflict with "a": .spec.text/.test(refused.status.message ?? ''));
  const own = applyPatch({ types: v2, live: asV2, applied: object, manager: 'a', now: second(0) });
  assert.ok('object' in own);
  assert.deepEqual(own.object['spec'], { text: 'y' });
  // The applier's entry is the same one, now in the new version.
  assert.deepEqual(
    entriesOf(own.object).map(({ manager, apiVersion }) => [manager, apiVersion]),
    [['a', 'example.com/v2']],
  );
});

test('a list that holds an item twice is owned at its place and can be mended', () => {
  const twice = thing({ items: [{ name: 'x', value: '1' }, { name: 'x', value: '2' }, { name: 'y' }] });
  let object = trackUpdate({ types, after: twice, manager: 'u', now: 0 });
  assert.deepEqual(ownersOf(object)['u Update'], [
    '.spec',
    '.spec.items',
    '.spec.items[name="x"]',
    '.spec.items[name="y"]',
    '.spec.items[name="y"].name',
  ]);
  object = applied(stored(object), thing({ items: [{ name: 'x', value: '3' }] }), 'a', 0);
  assert.deepEqual(asMap(object['spec'])?.['items'], [{ name: 'x', value: '3' }, { name: 'y' }]);
});

test('an object that does not fit its type is written without managedFields', () => {
  const before = stored(thing({ text: 'x' }), [entry('u', { 'f:spec': { 'f:text': {} } })]);
  const after = stored(thing({ unheardOf: true }));
  assert.deepEqual(trackUpdate({ types, before, after, manager: 'u', now: 0 }), after);
});

test('broken managedFields: updates begin anew, applies are refused', () => {
  const broken = stored(thing({ text: 'x' }), [entry('u', { nonsense: {} })]);
  const after = stored(thing({ text: 'y' }));
  assert.deepEqual(trackUpdate({ types, before: broken, after, manager: 'u', now: 0 }), after);
  const refused = applyPatch({ types, live: broken, applied: thing({ text: 'z' }), manager: 'a', now: 0 });
  assert.ok('status' in refused && refused.status.code === 500);
  assert.match(refused.status.message ?? '', /^failed to decode managed fields: .*missing colon/);
});

test('a kind of which nothing is known is owned by guess', () => {
  const unknown = deducedTypes('x.io/v1', 'X');
  const object = { apiVersion: 'x.io/v1', kind: 'X', metadata: { name: 'x' }, a: { b: [1], c: 'd' } };
  const result = applyPatch({ types: unknown, applied: object, manager: 'a', now: 0 });
  assert.ok('object' in result);
  assert.deepEqual(ownersOf(result.object), { 'a Apply': ['.a', '.a.b', '.a.c'] });
});

test('another kind than the resource’s is refused', () => {
  const result = applyPatch({ types, applied: { ...thing({}), kind: 'Other' }, manager: 'a', now: 0 });
  assert.ok('status' in result);
  assert.equal(result.status.message, 'invalid object type: example.com/v1, Kind=Other');
  assert.equal(result.status.code, 400);
});

/** The same in another order, all the way down. */
function reversed(fields: JsonObject): JsonObject {
  const entries = Object.entries(fields).map(([key, below]) => [key, reversed(below as JsonObject)] as const);
  return Object.fromEntries(entries.toReversed());
}

test('FieldsV1 is written in the server’s order, and read back', () => {
  const fields = {
    'f:names': { 'k:{"name":"a"}': {}, 'k:{"name":"a.b"}': {}, 'k:{"name":"b"}': {} },
    'f:spec': {
      '.': {},
      'f:a': {},
      'f:z': { 'k:{"port":9,"protocol":"TCP"}': { '.': {}, 'f:x': {} }, 'k:{"port":80,"protocol":"TCP"}': {} },
    },
    'f:tags': { 'v:2': {}, 'v:10': {}, 'v:"a"': {}, 'v:true': {} },
    'f:texts': { 'v:"a"': {}, 'v:"a b"': {}, 'v:"a-b"': {}, 'v:"ab"': {} },
    'f:\uffee': {},
    'f:\ud83d\ude00': {},
  };
  assert.equal(JSON.stringify(toFieldsV1(fromFieldsV1(reversed(fields)))), JSON.stringify(fields));
});

test('FieldsV1: what is not in canonical form is put right, later inventions are left out', () => {
  const read = toFieldsV1(fromFieldsV1({ 'k:{"b":1, "a":"<"}': {}, 'x:new': { 'f:a': {} }, 'f:a': null, 'i:07': {} }));
  assert.deepEqual(Object.keys(read), ['f:a', 'k:{"a":"\\u003c","b":1}', 'i:7']);
  for (const broken of ['a', 'fa:b', 'v:{', 'k:[1]', 'i:x']) assert.throws(() => fromFieldsV1({ [broken]: {} }));
});

test('integers beyond 2^53 are keys and values like others', () => {
  const big = 9007199254740993n;
  const object = applied(undefined, thing({ numbers: [big, 1], number: big }), 'a', 0);
  assert.deepEqual(asMap(object['spec']), { numbers: [big, 1], number: big });
  assert.deepEqual(ownersOf(object)['a Apply'], [
    '.spec.number',
    '.spec.numbers[=1]',
    '.spec.numbers[=9007199254740993]',
  ]);
  assert.deepEqual(applied(object, thing({ numbers: [big, 1], number: big }), 'a', 1000), object);
});

test('a scale owns the number of replicas, without a time', () => {
  const before = stored(thing({ text: 'x', number: 1 }), [
    entry('a', { 'f:spec': { 'f:number': {}, 'f:text': {} } }, { operation: 'Apply' }),
  ]);
  const after = stored(thing({ text: 'x', number: 5 }));
  const object = trackUpdate({ types, before, after, manager: 's', subresource: 'scale', now: second(0) });
  assert.deepEqual(entriesOf(object).at(-1), {
    manager: 's',
    operation: 'Update',
    apiVersion: 'example.com/v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:number': {} } },
    subresource: 'scale',
  });
  assert.deepEqual(ownersOf(object)['a Apply'], ['.spec.text']);
});
