/** Workloads with everything that is ours: controllers, scheduler, node, processes. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Stored } from '@reeve/kube';
import { deployments } from '../kinds/deployment.ts';
import { isFinished, jobCondition, jobs } from '../kinds/job.ts';
import { nodes } from '../kinds/node.ts';
import { type Pod, pods } from '../kinds/pod.ts';
import { statefulSets } from '../kinds/statefulset.ts';
import { volumeClaims } from '../kinds/volumeclaim.ts';
import type { LocalNodeOptions } from './local-node.ts';
import { eventually, isReady, NodeScene, type NodeScenarios } from './node-testing.ts';

const forever = 'trap "exit 0" TERM; while :; do sleep 0.02; done';
const stubborn = 'trap "" TERM; while :; do sleep 0.02; done';
const selector = { matchLabels: { app: 'web' } };

function template(script: string, more: object = {}) {
  const main = { name: 'main', image: 'host', command: ['sh', '-c', script], ...more };
  return {
    metadata: { labels: { app: 'web' }, annotations: { 'reeve.dev/relocatable': 'true' } },
    spec: { terminationGracePeriodSeconds: 2, containers: [main] },
  };
}

async function stage(t: TestContext, options: Partial<LocalNodeOptions> = {}) {
  const scene = await NodeScene.open(t);
  await scene.startControlPlane();
  const { node } = await scene.start({ drivers: await scene.drivers(), volumes: scene.volumes, ...options });
  const all = async () => (await scene.client.resource(pods, 'default').list()).items;
  const ready = (count: number) =>
    eventually(async () => {
      const now = await all();
      return now.length === count && now.every(isReady) ? now : undefined;
    }, `${count} pods are ready`);
  return { scene, node, all, ready, sets: scene.client.resource(statefulSets, 'default') };
}

const byName = (list: readonly Stored<Pod>[]) =>
  new Map(list.map(({ metadata }) => [metadata.name, metadata.uid] as const));

export const workloadScenarios: NodeScenarios = {
  async 'a rollout stops at a pod that does not come up, and the others go on as they were'(t) {
    const { all, ready, sets, scene } = await stage(t);
    await sets.create({ metadata: { name: 'web' }, spec: { replicas: 2, selector, template: template(forever) } });
    const before = byName(await ready(2));
    const change = (value: ReturnType<typeof template>) =>
      sets.patch('web', { type: 'merge', value: { spec: { template: value } } });
    const never = { exec: { command: ['false'] }, periodSeconds: 1 };
    await change(template(forever, { readinessProbe: never }));
    await eventually(
      async () => (await scene.events()).some((line) => line.startsWith('Unhealthy: Readiness probe failed')),
      'the new one is not ready',
    );
    const stuck = byName(await all());
    assert.notEqual(stuck.get('web-1'), before.get('web-1'));
    assert.equal(stuck.get('web-0'), before.get('web-0'), 'it was not touched');
    await change(template(`: better; ${forever}`));
    await scene.client.resource(pods, 'default').delete('web-1');
    await eventually(async () => {
      const { status } = await sets.get('web');
      return status?.updatedReplicas === 2 && status.readyReplicas === 2;
    }, 'with a better one it goes on');
    const after = byName(await ready(2));
    assert.notEqual(after.get('web-0'), before.get('web-0'));
  },
  async 'what a pod wrote is there again after its set was scaled down and up'(t) {
    const { ready, sets, scene } = await stage(t);
    const script = `echo $HOSTNAME >>"$DATA/starts"; ${forever}`;
    const more = {
      env: [{ name: 'DATA', value: '/srv/reeve/data' }],
      volumeMounts: [{ name: 'data', mountPath: '/srv/reeve/data' }],
    };
    const size = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } };
    await sets.create({
      metadata: { name: 'web' },
      spec: {
        replicas: 2,
        selector,
        template: template(script, more),
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: size }],
      },
    });
    await ready(2);
    const claimed = (await scene.client.resource(volumeClaims, 'default').list()).items;
    const volume = claimed.find(({ metadata }) => metadata.name === 'data-web-1')?.spec?.volumeName ?? '';
    const starts = join(scene.volumes, volume, 'data', 'starts');
    const written = (text: string) =>
      eventually(async () => (await readFile(starts, 'utf8').catch(() => '')) === text, `"${text}"`);
    await written('web-1\n'); // it runs, which does not mean that it has come so far
    const scale = (replicas: number) => sets.patch('web', { type: 'merge', value: { spec: { replicas } } });
    await scale(1);
    await ready(1);
    const claims = (await scene.client.resource(volumeClaims, 'default').list()).items;
    assert.deepEqual(
      claims.map(({ metadata, status }) => [metadata.name, status?.phase]),
      [
        ['data-web-0', 'Bound'],
        ['data-web-1', 'Bound'],
      ],
    );
    await scale(2);
    await ready(2);
    await written('web-1\nweb-1\n');
  },
  async 'the exit code of a program decides what becomes of its job'(t) {
    const { scene, all } = await stage(t);
    const api = scene.client.resource(jobs, 'default');
    const { metadata, spec } = template('exit 42');
    await api.create({
      metadata: { name: 'w' },
      spec: {
        podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } }] },
        template: { metadata, spec: { ...spec, restartPolicy: 'Never' } },
      },
    });
    const job = await eventually(async () => {
      const found = await api.get('w');
      return isFinished(found.status) ? found : undefined;
    }, 'it is over');
    assert.equal(jobCondition(job.status, 'Failed')?.reason, 'PodFailurePolicy');
    assert.match(jobCondition(job.status, 'Failed')?.message ?? '', /failed with exit code 42 matching FailJob rule/);
    assert.equal(job.status?.failed, 1);
    const codes = (await all()).map(({ status }) => status?.containerStatuses?.[0]?.state?.terminated?.exitCode);
    assert.deepEqual(codes, [42]);
  },
  async 'a job deleted in the foreground waits for its pod, which ignores SIGTERM until it is killed'(t) {
    const { scene, ready } = await stage(t);
    const api = scene.client.resource(jobs, 'default');
    const { metadata, spec } = template(stubborn);
    await api.create({
      metadata: { name: 'w' },
      spec: { template: { metadata, spec: { ...spec, restartPolicy: 'Never' } } },
    });
    await ready(1);
    await api.delete('w', { propagationPolicy: 'Foreground' });
    const held = await api.find('w');
    assert.deepEqual(held?.metadata.finalizers, ['foregroundDeletion']);
    assert.ok(scene.processes().length > 0);
    await eventually(async () => (await api.find('w')) === undefined, 'it is gone');
    await eventually(() => scene.processes().length === 0, 'nothing of it is left');
  },
  async 'a job is suspended: its processes end; and resumed: it is done'(t) {
    const { scene, ready, all } = await stage(t);
    const api = scene.client.resource(jobs, 'default');
    const flag = join(scene.folder, 'flag');
    const { metadata, spec } = template(`[ -e ${flag} ] && exit 0; : >${flag}; ${forever}`);
    await api.create({
      metadata: { name: 'w' },
      spec: { template: { metadata, spec: { ...spec, restartPolicy: 'Never' } } },
    });
    await ready(1);
    await api.patch('w', { type: 'merge', value: { spec: { suspend: true } } });
    await eventually(async () => (await all()).length === 0, 'it is suspended');
    await eventually(() => scene.processes().length === 0, 'its processes have ended');
    await api.patch('w', { type: 'merge', value: { spec: { suspend: false } } });
    await eventually(async () => jobCondition((await api.get('w')).status, 'Complete') !== undefined, 'it is done');
  },
  async 'a deployment is replaced without a moment in which none is ready'(t) {
    const { scene, all, ready } = await stage(t);
    const api = scene.client.resource(deployments, 'default');
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } as const;
    await api.create({
      metadata: { name: 'web' },
      spec: { replicas: 2, selector, strategy, template: template(forever) },
    });
    const before = byName(await ready(2));
    await api.patch('web', { type: 'merge', value: { spec: { template: template(`: new; ${forever}`) } } });
    let least = 2;
    await eventually(async () => {
      const now = await all();
      least = Math.min(least, now.filter(isReady).length);
      return now.length === 2 && now.every((pod) => isReady(pod) && !before.has(pod.metadata.name));
    }, 'all are new');
    assert.equal(least, 2);
  },
  async 'anti-affinity that cannot be met stays pending with the reason, until there is another node'(t) {
    const { scene, sets } = await stage(t);
    const term = { labelSelector: selector, topologyKey: 'kubernetes.io/hostname' };
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    const { metadata, spec } = template(forever);
    await sets.create({
      metadata: { name: 'web' },
      spec: {
        replicas: 2,
        selector,
        podManagementPolicy: 'Parallel',
        template: { metadata, spec: { ...spec, affinity } },
      },
    });
    const scheduled = ({ status }: Pod) => status?.conditions?.find(({ type }) => type === 'PodScheduled');
    const list = async () => (await scene.client.resource(pods, 'default').list()).items;
    const message = "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules.";
    const waiting = await eventually(
      async () => (await list()).find((pod) => scheduled(pod)?.message === message),
      'one waits, and says why',
    );
    assert.equal(waiting.status?.phase, 'Pending');
    assert.deepEqual([scheduled(waiting)?.status, scheduled(waiting)?.reason], ['False', 'Unschedulable']);
    await scene.start({}, { name: 'there' });
    await eventually(async () => (await list()).every(isReady), 'it has found a place');
    assert.deepEqual((await list()).map(({ spec: own }) => own?.nodeName).sort(), ['here', 'there']);
  },
  async 'a node that expels: a pod that does not tolerate it ends, and is made anew when it may'(t) {
    const { all, scene, sets, ready } = await stage(t);
    await sets.create({ metadata: { name: 'web' }, spec: { replicas: 1, selector, template: template(forever) } });
    const before = byName(await ready(1));
    const taint = (taints: readonly object[]) =>
      scene.client.resource(nodes).patch('here', { type: 'merge', value: { spec: { taints } } });
    await taint([{ key: 'test.dev/maintenance', effect: 'NoExecute' }]);
    await eventually(() => scene.processes().length === 0, 'its process has ended');
    await taint([]);
    const isNew = (pod: Stored<Pod>) => isReady(pod) && pod.metadata.uid !== before.get('web-0');
    await eventually(async () => (await all()).some(isNew), 'there is another one');
  },
};
