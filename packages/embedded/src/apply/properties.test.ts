/** What must hold for every sequence of writes by several managers. */
import type { JsonObject } from '../object/draft.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '@reeve/kube';
import fc from 'fast-check';
import { thing, thingDefinition } from '../cases/thing-testing.ts';
import { customTypes } from '../types/custom.ts';
import { typeOf } from '../types/kind-types.ts';
import { asList, asMap } from '../types/type.ts';
import { applyPatch } from './apply.ts';
import { compare } from './compare.ts';
import { fieldsOf } from './extract.ts';
import { FieldSet } from './field-set.ts';
import { fromFieldsV1, toFieldsV1 } from './fields-v1.ts';
import { decodeManaged, managedFieldsOf, managerOf, withoutManagedFields } from './managed.ts';
import { keepTimes } from './times.ts';
import { trackUpdate } from './track.ts';

const types = customTypes(thingDefinition, 'v1');
const type = typeOf(types);

const word = fc.constantFrom('x', 'y', 'z');
const words = fc.uniqueArray(word, { maxLength: 3 });
const mapOf = <T>(value: fc.Arbitrary<T>) => fc.dictionary(word, value, { maxKeys: 2, noNullPrototype: true });
const optional = <T extends object>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(model, { requiredKeys: [], noNullPrototype: true });
const itemsOf = (model: Record<string, fc.Arbitrary<unknown>>, key: string) =>
  fc.uniqueArray(fc.record({ [key]: word, ...model }, { requiredKeys: [key], noNullPrototype: true }), {
    maxLength: 3,
    selector: (item) => item[key],
  });

const anySpec = optional({
  text: word,
  number: fc.integer({ min: 0, max: 2 }),
  settings: mapOf(word),
  frozen: mapOf(word),
  nested: optional({ inner: optional({ a: word, b: word }), c: word }),
  tags: words,
  words: fc.array(word, { maxLength: 3 }),
  items: itemsOf({ value: word, other: word, sub: itemsOf({ v: word }, 'id'), extra: mapOf(word) }, 'name'),
  groups: mapOf(words),
  loose: mapOf(fc.oneof(word, words, mapOf(word))),
}) as unknown as fc.Arbitrary<JsonObject>;

/**
 * Without empty lists and maps: the server of today turns what was emptied into null at times (structured-merge-diff#332),
 * and so do we. Cases and the comparison with the server have them.
 */
const spec = anySpec.map((value) => asMap(filled(value)) ?? { text: 'x' });

function filled(value: Json): Json | undefined {
  const list = asList(value);
  if (list) return list.length === 0 ? undefined : list.map((item) => filled(item) ?? item);
  const map = asMap(value);
  if (!map) return value;
  const entries = Object.entries(map).flatMap(([key, item]) => {
    const left = filled(item);
    return left === undefined ? [] : [[key, left] as const];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Each is a whole history of writes. */
const runs = { numRuns: 60 };

const manager = fc.constantFrom('a', 'b', 'c');
const write = fc.record({ spec, manager, isApply: fc.boolean(), force: fc.boolean() });
const history = fc.array(write, { minLength: 1, maxLength: 4 });
type Write = { spec: JsonObject; manager: string; isApply: boolean; force: boolean };

function apply(live: JsonObject | undefined, given: JsonObject, by: string, force: boolean, now = 0) {
  const result = applyPatch({ types, applied: given, manager: by, force, now, ...(live ? { live } : {}) });
  return 'object' in result ? withUid(live ? keepTimes(live, result.object) : result.object) : undefined;
}

const withUid = (object: JsonObject): JsonObject => ({
  ...object,
  metadata: { ...asMap(object['metadata']), uid: 'u' },
});

/** The object after all writes that went through, and what each applier applied last. */
function written(writes: readonly Write[]): { live: JsonObject | undefined; last: Map<string, JsonObject> } {
  let live: JsonObject | undefined;
  const last = new Map<string, JsonObject>();
  for (const [index, { spec: given, manager: by, isApply, force }] of writes.entries()) {
    const now = index * 1000;
    if (isApply) {
      const object = apply(live, thing(given), by, force, now);
      if (object) last.set(by, given);
      live = object ?? live;
    } else {
      const next = live ? { ...live, spec: given } : thing(given);
      const tracked = trackUpdate({ types, after: next, manager: by, now, ...(live ? { before: live } : {}) });
      live = withUid(live ? keepTimes(live, tracked) : tracked);
    }
  }
  return { live, last };
}

const after = (writes: readonly Write[]): JsonObject | undefined => written(writes).live;

const appliersOf = (object: JsonObject) =>
  [...decodeManaged(managedFieldsOf(object) ?? []).owned]
    .filter(([, { applied }]) => applied)
    .map(([id, { set }]) => ({ name: managerOf(id).manager, set }));

test('apply is idempotent', () => {
  fc.assert(
    fc.property(history, spec, manager, (writes, given, by) => {
      const once = apply(after(writes), thing(given), by, true, 100_000);
      assert.ok(once);
      assert.deepEqual(apply(once, thing(given), by, true, 200_000), once);
      assert.deepEqual(apply(once, thing(given), by, false, 200_000), once);
    }),
    runs,
  );
});

test('after force there are no conflicts, and what was applied is there', () => {
  fc.assert(
    fc.property(history, spec, manager, (writes, given, by) => {
      const object = apply(after(writes), thing(given), by, true);
      assert.ok(object);
      const applied = fieldsOf(thing(given), type);
      assert.ok(applied.difference(fieldsOf(withoutManagedFields(object), type)).isEmpty);
    }),
    runs,
  );
});

test('who applies the whole object owns it, and changes nothing', () => {
  fc.assert(
    fc.property(history, (writes) => {
      const live = after(writes);
      if (!live) return;
      const whole = apply(live, thing(asMap(live['spec']) ?? {}), 'owner', true);
      assert.ok(whole);
      assert.deepEqual(whole['spec'] ?? {}, live['spec'] ?? {});
      const own = appliersOf(whole).find(({ name }) => name === 'owner')?.set ?? new FieldSet();
      const all = fieldsOf({ spec: live['spec'] ?? {} }, type);
      assert.deepEqual(toFieldsV1(own), toFieldsV1(all));
    }),
    runs,
  );
});

test('what an applier owns is what it applied last, with that value; so two that share a field agree', () => {
  fc.assert(
    fc.property(history, (writes) => {
      const { live, last } = written(writes);
      if (!live) return;
      for (const { name, set } of appliersOf(live)) {
        const given = thing(last.get(name) ?? {});
        const { modified, added } = compare(given, withoutManagedFields(live), type);
        assert.ok(set.difference(fieldsOf(given, type)).isEmpty, 'owns what it did not apply');
        assert.ok(set.intersection(modified.union(added)).isEmpty, 'owns a value that is not its own');
      }
    }),
    runs,
  );
});

test('a manager that applies nothing gives up all; nobody else loses anything', () => {
  fc.assert(
    fc.property(history, manager, (writes, by) => {
      const live = after(writes);
      if (!live) return;
      const object = apply(live, thing(), by, false);
      assert.ok(object, 'nothing applied cannot conflict');
      const left = appliersOf(object);
      assert.ok(!left.some(({ name }) => name === by));
      const fields = fieldsOf(withoutManagedFields(object), type).withNamedFields(type);
      for (const { name, set } of appliersOf(live)) {
        if (name === by) continue;
        assert.deepEqual(toFieldsV1(left.find((one) => one.name === name)?.set ?? new FieldSet()), toFieldsV1(set));
        assert.ok(set.difference(fields).isEmpty);
      }
    }),
    runs,
  );
});

test('what was written twice is the same text, and reads back as the same sets', () => {
  fc.assert(
    fc.property(history, (writes) => {
      const live = after(writes) ?? {};
      for (const entry of asList(asMap(live['metadata'])?.['managedFields']) ?? []) {
        const fields = asMap(entry)?.['fieldsV1'] ?? {};
        assert.equal(JSON.stringify(toFieldsV1(fromFieldsV1(fields))), JSON.stringify(fields));
      }
      assert.deepEqual(after(writes) ?? {}, live);
    }),
    runs,
  );
});
