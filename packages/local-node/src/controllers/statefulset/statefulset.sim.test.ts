import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Stored } from '@reeve/kube';
import { type Pod, pods } from '../../kinds/pod.ts';
import { revisions } from '../../kinds/revision.ts';
import { type StatefulSet, type StatefulSetSpec, statefulSets } from '../../kinds/statefulset.ts';
import { volumeClaims } from '../../kinds/volumeclaim.ts';
import { Cluster, ended, ready } from '../cluster-testing.ts';
import { REVISION_LABEL } from '../revision/history.ts';
import { StatefulSetController } from './controller.ts';

const claimTemplate = {
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};

function template(image: string) {
  return { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image }] } };
}

function web(spec: Partial<StatefulSetSpec> = {}): StatefulSet {
  const selector = { matchLabels: { app: 'web' } };
  return {
    metadata: { name: 'web' },
    spec: { replicas: 3, serviceName: 'web', selector, template: template('v1'), ...spec },
  };
}

async function world(t: TestContext, spec: Partial<StatefulSetSpec> = {}, kubelet = ready) {
  const cluster = await Cluster.start(t, { controllers: [new StatefulSetController()], kubelet });
  const sets = cluster.of(statefulSets);
  await sets.create(web(spec));
  const names = async () => (await cluster.pods()).map(({ metadata }) => metadata.name);
  const images = async () => (await cluster.pods()).map(({ spec: of }) => of?.containers[0]?.image).join();
  const status = async () => (await sets.get('web')).status;
  const set = (value: object) => sets.patch('web', { type: 'merge', value: { spec: value } });
  const allReady = (count: number) => async () => {
    const { metadata, status: is } = await sets.get('web');
    const isSeen = is?.observedGeneration === metadata.generation;
    return isSeen && is?.readyReplicas === count && is.replicas === count && (await names()).length === count;
  };
  const isRolledOut = async () => {
    const is = await status();
    return (await allReady(3)()) && is?.currentRevision === is?.updateRevision && is?.updatedReplicas === 3;
  };
  return { cluster, sets, names, images, status, set, allReady, isRolledOut };
}

/** Ready unless its name or image is held back. */
function holding(held: ReadonlySet<string>) {
  return (pod: Stored<Pod>, now: string) => {
    const isHeld = held.has(pod.metadata.name) || held.has(pod.spec?.containers[0]?.image ?? '');
    return isHeld
      ? { phase: 'Running' as const, conditions: [{ type: 'Ready', status: 'False' as const }] }
      : ready(pod, now);
  };
}

test('pods come up one after the other, each with a name, a host name, labels and a claim of its own', async (t) => {
  const held = new Set(['web-1']);
  const { cluster, names, allReady, status } = await world(t, { volumeClaimTemplates: [claimTemplate] }, holding(held));
  await cluster.until('the first is ready', async () => (await status())?.readyReplicas === 1);
  await cluster.run(5_000);
  assert.deepEqual(await names(), ['web-0', 'web-1']);
  held.clear();
  await cluster.until('all are ready', allReady(3));
  const [, second] = await cluster.pods();
  assert.equal(second?.spec?.hostname, 'web-1');
  assert.equal(second.spec.subdomain, 'web');
  assert.equal(second.metadata.labels?.['statefulset.kubernetes.io/pod-name'], 'web-1');
  assert.equal(second.metadata.labels['apps.kubernetes.io/pod-index'], '1');
  assert.equal(second.metadata.labels[REVISION_LABEL], (await status())?.currentRevision);
  assert.equal(second.spec.volumes?.[0]?.persistentVolumeClaim?.claimName, 'data-web-1');
  const claims = (await cluster.of(volumeClaims).listAll()).items.map(({ metadata }) => metadata.name);
  assert.deepEqual(claims, ['data-web-0', 'data-web-1', 'data-web-2']);
  const events = (await cluster.events()).map(({ note }) => note);
  assert.ok(events.includes('Create Pod web-0 in StatefulSet web successful'));
});

test('scaling down goes from the top, one at a time, and keeps the claims', async (t) => {
  const { cluster, names, allReady, set, sets } = await world(t, { volumeClaimTemplates: [claimTemplate] });
  await cluster.until('all are ready', allReady(3));
  cluster.stubborn.add('web-2');
  await set({ replicas: 1 });
  await cluster.run(3_000);
  assert.deepEqual(await names(), ['web-0', 'web-1', 'web-2']);
  const going = (await cluster.pods()).filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  assert.deepEqual(
    going.map(({ metadata }) => metadata.name),
    ['web-2'],
  );
  cluster.stubborn.clear();
  await cluster.until('one is left', allReady(1));
  assert.equal((await cluster.of(volumeClaims).listAll()).items.length, 3);
  assert.equal((await sets.get('web')).status?.replicas, 1);
});

test('a parallel set starts and stops all at once', async (t) => {
  const { cluster, names, status } = await world(t, { podManagementPolicy: 'Parallel' }, holding(new Set(['v1'])));
  await cluster.until('all are there', async () => (await names()).length === 3);
  assert.equal((await status())?.readyReplicas ?? 0, 0);
});

test('an update goes down to the partition; a lost pod below it comes back as it was', async (t) => {
  const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } as const;
  const { cluster, images, allReady, set, status, isRolledOut } = await world(t, { updateStrategy });
  await cluster.until('all are ready', allReady(3));
  const first = (await status())?.currentRevision;
  await set({ template: template('v2') });
  await cluster.until('the last is new', async () => (await images()) === 'v1,v1,v2' && (await allReady(3)()));
  await cluster.run(2_000);
  assert.equal(await images(), 'v1,v1,v2');
  assert.equal((await status())?.currentRevision, first);
  assert.equal((await status())?.updatedReplicas, 1);
  await cluster.of(pods).delete('web-0');
  await cluster.until('the first is back', async () => (await images()) === 'v1,v1,v2' && (await allReady(3)()));
  await set({ updateStrategy: { rollingUpdate: { partition: 0 } } });
  await cluster.until('all are new', async () => (await images()) === 'v2,v2,v2' && (await isRolledOut()));
  assert.equal((await cluster.of(revisions).listAll()).items.length, 2);
});

test('a rollout stops at a pod that fails, and goes on when the template is mended and the pod deleted', async (t) => {
  const { cluster, images, allReady, set, isRolledOut } = await world(t, {}, holding(new Set(['bad'])));
  await cluster.until('all are ready', allReady(3));
  await set({ template: template('bad') });
  await cluster.until('the last is new', async () => (await images()) === 'v1,v1,bad');
  await cluster.run(20_000);
  assert.equal(await images(), 'v1,v1,bad');
  await set({ template: template('v1') });
  await cluster.run(5_000);
  assert.equal(
    await images(),
    'v1,v1,bad',
    'as in Kubernetes, a broken pod of an ordered set is not replaced by itself',
  );
  await cluster.of(pods).delete('web-2');
  await cluster.until('all are well', async () => (await images()) === 'v1,v1,v1' && (await isRolledOut()));
  const numbers = (await cluster.of(revisions).listAll()).items.map(({ revision }) => revision);
  assert.deepEqual(
    numbers.toSorted((a, b) => a - b),
    [2, 3],
    'the first template is the newest revision again',
  );
});

test('with OnDelete a pod gets the new template when somebody deletes it', async (t) => {
  const { cluster, images, allReady, set } = await world(t, { updateStrategy: { type: 'OnDelete' } });
  await cluster.until('all are ready', allReady(3));
  await set({ template: template('v2') });
  await cluster.run(3_000);
  assert.equal(await images(), 'v1,v1,v1');
  await cluster.of(pods).delete('web-1');
  await cluster.until('it is new', async () => (await images()) === 'v1,v2,v1');
});

test('a pod without owner is adopted, one whose labels changed is let go', async (t) => {
  const { cluster, allReady, sets } = await world(t);
  await cluster.until('all are ready', allReady(3));
  const { uid } = (await sets.get('web')).metadata;
  const all = cluster.of(pods);
  await all.patch('web-1', { type: 'merge', value: { metadata: { ownerReferences: [] } } });
  const owners = async (name: string) => (await all.get(name)).metadata.ownerReferences?.map((one) => one.uid) ?? [];
  await cluster.until('it is adopted', async () => (await owners('web-1'))[0] === uid);
  await all.patch('web-2', { type: 'merge', value: { metadata: { labels: { app: 'other' } } } });
  await cluster.until('it is let go', async () => (await owners('web-2')).length === 0);
});

test('a failed pod is made anew', async (t) => {
  const { cluster, allReady } = await world(t, {}, ready);
  await cluster.until('all are ready', allReady(3));
  const [, before] = await cluster.pods();
  cluster.kubelet = (pod, now) =>
    pod.metadata.uid === before?.metadata.uid ? ended('Failed', 1)(pod, now) : ready(pod, now);
  await cluster.until('it is another', async () => (await cluster.pods())[1]?.metadata.uid !== before?.metadata.uid);
  await cluster.until('all are ready', allReady(3));
  assert.ok((await cluster.events()).some(({ note }) => note === 'Delete Pod web-1 in StatefulSet web successful'));
});

test('ordinals may start elsewhere; availability waits for minReadySeconds', async (t) => {
  const { cluster, names, status } = await world(t, { replicas: 2, ordinals: { start: 5 }, minReadySeconds: 10 });
  await cluster.until('one is ready', async () => (await status())?.readyReplicas === 1);
  assert.equal((await status())?.availableReplicas ?? 0, 0);
  assert.deepEqual(await names(), ['web-5']);
  await cluster.until('both are available', async () => (await status())?.availableReplicas === 2);
  assert.deepEqual(await names(), ['web-5', 'web-6']);
});

test('claims belong to the set or to the pod that is scaled down, as the policy says', async (t) => {
  const persistentVolumeClaimRetentionPolicy = { whenDeleted: 'Delete', whenScaled: 'Delete' } as const;
  const { cluster, allReady, set } = await world(t, {
    volumeClaimTemplates: [claimTemplate],
    persistentVolumeClaimRetentionPolicy,
  });
  await cluster.until('all are ready', allReady(3));
  const ownerOf = async (name: string) =>
    (await cluster.of(volumeClaims).get(name)).metadata.ownerReferences?.map(({ kind }) => kind).join() ?? '';
  await cluster.until('the set owns them', async () => (await ownerOf('data-web-2')) === 'StatefulSet');
  await set({ replicas: 2 });
  await cluster.until('two are left', allReady(2));
  assert.equal(await ownerOf('data-web-2'), 'Pod');
  assert.equal(await ownerOf('data-web-1'), 'StatefulSet');
  await set({ replicas: 3 });
  await cluster.run(3_000);
  assert.equal((await cluster.pods()).length, 2, 'the claim of the pod before must be gone first');
  await set({ persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' } });
  await cluster.until('nobody owns them', async () => (await ownerOf('data-web-0')) === '');
});

test('old revisions are forgotten beyond the limit, and a restart finds everything as it was', async (t) => {
  const { cluster, images, isRolledOut, set } = await world(t, { revisionHistoryLimit: 1 });
  await cluster.until('all are ready', isRolledOut);
  for (const image of ['v2', 'v3', 'v4']) {
    await set({ template: template(image) });
    if (image === 'v3') {
      await cluster.run(200);
      await cluster.stopManager();
      cluster.startManager([new StatefulSetController()]);
    }
    await cluster.until(image, async () => (await images()) === `${image},${image},${image}` && (await isRolledOut()));
  }
  await cluster.until('history is short', async () => (await cluster.of(revisions).listAll()).items.length === 2);
});
