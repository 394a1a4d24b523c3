import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalJson, digest } from './digest.ts';

function reversedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversedKeys);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, reversedKeys(inner)]),
  );
}

test('equal values have equal digests whatever the order of their keys', () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.string().filter((key) => key !== '__proto__'),
        fc.jsonValue(),
      ),
      (value) => {
        assert.equal(digest(value), digest(reversedKeys(value)));
      },
    ),
  );
});

test('different values have different digests', () => {
  assert.notEqual(digest({ a: 1 }), digest({ a: 2 }));
  assert.notEqual(digest([1, 2]), digest([2, 1]));
});

test('a digest carries the version of its algorithm', () => {
  assert.match(digest({}), /^v1-[0-9a-f]{16}$/);
});

test('canonical JSON sorts keys at every depth and leaves out undefined', () => {
  assert.equal(canonicalJson({ b: [{ d: 1, c: 2 }], a: undefined }), '{"b":[{"c":2,"d":1}]}');
});
