/** The machine is started anew, or put away in between: pods begin again, from their first init container. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryScene } from './memory-node-testing.ts';

const spec = {
  volumes: [{ name: 'e', emptyDir: {} }],
  initContainers: [
    { name: 'side', command: ['forever'], restartPolicy: 'Always' },
    { name: 'init', command: ['exit', '0'] },
  ],
} as const;
const FIRST = ['side/0', 'init/0', 'main/0'];
const SECOND = ['side/1', 'init/1', 'main/1'];
const countsOf = (scene: MemoryScene, name: string) => {
  const { initContainerStatuses = [], containerStatuses = [] } = scene.find(name)?.status ?? {};
  return [...initContainerStatuses, ...containerStatuses].map(({ restartCount }) => restartCount);
};

test('after a restart of the machine a pod is initialized again, and what ran once does not run twice', async () => {
  const scene = await MemoryScene.open();
  const first = await scene.start();
  const uid = await scene.create('a', spec);
  const once = await scene.create('once', { ...spec, restartPolicy: 'Never' });
  await scene.until(() => scene.isReady('a') && scene.isReady('once'), 'they run');
  await first.stop();
  scene.machine.restart();
  const second = await scene.start();
  await scene.until(() => scene.begun(uid).length === 2 * FIRST.length && scene.isReady('a'), 'it runs again');
  await scene.until(() => scene.find('once')?.status?.phase === 'Failed', 'the other one has failed');
  assert.deepEqual(scene.begun(uid), [...FIRST, ...SECOND]);
  assert.deepEqual(scene.begun(once), FIRST);
  assert.deepEqual(countsOf(scene, 'a'), [1, 1, 1]);
  // Another node of the same start finds it as it is.
  await second.stop();
  await scene.start();
  await scene.clock.advance(60_000);
  assert.deepEqual(scene.begun(uid), [...FIRST, ...SECOND]);
  assert.ok(scene.isReady('a'));
});

test('a machine that is put away while a pod is initialized again goes on from there', async () => {
  const scene = await MemoryScene.open();
  const putAway = async ({ node, stop }: Awaited<ReturnType<MemoryScene['start']>>) => {
    await stop();
    await scene.during(node.endPods(new AbortController().signal));
  };
  let running = await scene.start();
  const uid = await scene.create('a', {
    ...spec,
    initContainers: [...spec.initContainers, { name: 'long', command: ['forever'] }],
  });
  const exitLong = () => {
    const cookie = (env: Readonly<Record<string, string>>) =>
      Object.values(env).some((one) => one.includes(`${uid}/long/`));
    const found = [...scene.machine.processes.values()].find(({ env, folder }) => folder !== undefined && cookie(env));
    scene.machine.exit(found?.pid ?? 0, 0);
  };
  await scene.until(() => scene.begun(uid).length === 3, 'the last init container runs');
  exitLong();
  await scene.until(() => scene.isReady('a'), 'it runs');
  for (const times of [1, 2]) {
    await putAway(running);
    running = await scene.start();
    await scene.until(() => scene.begun(uid).at(-1) === `long/${times}`, 'it is initialized again');
  }
  assert.equal(scene.find('a')?.status?.phase, 'Pending');
  exitLong();
  await scene.until(() => scene.isReady('a'), 'it runs again');
  // Its own container has not run in between.
  assert.deepEqual(countsOf(scene, 'a'), [2, 2, 2, 1]);
});
