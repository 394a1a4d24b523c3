import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { keyOf } from './object.ts';
import { apiVersionOf, resource, resourcePath, splitApiVersion } from './resource.ts';
import { compareVersions, isAtLeast } from './version.ts';

test('resource versions compare as integers of any size', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 80n }), fc.bigInt({ min: 0n, max: 2n ** 80n }), (a, b) => {
      const expected = a < b ? -1 : a > b ? 1 : 0;
      assert.equal(Math.sign(compareVersions(`${a}`, `${b}`) ?? Number.NaN), expected);
      assert.equal(isAtLeast(`${a}`, `${b}`), a >= b);
    }),
  );
});

test('versions that are no integers are equal or not comparable, and fail open', () => {
  assert.equal(compareVersions('x', 'x'), 0);
  for (const odd of ['x', '', '01', '-1', '1.5', '1e3']) {
    assert.equal(compareVersions(odd, '7'), undefined, odd);
    assert.ok(isAtLeast(odd, '7') && isAtLeast('7', odd), odd);
  }
});

test('paths of objects, collections and subresources', () => {
  const pods = resource({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true });
  const nodes = resource({ group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false });
  const sets = resource({
    group: 'apps',
    version: 'v1',
    plural: 'statefulsets',
    kind: 'StatefulSet',
    namespaced: true,
  });
  assert.equal(resourcePath(pods, undefined), '/api/v1/pods');
  assert.equal(resourcePath(pods, 'a', 'b'), '/api/v1/namespaces/a/pods/b');
  assert.equal(resourcePath(nodes, undefined, 'n:1'), '/api/v1/nodes/n%3A1');
  assert.equal(resourcePath(sets, 'a', 'b', 'scale'), '/apis/apps/v1/namespaces/a/statefulsets/b/scale');
  assert.equal(resourcePath(pods, 'a', 'b/../c'), '/api/v1/namespaces/a/pods/b%2F..%2Fc');
  for (const bad of ['', '.', '..']) assert.throws(() => resourcePath(pods, 'a', bad), RangeError);
});

test('apiVersion in both directions, and keys', () => {
  for (const apiVersion of ['v1', 'apps/v1', 'redis.reeve.dev/v1alpha1']) {
    assert.equal(apiVersionOf(splitApiVersion(apiVersion)), apiVersion);
  }
  assert.equal(keyOf({ metadata: { name: 'a', namespace: 'n' } }), 'n/a');
  assert.equal(keyOf({ metadata: { name: 'a' } }), 'a');
});
