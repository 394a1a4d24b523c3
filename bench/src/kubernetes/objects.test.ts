import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectOf } from './objects.ts';

test('objects are as large as the bars say once the server has added its part', () => {
  const length = (value: object): number => JSON.stringify(value).length;
  assert.ok(length(objectOf('widgets', 12_345)) > 2_000 && length(objectOf('widgets', 0)) < 3_000);
  assert.ok(length(objectOf('pods', 12_345)) > 3_500 && length(objectOf('pods', 0)) < 9_000);
});
