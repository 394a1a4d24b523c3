import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldChanges } from './field-changes.ts';

test('fields that differ are told with their paths, those that are alike are not', () => {
  const before = { spec: { replicas: 6, list: [{ image: 'a' }], same: { x: 1 }, gone: true }, text: 'one\ntwo' };
  const after = { spec: { replicas: 8, list: [{ image: 'b' }], same: { x: 1 }, came: ['z'] }, text: 'one\nthree' };
  assert.deepEqual(fieldChanges(before, after), [
    { path: 'spec.came', after: '["z"]' },
    { path: 'spec.gone', before: 'true' },
    { path: 'spec.list[0].image', before: 'a', after: 'b' },
    { path: 'spec.replicas', before: '6', after: '8' },
    { path: 'text', before: '…', after: '…' },
  ]);
  assert.deepEqual(fieldChanges(before, structuredClone(before)), []);
});
