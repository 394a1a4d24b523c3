/** Fewer nodes than the last time: what is on the others goes on, and nothing new gets there. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Node, nodes, type Pod, pods, volumeClaims } from '@reeve/local-node';
import { REEVE, until } from '@reeve/rig';
import { Machine, PATIENCE } from './plane-testing.ts';

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64' };
const forever = ['sh', '-c', 'trap "exit 0" TERM; while :; do sleep 0.05; done'];

const podOf = (name: string, spec: Partial<Pod['spec']>) => ({
  metadata: { name },
  spec: { containers: [{ name: 'main', image: 'host', command: forever }], ...spec },
});
const isReady = ({ status }: Pod) =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;

test('a node beyond those that are wanted is run and cordoned, taken back, or removed when it is empty', async (t) => {
  const machine = Machine.start(t);
  const api = async () => (await machine.client()).resource(pods, 'default');
  const ready = async (name: string) =>
    until(
      `${name} is ready`,
      async () => (await (await api()).list()).items.some((one) => one.metadata.name === name && isReady(one)),
      PATIENCE,
    );
  const nodeNamed = async (name: string): Promise<Node | undefined> =>
    (await machine.client()).resource(nodes).find(name);
  const again = async (...args: readonly string[]) => {
    await machine.down('SIGTERM');
    return machine.up(...args);
  };

  await machine.up('--nodes', '3');
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
  };
  await (await machine.client()).resource(volumeClaims, 'default').create(claim);
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
  const there = { 'kubernetes.io/hostname': 'node-3' };
  await (await api()).create(podOf('stays', { volumes, nodeSelector: there }));
  await ready('stays');
  const { labels } = (await nodeNamed('node-3'))?.metadata ?? {};
  assert.equal(labels?.['kubernetes.io/arch'], ARCHITECTURES[process.arch] ?? process.arch);
  const before = await machine.lasting();

  const said = await again('--nodes', '2');
  assert.match(said, /nodes +2, .*1 pod taken over/);
  assert.match(
    said,
    /node-3 .* takes no new pods; it goes on for 1 pod\. .*--nodes 3 takes it back and .* 1 volume bound to it/,
  );
  assert.deepEqual(await machine.lasting(), before, 'the same process');
  assert.equal((await nodeNamed('node-3'))?.spec?.unschedulable, true);
  const names = ['new-1', 'new-2', 'new-3'];
  const nodeSelector = { 'kubernetes.io/arch': labels?.['kubernetes.io/arch'] ?? '', 'kubernetes.io/os': 'linux' };
  for (const name of names) await (await api()).create(podOf(name, { nodeSelector }));
  for (const name of names) await ready(name);
  const placed = (await (await api()).list()).items.filter(({ metadata }) => names.includes(metadata.name));
  assert.ok(!placed.some(({ spec }) => spec?.nodeName === 'node-3'));

  assert.doesNotMatch(await again('--nodes', '3'), /takes no new pods/);
  await until('it is taken back', async () => (await nodeNamed('node-3'))?.spec?.unschedulable === undefined, PATIENCE);

  assert.match(await again('--nodes', '2'), /node-3 .* takes no new pods/);
  await (await api()).delete('stays');
  await until('it has ended', async () => (await (await api()).find('stays')) === undefined, PATIENCE);
  assert.ok(!(await machine.lasting()).some((pid) => before.includes(pid)));
  // Its data is there, and its node takes nothing new.
  await (await api()).create(podOf('anew', { volumes }));
  const isRefused = (pod: Pod | undefined) =>
    pod?.status?.conditions?.some(({ type, status: is }) => type === 'PodScheduled' && is === 'False') === true;
  await until('it waits', async () => isRefused(await (await api()).find('anew')), PATIENCE);
  await (await api()).delete('anew');

  const foreign = ['lost+found', 'node-9', 'elsewhere/pods'].map((name) => join(machine.data, 'nodes', name));
  for (const folder of foreign) mkdirSync(folder, { recursive: true });
  assert.doesNotMatch(await again('--nodes', '2'), /node-3/);
  assert.equal(await nodeNamed('node-3'), undefined);
  assert.ok(!existsSync(join(machine.data, 'nodes', 'node-3')));
  await machine.down('SIGTERM');
  const { status, stderr } = spawnSync(process.execPath, [REEVE, 'down', '--data', machine.data], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  await machine.up('--nodes', '2');
  for (const folder of foreign) assert.ok(existsSync(folder), folder);
  assert.deepEqual(readdirSync(join(machine.data, 'nodes', 'node-9')), [], 'nobody has opened it');
});
