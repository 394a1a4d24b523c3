import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podOf } from './pod-testing.ts';
import { userOf } from './user.ts';

const root = { uid: 0, gid: 0 };
const spec = { securityContext: { runAsUser: 999, runAsGroup: 998 } };

test('a pod runs as whom it says where root runs the node, unless that is a user of its image', () => {
  assert.deepEqual(userOf(podOf(spec), undefined, root), { uid: 999, gid: 998 });
  assert.deepEqual(userOf(podOf({ securityContext: { runAsUser: 999 } }), undefined, root), { uid: 999, gid: 999 });
  assert.equal(userOf(podOf(spec), undefined, { uid: 1000, gid: 1000 }), undefined);
  assert.equal(userOf(podOf(), undefined, root), undefined);
  const ofImage = podOf(spec, { metadata: { annotations: { 'reeve.dev/run-as': 'node' } } });
  assert.equal(userOf(ofImage, undefined, root), undefined);
});

test('a program that refuses to be root runs as somebody else, unless the pod says as whom', () => {
  const nobody = { uid: 65_534, gid: 65_534 };
  assert.deepEqual(userOf(podOf(), undefined, root, nobody), nobody);
  assert.deepEqual(userOf(podOf(spec), undefined, root, nobody), { uid: 999, gid: 998 });
  assert.equal(userOf(podOf({ securityContext: { runAsUser: 0 } }), undefined, root, nobody), undefined);
  assert.equal(userOf(podOf(), undefined, { uid: 1000, gid: 1000 }, nobody), undefined);
  const ofImage = podOf(spec, { metadata: { annotations: { 'reeve.dev/run-as': 'node' } } });
  assert.deepEqual(userOf(ofImage, undefined, root, nobody), nobody);
});
