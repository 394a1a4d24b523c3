import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyOf, type Draft, draftOf } from './draft.ts';

const read = (spec: Draft['metadata']) => draftOf(bodyOf({ metadata: { name: 'it' }, spec }, '7')).spec;

test('what is stored is read back as it was, whatever was read before', () => {
  // V8 takes the second key for the first unless somebody looks; see parseJson.
  for (const key of ['\\', '"', '\n', '\\"']) assert.deepEqual(read({ a: null, [key]: 1 }), { a: null, [key]: 1 });
  assert.deepEqual(read({ large: 9223372036854775807n, text: '\\ and "' }), {
    large: 9223372036854775807n,
    text: '\\ and "',
  });
});
