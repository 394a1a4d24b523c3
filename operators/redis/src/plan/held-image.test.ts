import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLIENT_PORT } from './children.ts';
import { desiredOf } from './desired.ts';
import { heldImage } from './held-image.ts';
import { podMembers } from './pods.ts';
import { testPods } from './pods-testing.ts';
import { clusterNodes, type TestNode, viewOfNodes } from './testing.ts';

const SET = 'valkey:9.1.2';

/** Three primaries (p0, p1, p2) and a replica each, of Valkey 9.1.2 unless a test says otherwise. */
function members(
  nodes: Readonly<Record<string, Partial<TestNode>>> = {},
  images: Readonly<Record<number, string>> = {},
) {
  const all = clusterNodes({ primaries: 3, replicas: 1, nodes }).map((node) => ({ ...node, port: CLIENT_PORT }));
  return podMembers(
    testPods(all, (ordinal) => ({ image: images[ordinal] ?? SET })),
    viewOfNodes(all),
  );
}

function held(spec: object, changes: Partial<Parameters<typeof heldImage>[0]> = {}) {
  const desired = desiredOf({ primaries: 3, ...spec });
  const result = heldImage({ desired, members: members(), present: SET, isUntouched: false, ...changes });
  return result && [result.refused.code, result.image];
}

test('another product is held back, by the name of the image or by what the spec says of it', () => {
  const refused = ['MIXED_PRODUCTS', SET];
  assert.deepEqual(held({ product: 'redis' }), refused);
  assert.deepEqual(held({ product: 'redis', version: '8.0.2' }), refused);
  assert.deepEqual(held({ image: 'mirror.example/library/redis:8' }), refused);
  assert.deepEqual(held({ image: 'mirror.example/kv:1', product: 'redis' }), refused);
  assert.equal(held({ image: 'mirror.example/kv:1' }), undefined, 'nobody says what is in it');
  assert.equal(held({ image: 'mirror.example/kv:1', product: 'valkey' }), undefined);
  assert.equal(held({ version: '9.1.2' }), undefined);
});

test('a version older than that of a primary is held back; a newer one, a tag of the same, and a first set are not', () => {
  assert.deepEqual(held({ version: '9.1.1' }), ['UPGRADE_OLDER', SET]);
  assert.deepEqual(held({ image: 'valkey:8' }), ['UPGRADE_OLDER', SET]);
  for (const version of ['9', '9.1', '9.1.3', '10']) assert.equal(held({ version }), undefined, version);
  assert.equal(held({ version: '8' }, { present: undefined }), undefined);
});

test('what only a replica runs does not keep the spec from being set right', () => {
  const newer = members({ p0r0: { version: '9.2.0' } });
  assert.equal(held({ version: '9.1.2' }, { members: newer, present: 'valkey:9.2.0' }), undefined);
  const stray = members({ p0r0: { product: 'redis', version: '8.0.2' } });
  assert.equal(held({ version: '9.1.2' }, { members: stray, present: 'redis:8.0.2' }), undefined);
});

test('a set that was given it before keeps what those run who hold the data', () => {
  assert.deepEqual(held({ product: 'redis' }, { present: 'redis', members: members({}, { 5: 'redis' }) }), [
    'MIXED_PRODUCTS',
    SET,
  ]);
});

test('where nobody answers the name of what pods are made from says what they were, unless nothing was ever begun', () => {
  const silent = members().map(({ node: _node, ...pod }) => pod);
  assert.deepEqual(held({ product: 'redis' }, { members: silent }), ['MIXED_PRODUCTS', SET]);
  assert.equal(held({ product: 'redis' }, { members: silent, isUntouched: true }), undefined);
  assert.equal(held({ version: '9.0.0' }, { members: silent }), undefined, 'the newer one may never have worked');
});
