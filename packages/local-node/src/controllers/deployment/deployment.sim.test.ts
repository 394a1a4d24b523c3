import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Stored } from '@reeve/kube';
import { type Deployment, type DeploymentSpec, deployments } from '../../kinds/deployment.ts';
import { type Pod, pods } from '../../kinds/pod.ts';
import { replicaSets } from '../../kinds/replicaset.ts';
import { Cluster, ready } from '../cluster-testing.ts';
import { ReplicaSetController } from '../replicaset/controller.ts';
import { DeploymentController } from './controller.ts';

const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image }] },
});

function web(spec: Partial<DeploymentSpec>): Deployment {
  const selector = { matchLabels: { app: 'web' } };
  return { metadata: { name: 'web' }, spec: { replicas: 4, selector, template: template('v1'), ...spec } };
}

/** Never ready if its image is bad. */
function kubelet(pod: Stored<Pod>, now: string) {
  const isBad = pod.spec?.containers[0]?.image === 'bad';
  return isBad
    ? { phase: 'Running' as const, conditions: [{ type: 'Ready', status: 'False' as const }] }
    : ready(pod, now);
}

async function world(t: TestContext, spec: Partial<DeploymentSpec> = {}) {
  const controllers = () => [new DeploymentController(), new ReplicaSetController()];
  const cluster = await Cluster.start(t, { controllers, kubelet });
  const all = cluster.of(deployments);
  await all.create(web(spec));
  const set = (value: object) => all.patch('web', { type: 'merge', value: { spec: value } });
  const images = async () =>
    (await cluster.pods())
      .map(({ spec: of }) => of?.containers[0]?.image)
      .toSorted()
      .join();
  const status = async () => (await all.get('web')).status ?? {};
  const condition = async (type: string) => (await status()).conditions?.find((one) => one.type === type);
  const isDone = (replicas: number) => async () => {
    const { metadata, status: is } = await all.get('web');
    const numbers = [is?.replicas, is?.updatedReplicas, is?.availableReplicas];
    return (
      is?.observedGeneration === metadata.generation &&
      numbers.every((one) => one === replicas) &&
      (await cluster.pods()).length === replicas
    );
  };
  const sets = async () => (await cluster.of(replicaSets).listAll()).items;
  return { cluster, all, set, images, status, condition, isDone, sets };
}

test('a deployment makes a set and its pods, and says that it is available', async (t) => {
  const { cluster, all, condition, isDone, sets } = await world(t);
  await cluster.until('it is there', isDone(4));
  assert.equal((await condition('Available'))?.reason, 'MinimumReplicasAvailable');
  const progressing = await condition('Progressing');
  const [set] = await sets();
  assert.equal(progressing?.reason, 'NewReplicaSetAvailable');
  assert.equal(progressing.message, `ReplicaSet "${set?.metadata.name}" has successfully progressed.`);
  assert.equal((await all.get('web')).metadata.annotations?.['deployment.kubernetes.io/revision'], '1');
  const [pod] = await cluster.pods();
  assert.equal(pod?.metadata.labels?.['pod-template-hash'], set?.metadata.labels?.['pod-template-hash']);
});

test('an update keeps within its limits, and going back is another revision of the first set', async (t) => {
  const rollingUpdate = { maxSurge: 1, maxUnavailable: 1 };
  const { cluster, all, set, images, isDone, sets } = await world(t, {
    strategy: { type: 'RollingUpdate', rollingUpdate },
  });
  await cluster.until('it is there', isDone(4));
  await set({ template: template('v2') });
  await cluster.until('all are new', async () => {
    const living = (await cluster.pods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const available = living.filter((pod) =>
      pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
    );
    assert.ok(living.length <= 5, `${living.length} pods`);
    assert.ok(available.length >= 3, `${available.length} available`);
    return (await images()) === 'v2,v2,v2,v2' && (await isDone(4)());
  });
  await set({ template: template('v1') });
  await cluster.until('all are as before', async () => (await images()) === 'v1,v1,v1,v1' && (await isDone(4)()));
  assert.equal((await sets()).length, 2);
  assert.equal((await all.get('web')).metadata.annotations?.['deployment.kubernetes.io/revision'], '3');
  const first = (await sets()).find(({ spec }) => spec?.replicas === 4);
  assert.equal(first?.metadata.annotations?.['deployment.kubernetes.io/revision'], '3');
  assert.equal(first.metadata.annotations['deployment.kubernetes.io/revision-history'], '1');
});

test('a template that never gets ready stops the rollout, and says so after its deadline', async (t) => {
  const { cluster, set, images, condition, isDone, status } = await world(t, { progressDeadlineSeconds: 60 });
  await cluster.until('it is there', isDone(4));
  await set({ template: template('bad') });
  await cluster.run(30_000);
  const before = await images();
  assert.equal(before.split(',').filter((one) => one === 'v1').length, 3, before);
  await cluster.until(
    'it gives up',
    async () => (await condition('Progressing'))?.reason === 'ProgressDeadlineExceeded',
    100_000,
  );
  assert.equal((await condition('Progressing'))?.status, 'False');
  assert.equal((await status()).availableReplicas, 3);
  await set({ template: template('v1') });
  await cluster.until('it is mended', async () => (await images()) === 'v1,v1,v1,v1' && (await isDone(4)()));
});

test('with Recreate nothing new starts before the last old one is gone', async (t) => {
  const { cluster, set, images, isDone } = await world(t, { strategy: { type: 'Recreate' } });
  await cluster.until('it is there', isDone(4));
  const [held] = await cluster.pods();
  cluster.stubborn.add(held?.metadata.name ?? '');
  await set({ template: template('v2') });
  await cluster.run(3_000);
  assert.equal(await images(), 'v1');
  cluster.stubborn.clear();
  await cluster.until('all are new', async () => (await images()) === 'v2,v2,v2,v2' && (await isDone(4)()));
});

test('a paused deployment scales and does not update; resumed, it does', async (t) => {
  const { cluster, set, images, isDone, condition } = await world(t);
  await cluster.until('it is there', isDone(4));
  await set({ paused: true, template: template('v2'), replicas: 2 });
  await cluster.until('there are two', async () => (await images()) === 'v1,v1');
  await cluster.run(3_000);
  assert.equal(await images(), 'v1,v1');
  assert.equal((await condition('Progressing'))?.reason, 'DeploymentPaused');
  await set({ paused: false });
  await cluster.until('all are new', async () => (await images()) === 'v2,v2' && (await isDone(2)()));
});

test('scaling in the middle of an update is shared in proportion, and the update goes on', async (t) => {
  const rollingUpdate = { maxSurge: 2, maxUnavailable: 2 };
  const { cluster, set, images, isDone, sets } = await world(t, {
    replicas: 10,
    strategy: { type: 'RollingUpdate', rollingUpdate },
  });
  await cluster.until('it is there', isDone(10));
  await set({ template: template('bad') });
  await cluster.run(3_000);
  const sizes = async () => (await sets()).map(({ spec }) => spec?.replicas ?? 0).toSorted((a, b) => a - b);
  assert.deepEqual(await sizes(), [4, 8]);
  await set({ replicas: 22 });
  await cluster.run(3_000);
  assert.deepEqual(await sizes(), [8, 16]);
  await set({ template: template('v1'), replicas: 3 });
  await cluster.until('it is whole', async () => (await images()) === 'v1,v1,v1' && (await isDone(3)()));
});

test('old sets are forgotten beyond the limit; a lost pod is replaced; a set without owner is adopted', async (t) => {
  const { cluster, all, set, images, isDone, sets } = await world(t, { replicas: 1, revisionHistoryLimit: 1 });
  await cluster.until('it is there', isDone(1));
  for (const image of ['v2', 'v3', 'v4']) {
    await set({ template: template(image) });
    await cluster.until(image, async () => (await images()) === image && (await isDone(1)()));
  }
  await cluster.until('two sets are left', async () => (await sets()).length === 2);
  const [{ metadata }] = (await cluster.pods()) as [Stored<Pod>];
  await cluster.of(pods).delete(metadata.name);
  await cluster.until('there is another', async () => {
    const [pod] = await cluster.pods();
    return pod !== undefined && pod.metadata.name !== metadata.name && (await isDone(1)());
  });
  const [one] = await sets();
  const name = one?.metadata.name ?? '';
  await cluster.of(replicaSets).patch(name, { type: 'merge', value: { metadata: { ownerReferences: [] } } });
  const { uid } = (await all.get('web')).metadata;
  await cluster.until(
    'adopted',
    async () => (await cluster.of(replicaSets).get(name)).metadata.ownerReferences?.[0]?.uid === uid,
  );
});
