import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podOf } from '../pod/pod-testing.ts';
import { ownerOf, runsAs } from './run-as.ts';

const nobody = { uid: 65_534, gid: 65_534 };
const node = {
  host: { user: { uid: 0, gid: 0 } },
  images: { userOf: (image: string) => (image === 'postgres' ? nobody : undefined) },
};

test('the user of an image is that of its own program, not of another command', () => {
  const own = { name: 'own', image: 'postgres', args: ['-c', 'fsync=off'] };
  const other = { name: 'other', image: 'postgres', command: ['sh', '-c', 'chown 5 /data'] };
  assert.deepEqual(runsAs(node, podOf(), own), nobody);
  assert.deepEqual(runsAs(node, podOf(), { ...own, command: [] }), nobody);
  assert.equal(runsAs(node, podOf(), other), undefined);
  const told = { ...other, securityContext: { runAsUser: 7 } };
  assert.deepEqual(runsAs(node, podOf(), told), { uid: 7, gid: 7 });
});

test('volumes belong to the first container that does not run as root', () => {
  const helper = { name: 'helper', image: 'host', command: ['true'] };
  const server = { name: 'server', image: 'postgres' };
  assert.deepEqual(ownerOf(node, podOf({ containers: [helper, server] })), nobody);
  assert.equal(ownerOf(node, podOf({ containers: [helper] })), undefined);
});
