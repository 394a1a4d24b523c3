/** The control plane as a user has it: a process, a kubeconfig, pods that are processes and outlive it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type AnyObject, resource } from '@reeve/kube';
import { type Pod, pods } from '@reeve/local-node';
import { REEVE, until } from '@reeve/rig';
import { Machine, PATIENCE, tryToKill } from './plane-testing.ts';

const statefulSets = resource({
  group: 'apps',
  version: 'v1',
  plural: 'statefulsets',
  kind: 'StatefulSet',
  namespaced: true,
});
const nodes = resource({ group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false });
const SCRIPT = 'trap "exit 0" TERM; echo $HOSTNAME >>"$DATA/starts"; while :; do sleep 0.05; done';

const web: AnyObject & { readonly metadata: { readonly name: string } } = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'web' },
  spec: {
    replicas: 2,
    serviceName: 'web',
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' }, annotations: { 'reeve.dev/relocatable': 'true' } },
      spec: {
        terminationGracePeriodSeconds: 5,
        containers: [
          {
            name: 'main',
            image: 'host',
            command: ['sh', '-c', SCRIPT],
            env: [{ name: 'DATA', value: '/srv/data' }],
            volumeMounts: [{ name: 'data', mountPath: '/srv/data' }],
          },
        ],
      },
    },
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ],
  },
};

const isReady = ({ status }: Pod) =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
const runsOf = (list: readonly Pod[]) =>
  list.map(({ metadata, status }) => `${metadata.name} ${status?.containerStatuses?.[0]?.containerID ?? ''}`).sort();

test('a declared StatefulSet runs as processes, which outlive the control plane and come back when they are killed', async (t) => {
  const machine = Machine.start(t);
  const said = await machine.up('--nodes', '2', '--zones', 'a,b');
  assert.match(said, /nodes +2 in zones a, b, pods as processes/);
  assert.equal(statSync(join(machine.data, 'kubeconfig')).mode & 0o077, 0, 'the token is nobody else’s');
  const listed = async () => (await (await machine.client()).resource(pods, 'default').list()).items;
  const ready = (count: number) =>
    until(`${count} pods are ready`, async () => (await listed()).filter(isReady).length === count, PATIENCE);
  const zones = await until(
    'both nodes are there',
    async () => {
      const { items } = await (await machine.client()).resource(nodes).list();
      const found = items.map(({ metadata }) => metadata.labels?.['topology.kubernetes.io/zone']);
      return found.length === 2 && found;
    },
    PATIENCE,
  );
  assert.deepEqual(zones.sort(), ['a', 'b']);

  await (await machine.client()).resource(statefulSets, 'default').create(web);
  await ready(2);
  const [before, runs] = [await machine.lasting(), runsOf(await listed())];
  assert.equal(new Set((await listed()).map(({ status }) => status?.podIP)).size, 2, 'each has an address of its own');

  await machine.down('SIGKILL');
  const again = await machine.up('--nodes', '2', '--zones', 'a,b');
  assert.match(again, /2 pods taken over/);
  assert.deepEqual(await machine.lasting(), before, 'the same processes');
  await ready(2);
  assert.deepEqual(runsOf(await listed()), runs);

  for (const pid of before) tryToKill(pid);
  await until(
    'both were started again',
    async () => {
      const now = await listed();
      return now.every((pod) => isReady(pod) && pod.status?.containerStatuses?.[0]?.restartCount === 1);
    },
    PATIENCE,
  );

  await (await machine.client()).resource(statefulSets, 'default').delete('web');
  await until('the pods are gone', async () => (await listed()).length === 0, PATIENCE);
  await until('their processes are gone', () => Promise.resolve(machine.processes().length === 0), PATIENCE);
  assert.equal(await machine.down('SIGTERM'), 0);
});

test('zones of a folder become what the next start asks for', async (t) => {
  const machine = Machine.start(t);
  const zones = async () =>
    (await (await machine.client()).resource(nodes).list()).items.map(
      ({ metadata }) => metadata.labels?.['topology.kubernetes.io/zone'],
    );
  await machine.up('--nodes', '2', '--zones', 'a,b');
  assert.deepEqual(await zones(), ['a', 'b']);
  await machine.down('SIGTERM');
  assert.match(await machine.up('--nodes', '2', '--zones', 'c,d'), /nodes +2 in zones c, d, pods/);
  assert.deepEqual(await zones(), ['c', 'd']);
});

async function refusal(data: string): Promise<{ readonly code: number | null; readonly said: string }> {
  const plane = spawn(process.execPath, [REEVE, 'up', '--data', data], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  plane.stderr.setEncoding('utf8').on('data', (text) => (said += text));
  const [code] = (await once(plane, 'close')) as [number | null];
  return { code, said };
}

test('a folder that is in use, and one of a newer version, are refused', async (t) => {
  const machine = Machine.start(t);
  await machine.up('--nodes', '1');
  const inUse = await refusal(machine.data);
  assert.equal(inUse.code, 3, inUse.said);
  assert.match(
    inUse.said,
    /`reeve up`, process \d+, has \S+ in use; `reeve down --data \S+` ends it.*\[PLANE_RUNNING\]/,
  );
  await machine.down('SIGTERM');
  writeFileSync(join(machine.data, 'version'), '99\n');
  const newer = await refusal(machine.data);
  assert.equal(newer.code, 2, newer.said);
  assert.match(newer.said, /newer reeve .*DATA_FOLDER/);
});
