/** A disk on which nothing more can be written, for a moment or for good. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pods } from '../kinds/pod.ts';
import { MemoryScene } from './memory-node-testing.ts';

const changeImage = (scene: MemoryScene) =>
  scene.api.client.resource(pods, 'default').patch('a', {
    type: 'json',
    value: [{ op: 'replace', path: '/spec/containers/0/image', value: 'host:2' }],
  });

test('a pod that is deleted on a full disk ends in its time, asked first, and goes', async () => {
  const scene = await MemoryScene.open();
  await scene.start();
  await scene.create('a', {});
  await scene.until(() => scene.isReady('a'), 'it runs');
  scene.refusal = () => 'ENOSPC';
  const since = scene.clock.now();
  await scene.api.client.resource(pods, 'default').delete('a');
  await scene.until(() => scene.find('a') === undefined, 'it is gone');
  assert.ok(scene.clock.now() - since < 5_000, 'it was asked, and not killed after 30 s');
  assert.deepEqual(scene.machine.running, []);
});

test('a container that is to end is asked again when that could not be written down', async () => {
  const scene = await MemoryScene.open();
  await scene.start();
  const uid = await scene.create('a', {});
  await scene.until(() => scene.isReady('a'), 'it runs');
  let failures = 0;
  scene.refusal = (path) => (path.endsWith('/stop') && failures++ < 2 ? 'EIO' : undefined);
  await changeImage(scene);
  await scene.until(() => scene.begun(uid).length === 2, 'it runs with the other image');
  assert.equal(failures, 3);
});

test('a container that is to end ends and runs again on a disk that has no room for saying so', async () => {
  const scene = await MemoryScene.open();
  await scene.start();
  const uid = await scene.create('a', {});
  await scene.until(() => scene.isReady('a'), 'it runs');
  scene.refusal = (path) => (path.endsWith('/stop') ? 'ENOSPC' : undefined);
  await changeImage(scene);
  await scene.until(() => scene.begun(uid).length === 2, 'it runs with the other image');
});
