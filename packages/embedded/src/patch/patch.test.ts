import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, parseJson, stringifyJson } from '@reeve/kube';
import fc from 'fast-check';
import { checkCase } from '../cases/check-testing.ts';
import { patchCases } from '../cases/patch-cases-testing.ts';
import { strategicCases } from '../cases/strategic-cases-testing.ts';
import { thing } from '../cases/thing-testing.ts';
import { typesFor } from '../cases/world-testing.ts';
import type { JsonObject } from '../object/draft.ts';
import { jsonPatch } from './json-patch.ts';
import { mergePatch } from './merge-patch.ts';
import type { PatchResult } from './result.ts';
import { strategicMergePatch } from './strategic.ts';

const cases = [...patchCases, ...strategicCases];

for (const one of cases) test(one.name, () => checkCase(one));

const objectOf = (result: PatchResult): JsonObject => {
  assert.ok('object' in result, 'because' in result ? (result.because ?? '') : '');
  return result.object;
};

const big = '{"spec":{"number":9007199254740993,"numbers":[-9223372036854775808]}}';

test('integers beyond 2^53 survive every patch', () => {
  const object = parseJson(big) as JsonObject;
  const operations = parseJson(
    '[{"op":"copy","from":"/spec/number","path":"/spec/copy"},{"op":"test","path":"/spec/copy","value":9007199254740993},{"op":"add","path":"/spec/more","value":18446744073709551615}]',
  );
  assert.equal(
    stringifyJson(objectOf(jsonPatch(object, operations))),
    '{"spec":{"number":9007199254740993,"numbers":[-9223372036854775808],"copy":9007199254740993,"more":18446744073709551615}}',
  );
  assert.ok('status' in jsonPatch(object, [{ op: 'test', path: '/spec/number', value: 9007199254740992n }]));
  const merged = objectOf(mergePatch(object, parseJson('{"spec":{"more":9007199254740995}}')));
  assert.equal(
    stringifyJson(merged),
    '{"spec":{"number":9007199254740993,"numbers":[-9223372036854775808],"more":9007199254740995}}',
  );
});

test('patches change neither the object nor themselves', () => {
  const object = thing({ settings: { k: '1' }, words: ['a'] });
  const before = structuredClone(object);
  const operations: Json = [
    { op: 'add', path: '/spec/loose', value: { a: {} } },
    { op: 'add', path: '/spec/loose/a/b', value: 1 },
    { op: 'remove', path: '/spec/words/0' },
  ];
  const given = structuredClone(operations);
  objectOf(jsonPatch(object, operations));
  objectOf(mergePatch(object, { spec: { settings: { k: null } } }));
  const account: JsonObject = { apiVersion: 'v1', kind: 'ServiceAccount', secrets: [{ name: 'x' }] };
  const patch: JsonObject = {
    secrets: [{ name: 'x', $patch: 'delete' }],
    $retainKeys: ['secrets', 'kind', 'apiVersion'],
  };
  const patchBefore = structuredClone(patch);
  objectOf(strategicMergePatch(account, patch, typesFor('v1', 'ServiceAccount')));
  assert.deepEqual([object, operations, patch], [before, given, patchBefore]);
  assert.deepEqual(account['secrets'], [{ name: 'x' }]);
});

test('the prototype is out of reach', () => {
  const object = thing({ text: 'x' });
  for (const path of [
    '/__proto__',
    '/__proto__/polluted',
    '/spec/__proto__/polluted',
    '/constructor/prototype/polluted',
  ]) {
    assert.ok('status' in jsonPatch(object, [{ op: 'add', path, value: 'yes' }]), path);
  }
  assert.equal(({} as { polluted?: string }).polluted, undefined);
  assert.ok('object' in jsonPatch(object, [{ op: 'add', path: '/spec/constructor', value: 'a key like any other' }]));
});

test('copies are limited in bytes, depth and work', () => {
  const long = 'x'.repeat(100_000);
  const copies = Array.from({ length: 40 }, (_, n) => ({ op: 'copy', from: '/long', path: `/long${n}` }));
  const tooMuch = jsonPatch({ long }, copies);
  assert.ok('status' in tooMuch && /exceeding the limit 3145728/.test(tooMuch.because ?? ''));

  // Each copies the whole into its own depths: twice as deep every time.
  const nested: JsonObject = { a: { a: { a: { a: { a: {} } } } } };
  const inward = Array.from({ length: 12 }, (_, n) => ({ op: 'copy', from: '/a', path: '/a'.repeat(5 * 2 ** n + 1) }));
  const tooDeep = jsonPatch(nested, inward);
  assert.ok(
    'status' in tooDeep && /deeper than 500/.test(tooDeep.because ?? ''),
    'because' in tooDeep ? tooDeep.because : '',
  );

  const wide = { list: Array.from({ length: 20_000 }, () => ({})) };
  const tests = Array.from({ length: 10_000 }, () => ({ op: 'test', path: '/list', value: wide.list }));
  const tooLong = jsonPatch(wide, tests);
  assert.ok('status' in tooLong && tooLong.status.code === 413);
});

test('long lists are merged in time', () => {
  const types = typesFor('v1', 'ServiceAccount');
  const names = (prefix: string) => Array.from({ length: 5_000 }, (_, n) => ({ name: `${prefix}${n}` }));
  const patch = { secrets: names('b'), '$setElementOrder/secrets': [...names('b')].reverse().reverse() };
  const result = strategicMergePatch({ apiVersion: 'v1', kind: 'ServiceAccount', secrets: names('a') }, patch, types);
  assert.equal((objectOf(result)['secrets'] as Json[]).length, 10_000);
});

test('fields of an operation that mean nothing are told of', () => {
  const result = jsonPatch({}, [{ op: 'add', path: '/a', value: 1, vlaue: 2 }]);
  assert.deepEqual('strictErrors' in result && result.strictErrors, ['json patch unknown field "[0].vlaue"']);
});

test('custom kinds have no strategic merge patch', () => {
  const result = strategicMergePatch(thing({}), {}, typesFor('example.com/v1', 'Thing'));
  assert.ok('status' in result && result.status.code === 400);
});

const json = fc
  .jsonValue({ maxDepth: 3 })
  .filter((value) => !JSON.stringify(value).includes('__proto__')) as fc.Arbitrary<Json>;
const object = fc.dictionary(fc.constantFrom('a', 'b', 'c'), json, {
  noNullPrototype: true,
}) as fc.Arbitrary<JsonObject>;

test('a merge patch again changes nothing, and null removes', () => {
  fc.assert(
    fc.property(object, object, (before, patch) => {
      // The second time may still take nulls out of lists that replaced an object; the server has it so.
      const once = objectOf(mergePatch(objectOf(mergePatch(before, patch)), patch));
      assert.deepEqual(objectOf(mergePatch(once, patch)), once);
      for (const [key, value] of Object.entries(patch)) if (value === null) assert.ok(!Object.hasOwn(once, key));
    }),
  );
});

test('what was added can be tested, and removed without a trace', () => {
  fc.assert(
    fc.property(object, json, (before, value) => {
      const added = objectOf(
        jsonPatch(before, [
          { op: 'add', path: '/new~1key', value },
          { op: 'test', path: '/new~1key', value },
        ]),
      );
      assert.deepEqual(added, { ...before, 'new/key': value });
      assert.deepEqual(objectOf(jsonPatch(added, [{ op: 'remove', path: '/new~1key' }])), before);
    }),
  );
});
