import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Json, parseJson } from '../json/parse.ts';
import { stringifyJson } from '../json/stringify.ts';
import { heldValues, lazyAnswer, lazyList, lazyObject } from './lazy.ts';
import type { KubeObject } from './object.ts';

const bytesOf = (text: string): Buffer => Buffer.from(text);

const pod = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'a', managedFields: [{ manager: 'm', fieldsV1: { 'f:spec': { '}],"': {} } } }], uid: 'u' },
  spec: { nodeName: 'é', big: 1 },
  status: { phase: 'Running' },
  immutable: true,
};

const text = '"\\"}]{[,:\\\\';
const key = fc.oneof(fc.string(), fc.constantFrom('managedFields', 'metadata', 'a', text, '\\', '"', 'é😀', ']', '},'));
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).filter((one) => !Number.isSafeInteger(Number(one))),
    fc.integer(),
    key,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      key.filter((one) => one !== '__proto__'),
      tie('value'),
      { maxKeys: 4, noNullPrototype: true },
    ) as fc.Arbitrary<Json>,
  ),
}));
const metadata = fc.dictionary(
  key.filter((one) => one !== '__proto__'),
  value,
  { maxKeys: 5, noNullPrototype: true },
);
const object = fc
  .tuple(
    metadata,
    fc.dictionary(fc.constantFrom('spec', 'status', 'kind', 'data', 'rules', 'x1'), value, { noNullPrototype: true }),
    fc.boolean(),
  )
  .map(([meta, fields, isFirst]) => (isFirst ? { metadata: meta, ...fields } : { ...fields, metadata: meta }));

/** What parsing and deleting gives. */
function expected(written: string, drop: boolean): Json {
  const whole = parseJson(written) as { metadata: Record<string, Json> };
  if (drop) delete whole.metadata.managedFields;
  return whole as unknown as Json;
}

test('any object, with managed fields or without, reads as if it had been parsed as a whole', () => {
  fc.assert(
    fc.property(object, fc.boolean(), (one, drop) => {
      const written = stringifyJson(one);
      const lazy = lazyAnswer(bytesOf(`${written}\n`), drop);
      assert.ok(lazy, written);
      assert.deepEqual(lazy, expected(written, drop));
      assert.equal(stringifyJson(lazy), stringifyJson(expected(written, drop)), 'and its fields are in the same order');
    }),
  );
});

test('any list reads as if it had been parsed as a whole', () => {
  fc.assert(
    fc.property(fc.array(object, { maxLength: 4 }), fc.boolean(), (items, isLast) => {
      const head = { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '9' } };
      const written = stringifyJson(isLast ? { ...head, items } : { items, ...head });
      assert.deepEqual(lazyList(bytesOf(written), false), parseJson(written));
    }),
  );
});

test('whatever bytes come, it is undefined, or what the parser makes of them', () => {
  const piece = fc.constantFrom(
    ...['{', '}', '[', ']', ',', ':', '"', '\\', ' ', '"a"', '"a":1', '"metadata":{}', '"metadata":{"managedFields":'],
    ...[
      '"spec":{"a":1}',
      '"__proto__":{}',
      '"m\\u0061naged":1',
      'null',
      '1',
      '-',
      'tru',
      '{}',
      '[]',
      '"managedFields":[],',
    ],
  );
  const nearly = fc.array(piece, { maxLength: 6 }).map((pieces) => `{"metadata":{},${pieces.join('')}}`);
  const soup = fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join(''));
  const outcome = (read: () => unknown): string => {
    try {
      return stringifyJson(read());
    } catch {
      return 'refused';
    }
  };
  fc.assert(
    fc.property(fc.oneof(soup, nearly), (written) => {
      const lazy = lazyAnswer(bytesOf(written), true);
      if (lazy === undefined) return;
      // Managed fields are dropped unread, broken or not.
      if (written.includes('"managedFields":') && outcome(() => expected(written, true)) === 'refused') return;
      // What a field is made of is found when it is read.
      assert.equal(
        outcome(() => lazy),
        outcome(() => expected(written, true)),
        written,
      );
    }),
    { numRuns: 500 },
  );
});

test('what is not in the form that servers write is left to the parser', () => {
  for (const written of [
    '{"kind":"Pod"}',
    '{"metadata":[]}',
    '{"metadata": {}}',
    '{"metadata":{},"spec":{},"spec":{}}',
    '{"metadata":{},"metadata":{}}',
    '{"metadata":{"managedFields":[],"managedFields":[]}}',
    '{"metadata":{"a":1,"a":2}}',
    '{"metadata":{},"__proto__":{}}',
    '{"metadata":{},"sp\\u0065c":{}}',
    '{"metadata":{},"kind":tru}',
    '{"metadata":{}} x',
    '{"metadata":{},"spec":{}',
  ]) {
    assert.equal(lazyAnswer(bytesOf(written), true), undefined, written);
  }
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`field${index}`, {}]));
  assert.equal(lazyAnswer(bytesOf(JSON.stringify({ metadata: {}, ...many })), true), undefined);
});

test('a field is parsed when it is read, once, and stays the same', () => {
  const lazy = lazyAnswer(bytesOf(JSON.stringify(pod)), true) as KubeObject & typeof pod;
  assert.deepEqual(heldValues(lazy).slice(0, 2), [JSON.stringify(pod.spec), JSON.stringify(pod.status)]);
  assert.equal(lazy.spec, lazy.spec);
  assert.deepEqual(heldValues(lazy).slice(0, 2), [pod.spec, JSON.stringify(pod.status)]);
  assert.deepEqual(Object.keys(lazy), ['kind', 'apiVersion', 'metadata', 'spec', 'status', 'immutable']);
  assert.deepEqual({ ...lazy }, { ...pod, metadata: { name: 'a', uid: 'u' } });
  assert.equal(structuredClone(Object.freeze(lazy)).status.phase, 'Running');
  assert.throws(() => Object.assign(lazy, { spec: {} }), TypeError);
});

test('a field that is no JSON is refused when it is read', () => {
  const lazy = lazyAnswer(bytesOf('{"metadata":{"name":"a"},"spec":{"a":1,"a":2}}'), true) as KubeObject & {
    spec: object;
  };
  assert.equal(lazy.metadata.name, 'a');
  assert.throws(() => lazy.spec, { code: 'KUBE_JSON' });
});

test('an object is found in the middle of other bytes', () => {
  const written = JSON.stringify(pod);
  const lazy = lazyObject(bytesOf(`[1,${written},2]`), 3, false);
  assert.equal(lazy?.end, 3 + Buffer.byteLength(written));
  assert.deepEqual(lazy?.object, pod);
});
