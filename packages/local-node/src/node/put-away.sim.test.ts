/** A machine is put away. What ended by itself before that has ended so, whoever had heard of it; what was ended for it is lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pods } from '../kinds/pod.ts';
import { Life } from './life-testing.ts';
import type { LocalNode } from './local-node.ts';
import { type MemoryNode, MemoryScene } from './memory-node-testing.ts';

const AGAIN = 'init/1 main/1';
const once = { restartPolicy: 'Never' } as const;

async function end(scene: MemoryScene, node: LocalNode): Promise<void> {
  await scene.during(node.endPods(new AbortController().signal));
  assert.deepEqual(scene.machine.running, []);
}

async function putAway(scene: MemoryScene, { node, stop }: MemoryNode): Promise<void> {
  await stop();
  await end(scene, node);
}

/** As `reeve down` does it when the control plane has ended: by a node of its own. How many pods there were to end. */
async function putAwayLater(scene: MemoryScene): Promise<number> {
  const node = await scene.openNode();
  const count = node.podKeys.length;
  await end(scene, node);
  return count;
}

/** Until the function is called that is given back. */
function hideStatus(scene: MemoryScene): () => void {
  const body = Buffer.from(JSON.stringify({ kind: 'Status', status: 'Failure', code: 500 }));
  const refused = { status: 500, headers: { 'content-type': 'application/json' }, body };
  scene.answer = ({ method, path }) => (method !== 'GET' && path.includes('/status') ? refused : undefined);
  return () => (scene.answer = () => undefined);
}

function exit(scene: MemoryScene, uid: string, code: number, container = 'main'): void {
  const isIt = (cookie = '') => cookie.includes(`${uid}/${container}/`);
  const programs = [...scene.machine.processes.values()].filter(({ folder }) => folder !== undefined);
  const found = programs.find(({ env }) => Object.values(env).some(isIt));
  assert.ok(found, `${container} runs`);
  scene.machine.exit(found.pid, code);
}

const phaseOf = (scene: MemoryScene, name: string) => scene.find(name)?.status?.phase;
const endOf = (scene: MemoryScene, name: string) => {
  const { exitCode, reason } = scene.find(name)?.status?.containerStatuses?.[0]?.state?.terminated ?? {};
  return [exitCode, reason];
};
const isOver = (scene: MemoryScene, name: string) => ['Succeeded', 'Failed'].includes(phaseOf(scene, name) ?? '');
const filesOf = (scene: MemoryScene, uid: string) => [...scene.machine.files.keys()].filter((one) => one.includes(uid));

test('a run that ended while nobody looked has ended as it did, also when its machine is put away before anybody hears of it', async () => {
  const scene = await MemoryScene.open();
  const first = await scene.start();
  const kinds = [
    ['good', once, 0],
    ['bad', once, 7],
    ['tried', { restartPolicy: 'OnFailure' }, 0],
  ] as const;
  const uids = new Map<string, string>();
  for (const [name, spec] of kinds) uids.set(name, await scene.create(name, spec));
  await scene.until(() => kinds.every(([name]) => scene.isReady(name)), 'they run');
  await first.stop();
  for (const [name, , code] of kinds) exit(scene, uids.get(name) ?? '', code);
  await scene.clock.advance(60_000);
  // Whoever does it twice finds nothing more to end.
  assert.deepEqual([await putAwayLater(scene), await putAwayLater(scene)], [3, 0]);
  const second = await scene.start();
  await scene.until(() => kinds.every(([name]) => isOver(scene, name)), 'they are over');
  assert.deepEqual(
    kinds.map(([name]) => [phaseOf(scene, name), ...endOf(scene, name)]),
    [
      ['Succeeded', 0, 'Completed'],
      ['Failed', 7, 'Error'],
      ['Succeeded', 0, 'Completed'],
    ],
  );
  // Nobody needs to keep what the API server has been told.
  const told = kinds.map(([name]) => scene.find(name)?.status);
  await putAway(scene, second);
  await scene.start();
  const isLeft = () => [...uids.values()].some((uid) => filesOf(scene, uid).length > 0);
  await scene.until(() => !isLeft(), 'nothing is left of them');
  assert.deepEqual(
    kinds.map(([name]) => scene.find(name)?.status),
    told,
  );
  for (const uid of uids.values()) assert.deepEqual(scene.begun(uid), ['main/0']);
});

test('a run that the API server never heard of does not run twice', async () => {
  const scene = await MemoryScene.open();
  const first = await scene.start();
  const show = hideStatus(scene);
  const uid = await scene.create('ends', once);
  const other = await scene.create('ended', once);
  await scene.until(() => scene.machine.running.length === 2, 'they run');
  exit(scene, uid, 0);
  await putAway(scene, first);
  assert.equal(scene.find('ends')?.status?.containerStatuses, undefined);
  show();
  await scene.start();
  await scene.until(() => isOver(scene, 'ends') && isOver(scene, 'ended'), 'they are over');
  assert.deepEqual([phaseOf(scene, 'ends'), ...endOf(scene, 'ends')], ['Succeeded', 0, 'Completed']);
  assert.deepEqual([phaseOf(scene, 'ended'), ...endOf(scene, 'ended')], ['Failed', 137, 'ContainerStatusUnknown']);
  for (const one of [uid, other]) assert.deepEqual(scene.begun(one), ['main/0']);
});

test('who is ended with his machine has not succeeded, however well he took it', async () => {
  const scene = await MemoryScene.open();
  const running = await scene.start();
  await scene.create('once', once);
  const uid = await scene.create('tried', { restartPolicy: 'OnFailure' });
  await scene.until(() => scene.isReady('once') && scene.isReady('tried'), 'they run');
  await putAway(scene, running);
  await scene.start();
  await scene.until(() => isOver(scene, 'once') && scene.isReady('tried'), 'one is over, the other runs');
  assert.deepEqual([phaseOf(scene, 'once'), ...endOf(scene, 'once')], ['Failed', 137, 'ContainerStatusUnknown']);
  assert.deepEqual(scene.begun(uid), ['main/0', 'main/1']);
});

test('a pod that took too long before its machine was put away is told as that', async () => {
  const scene = await MemoryScene.open();
  const first = await scene.start();
  await scene.create('late', { ...once, activeDeadlineSeconds: 60 });
  await scene.until(() => scene.isReady('late'), 'it runs');
  const show = hideStatus(scene);
  await scene.until(() => scene.machine.running.length === 0, 'it is ended');
  await putAway(scene, first);
  show();
  await scene.start();
  await scene.until(() => isOver(scene, 'late'), 'it is over');
  assert.equal(scene.find('late')?.status?.reason, 'DeadlineExceeded');
});

test('of a pod that was put away nothing is left when its object is gone', async () => {
  const scene = await MemoryScene.open();
  const first = await scene.start();
  const uid = await scene.create('a', {});
  const never = await scene.create('never', { containers: [{ name: 'main', image: 'no-such-image' }] });
  await scene.until(() => scene.isReady('a'), 'it runs');
  await putAway(scene, first);
  assert.deepEqual(filesOf(scene, never), [], 'it has had no run');
  assert.deepEqual(
    filesOf(scene, uid).map((path) => path.slice(path.indexOf(uid) + uid.length)),
    ['', '/record'],
  );
  await scene.api.client.resource(pods, 'default').delete('a', { gracePeriodSeconds: 0 });
  const { node } = await scene.start();
  await scene.until(() => filesOf(scene, uid).length === 0, 'its folder is gone');
  assert.ok(!node.podKeys.includes('default/a'));
});

test('on a full disk, what goes with the pods makes room for how they ended', async () => {
  for (const isWithout of [false, true]) {
    const scene = await MemoryScene.open();
    const first = await scene.start();
    const uid = await scene.create('a', once);
    await scene.create('b', {});
    await scene.until(() => scene.isReady('a') && scene.isReady('b'), 'they run');
    await first.stop();
    exit(scene, uid, 0);
    const isFull = () => isWithout || filesOf(scene, uid).some((path) => path.endsWith('/intent'));
    scene.refusal = (path) => (path.includes('/pods/') && isFull() ? 'ENOSPC' : undefined);
    await putAwayLater(scene);
    scene.refusal = () => undefined;
    await scene.start();
    await scene.until(() => isOver(scene, 'a') && scene.isReady('b'), 'one is over, the other runs');
    // Where there was no room at all, nobody knows, and that is no success.
    assert.equal(phaseOf(scene, 'a'), isWithout ? 'Failed' : 'Succeeded');
    assert.deepEqual(scene.begun(uid), ['main/0']);
  }
});

test('who dies while he puts a machine away leaves it to the next one: nothing is lost, twice or told wrong', async () => {
  for (let most = 1, isWhole = false; !isWhole; most++) {
    const scene = await MemoryScene.open();
    const first = await scene.start();
    const init = { name: 'init', command: ['exit', '0'] };
    const good = await scene.create('good', once);
    const bad = await scene.create('bad', once);
    const again = await scene.create('again', { volumes: [{ name: 'e', emptyDir: {} }], initContainers: [init] });
    await scene.until(() => ['good', 'bad', 'again'].every((name) => scene.isReady(name)), 'they run');
    const volume = filesOf(scene, again).find((path) => path.endsWith('/volumes/e')) ?? '';
    await scene.host.files.write(`${volume}/of-before`, '');
    await first.stop();
    exit(scene, good, 0);
    const life = new Life(most);
    const ended = scene.openNode(life.host(scene.host)).then((node) => node.endPods(new AbortController().signal));
    void ended.then(() => (isWhole = true));
    await scene.until(() => isWhole || life.isDead, 'it is done, or he is dead');
    await scene.start();
    const what = `after effect ${most}`;
    await scene.until(() => isOver(scene, 'good') && scene.isReady('again'), what);
    assert.deepEqual([phaseOf(scene, 'good'), ...endOf(scene, 'good')], ['Succeeded', 0, 'Completed'], what);
    assert.deepEqual([scene.begun(good), scene.begun(bad)], [['main/0'], ['main/0']], what);
    // Whoever was not asked yet goes on; and nobody has succeeded by being asked.
    assert.notEqual(phaseOf(scene, 'bad'), 'Succeeded', what);
    // Its volume is there or it is initialized again, and all of it goes only when nothing runs.
    const runs = scene.begun(again).slice(2).join(' ');
    assert.ok((isWhole ? [AGAIN] : ['', 'main/1', AGAIN]).includes(runs), `${what}: ${runs}`);
    assert.equal(
      scene.machine.files.has(`${volume}/of-before`),
      runs !== AGAIN,
      `${what}: what is initialized again is empty`,
    );
    if (isWhole) assert.ok(most > 10, what);
  }
});
