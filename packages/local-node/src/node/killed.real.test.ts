/** A node that is killed at any moment: the next one goes on, and nothing is started twice. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually, isReady, NodeScene, TOKEN } from './node-testing.ts';

const child = new URL('./node-child-testing.ts', import.meta.url).pathname;
const ROUNDS = 4;
const PODS_PER_ROUND = 4;

test('kill -9 of the node while pods begin: each container begins once, and all become ready', async (t) => {
  const scene = await NodeScene.open(t);
  const url = await scene.serve();
  const start = () => {
    const process_ = spawn(process.execPath, [child, String(url), TOKEN, join(scene.folder, 'here')], {
      stdio: 'inherit',
    });
    scene.atEnd(() => kill(process_));
    return process_;
  };
  const names: string[] = [];
  let node = start();
  await eventually(() => scene.host.files.read(join(scene.folder, 'here', 'owner')), 'it has taken its folder');
  await assert.rejects(scene.start(), { code: 'NODE_FOLDER_IN_USE' });
  for (let round = 0; round < ROUNDS; round++) {
    const wanted = names.length + 1 + round; // another number of pods has begun each time
    for (let one = 0; one < PODS_PER_ROUND; one++) {
      const name = `p${round}-${one}`;
      names.push(name);
      const script = `echo begun >>${join(scene.folder, name)}; trap "exit 0" TERM; while :; do sleep 0.05; done`;
      await scene.create(name, { containers: [{ name: 'main', command: ['sh', '-c', script] }] });
    }
    await eventually(async () => (await begun(scene, names)) >= Math.min(wanted, names.length), 'some have begun');
    await kill(node);
    node = start();
  }
  await eventually(async () => {
    const pods = await Promise.all(names.map((name) => scene.find(name)));
    return pods.every((pod) => pod && isReady(pod));
  }, 'all are ready');
  for (const name of names) {
    const pod = await scene.find(name);
    assert.equal(pod?.status?.containerStatuses?.[0]?.restartCount, 0, name);
    assert.equal(await readFile(join(scene.folder, name), 'utf8'), 'begun\n', name);
  }
  const addresses = await Promise.all(names.map(async (name) => (await scene.find(name))?.status?.podIP));
  assert.equal(new Set(addresses).size, names.length, 'no address twice');
});

async function begun(scene: NodeScene, names: readonly string[]): Promise<number> {
  const files = await Promise.all(names.map((name) => readFile(join(scene.folder, name), 'utf8').catch(() => '')));
  return files.filter((text) => text !== '').length;
}

async function kill(child_: ReturnType<typeof spawn>): Promise<void> {
  if (child_.exitCode !== null || child_.signalCode !== null) return;
  const ended = once(child_, 'exit');
  child_.kill('SIGKILL');
  await ended;
}

test('what the API server tells of a pod, and the machine does not know, has ended', async (t) => {
  const scene = await NodeScene.open(t);
  const first = await scene.start();
  const counter = join(scene.folder, 'counter');
  const command = ['sh', '-c', `echo x >>${counter}; trap "exit 0" TERM; while :; do sleep 0.05; done`];
  await scene.create('job', { restartPolicy: 'Never', containers: [{ name: 'main', command }] });
  await scene.ready('job');
  await first.stop();
  await scene.host.files.remove(join(scene.folder, 'here'));
  await scene.start();
  const pod = await scene.until('job', ({ status }) => status?.phase === 'Failed', 'it failed');
  const { terminated } = pod.status?.containerStatuses?.[0]?.state ?? {};
  assert.deepEqual([terminated?.exitCode, terminated?.reason], [137, 'ContainerStatusUnknown']);
  assert.equal(await readFile(counter, 'utf8'), 'x\n', 'it did not run again');
  await eventually(() => scene.processes().length === 0, 'and nothing of it runs');
});
