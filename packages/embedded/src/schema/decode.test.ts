/** Pruning, nulls, defaults, and what strict validation says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CustomResourceSchema } from './custom-resource.ts';
import { coerceMetadata } from './embedded.ts';
import type { JsonSchema } from './json-schema.ts';
import { decoded, foo, object, schemas, values, withSpec } from './schema-testing.ts';
import { duplicateFields, strictDecodingError } from './strict.ts';

const text: JsonSchema = { type: 'string' };

test('what no schema knows is removed and named', () => {
  const spec = object({ a: object({ b: text }), l: { type: 'array', items: object({ x: text }) } });
  assert.deepEqual(decoded(spec, { a: { b: 'x', c: 1 }, d: 2, l: [{ x: 'a', y: 1 }, 5] }), {
    spec: { a: { b: 'x' }, l: [{ x: 'a' }, 5] },
    unknown: ['spec.a.c', 'spec.d', 'spec.l[0].y'],
  });
});

test('additionalProperties keep keys, and only a schema keeps what is below them', () => {
  const rows: readonly (readonly [JsonSchema, unknown, unknown])[] = [
    [
      { type: 'object', additionalProperties: true },
      { a: { b: 1 }, c: 2 },
      { a: {}, c: 2 },
    ],
    [{ type: 'object', additionalProperties: object({ b: text }) }, { a: { b: 'x', z: 1 } }, { a: { b: 'x' } }],
  ];
  for (const [spec, value, expected] of rows) assert.deepEqual(decoded(spec, value).spec, expected);
});

test('preserve-unknown-fields keeps all but what its own properties know better', () => {
  const keep: JsonSchema = { 'x-kubernetes-preserve-unknown-fields': true };
  const inner = object({ k: text });
  assert.deepEqual(decoded(object({ a: inner }, keep), { a: { k: 'x', z: 1 }, q: { r: 1 } }).spec, {
    a: { k: 'x' },
    q: { r: 1 },
  });
  const list: JsonSchema = { type: 'array', ...keep, items: object({ a: inner }) };
  assert.deepEqual(decoded(list, [{ a: { k: 'x', z: 1 }, q: 2 }]).spec, [{ a: { k: 'x' }, q: 2 }]);
});

test('embedded objects keep apiVersion, kind and known metadata', () => {
  const spec: JsonSchema = { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: object({}) } };
  const value = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', bogus: 1 }, spec: { a: 1 }, other: 2 };
  const result = decoded(spec, value);
  assert.deepEqual(result.spec, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: {} });
  assert.deepEqual(result.unknown.toSorted(), ['spec.metadata.bogus', 'spec.other', 'spec.spec.a']);
  const bad = foo({ apiVersion: 1, kind: 'Pod' });
  const { error } = new CustomResourceSchema(withSpec(spec)).decode(bad);
  assert.deepEqual(error, {
    type: 'FieldValueInvalid',
    field: 'spec.apiVersion',
    message: 'Invalid value: 1: must be a string',
  });
});

test('defaults fill what is missing, and nulls that are not allowed', () => {
  const spec = object({
    a: { type: 'string', default: 'd' },
    n: object({ x: { type: 'integer', default: 5 } }, { default: {} }),
    m: object({ y: { type: 'integer', default: 6 } }),
    free: { type: 'string', nullable: true, default: 'd' },
    gone: text,
  });
  assert.deepEqual(decoded(spec, { a: null, free: null, gone: null, m: {} }).spec, {
    a: 'd',
    free: null,
    n: { x: 5 },
    m: { y: 6 },
  });
  assert.deepEqual(decoded({ type: 'array', items: { type: 'string', default: 'z' } }, ['a', null]).spec, ['a', 'z']);
  const counts: JsonSchema = { type: 'object', additionalProperties: { type: 'integer', default: 3 } };
  assert.deepEqual(decoded(counts, { a: null, b: 1 }).spec, { a: 3, b: 1 });
});

test('a default is copied: changing one object does not change the next', () => {
  const schema = new CustomResourceSchema(withSpec(object({ l: { type: 'array', items: text, default: ['a'] } })));
  const one = foo({});
  schema.decode(one);
  (one['spec'] as { l: string[] }).l.push('b');
  const other = foo({});
  schema.decode(other);
  assert.deepEqual(other['spec'], { l: ['a'] });
});

test('property: decoding twice changes nothing more, and keeps what the root needs', () => {
  fc.assert(
    fc.property(schemas, values, (spec, value) => {
      const schema = new CustomResourceSchema(withSpec(spec));
      const made = foo(structuredClone(value));
      schema.decode(made);
      const again = structuredClone(made);
      const { unknown } = schema.decode(again);
      assert.deepEqual(again, made);
      assert.deepEqual(unknown, []);
      assert.deepEqual(made['metadata'], { name: 'x' });
    }),
    { numRuns: 150 },
  );
});

test('property: what was removed was not known, and all the rest is there', () => {
  fc.assert(
    fc.property(schemas, values, (spec, value) => {
      const { unknown } = decoded(spec, value);
      for (const path of unknown) assert.ok(path.startsWith('spec'), path);
      if (unknown.length === 0 && JSON.stringify(value).indexOf('null') < 0) {
        assert.ok(isPart(value, decoded(spec, value).spec));
      }
    }),
    { numRuns: 100 },
  );
});

/** Whether all of `one` is in `other`, which may have defaults more. */
function isPart(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || one === null) return Object.is(one, other);
  if (typeof other !== 'object' || other === null) return false;
  return Object.entries(one).every(([key, value]) => isPart(value, (other as Record<string, unknown>)[key]));
}

test('strict validation names fields given twice and unknown ones', () => {
  const body = '{"spec": {"a": 1, "b": [{"x": 1}, {"x": 1, "x": 2}], "a": "},\\"a\\":"}, "kind": "Foo", "kind": "Foo"}';
  assert.deepEqual(duplicateFields(body), ['spec.b[1].x', 'spec.a', 'kind']);
  assert.equal(
    strictDecodingError(['spec.a'], ['spec.x', 'spec.y']),
    'strict decoding error: duplicate field "spec.a", unknown field "spec.x", unknown field "spec.y"',
  );
  assert.equal(strictDecodingError([], []), undefined);
});

test('property: a text without repeated keys has none', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => assert.deepEqual(duplicateFields(JSON.stringify(value)), [])),
    { numRuns: 100 },
  );
});

test('metadata loses what it does not have, and complains about types', () => {
  const metadata = { name: 'x', labels: { a: 'b' }, ownerReferences: [{ name: 'o', uid: 'u', extra: 1 }], bogus: 1 };
  assert.deepEqual(coerceMetadata(metadata), { removed: ['ownerReferences[0].extra', 'bogus'] });
  assert.deepEqual(metadata, { name: 'x', labels: { a: 'b' }, ownerReferences: [{ name: 'o', uid: 'u' }] });
  assert.equal(
    coerceMetadata({ name: 1 }).problem,
    'json: cannot unmarshal number into Go struct field ObjectMeta.name of type string',
  );
});
