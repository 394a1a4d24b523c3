import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cluster } from '../controllers/cluster-testing.ts';
import { nodes } from '../kinds/node.ts';
import { type Pod, type PodSpec, pods } from '../kinds/pod.ts';
import { Scheduler } from './controller.ts';

function pod(name: string, spec: Partial<PodSpec> = {}, labels: Record<string, string> = {}): Pod {
  return { metadata: { name, labels }, spec: { containers: [{ name: 'main', image: 'x' }], ...spec } };
}

const apart: Partial<PodSpec> = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: { app: 'db' } }, topologyKey: 'kubernetes.io/hostname' },
      ],
    },
  },
};

test('pods are spread over nodes; what fits nowhere says why and comes when there is room', async (t) => {
  const cluster = await Cluster.start(t, { controllers: [new Scheduler()], places: false });
  const all = cluster.of(pods);
  await cluster.addNode('a');
  await cluster.addNode('b');
  for (const name of ['db-0', 'db-1', 'db-2']) await all.create(pod(name, apart, { app: 'db' }));
  const placed = async () => (await cluster.pods()).filter(({ spec }) => spec?.nodeName).length;
  await cluster.until('two are placed', async () => (await placed()) === 2);
  await cluster.run(1_000);
  const [last] = (await cluster.pods()).filter(({ spec }) => !spec?.nodeName);
  assert.equal(last?.status?.phase, 'Pending');
  const condition = last.status.conditions?.find(({ type }) => type === 'PodScheduled');
  assert.equal(condition?.status, 'False');
  assert.equal(condition.reason, 'Unschedulable');
  assert.equal(condition.message, "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules.");
  const failures = (await cluster.events()).filter(({ reason }) => reason === 'FailedScheduling');
  assert.ok(failures.length >= 1);
  await cluster.addNode('c');
  await cluster.until('the third is placed', async () => (await placed()) === 3);
  const nodes = (await cluster.pods()).map(({ spec }) => spec?.nodeName);
  assert.deepEqual(nodes.toSorted(), ['a', 'b', 'c']);
  const third = await all.get(last.metadata.name);
  assert.equal(third.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.status, 'True');
});

test('a pod that goes makes room for one that waits', async (t) => {
  const cluster = await Cluster.start(t, { controllers: [new Scheduler()], places: false });
  const all = cluster.of(pods);
  await cluster.addNode('a');
  const large = { containers: [{ name: 'main', image: 'x', resources: { requests: { cpu: '3' } } }] };
  await all.create(pod('first', large));
  await cluster.until('first is placed', async () => (await all.get('first')).spec?.nodeName === 'a');
  await all.create(pod('second', large));
  const message = async () => (await all.get('second')).status?.conditions?.[0]?.message;
  await cluster.until(
    'second is told',
    async () => (await message()) === '0/1 nodes are available: 1 Insufficient cpu.',
  );
  await all.delete('first');
  await cluster.until('second is placed', async () => (await all.get('second')).spec?.nodeName === 'a');
});

test('another reason why a pod fits nowhere is told as another event', async (t) => {
  const cluster = await Cluster.start(t, { controllers: [new Scheduler()], places: false });
  await cluster.addNode('a');
  const large = { containers: [{ name: 'main', image: 'x', resources: { requests: { cpu: '99' } } }] };
  await cluster.of(pods).create(pod('large', large));
  const told = async () =>
    (await cluster.events()).filter(({ reason }) => reason === 'FailedScheduling').map(({ note }) => note);
  const first = '0/1 nodes are available: 1 Insufficient cpu.';
  await cluster.until('it is told what the node lacks', async () => (await told()).includes(first));
  await cluster.of(nodes).patch('a', { type: 'merge', value: { spec: { unschedulable: true } } });
  const second = '0/1 nodes are available: 1 node(s) were unschedulable.';
  await cluster.until('it is told that there is no node', async () => (await told()).includes(second));
  assert.equal((await told()).length, 2);
});

test('a pod of another scheduler is left alone', async (t) => {
  const cluster = await Cluster.start(t, { controllers: [new Scheduler()], places: false });
  await cluster.addNode('a');
  await cluster.of(pods).create(pod('theirs', { schedulerName: 'other' }));
  await cluster.run(500);
  assert.equal((await cluster.of(pods).get('theirs')).spec?.nodeName, undefined);
});
