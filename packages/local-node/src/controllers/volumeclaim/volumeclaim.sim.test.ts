import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Scheduler } from '../../scheduler/controller.ts';
import { pods } from '../../kinds/pod.ts';
import {
  type StorageClass,
  storageClasses,
  type Volume,
  type VolumeClaim,
  volumeClaims,
  volumes,
} from '../../kinds/volumeclaim.ts';
import { Cluster } from '../cluster-testing.ts';
import { memoryDirectories } from '../memory-directories-testing.ts';
import { VolumeClaimController } from './controller.ts';
import { ClaimProtection } from './protection.ts';
import { VolumeController } from './volumes.ts';

const claim = (storageClassName?: string): VolumeClaim => ({
  metadata: { name: 'data' },
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    ...(storageClassName !== undefined && { storageClassName }),
  },
});
const local = (more: Partial<StorageClass> = {}): StorageClass => ({
  metadata: { name: 'local', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'reeve.dev/local',
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'Immediate',
  ...more,
});

async function world(t: TestContext, storageClass = local()) {
  const directories = memoryDirectories();
  const controllers = () => [
    new VolumeClaimController(directories),
    new VolumeController(directories),
    new ClaimProtection(),
    new Scheduler(),
  ];
  const cluster = await Cluster.start(t, { controllers, places: false });
  await cluster.of(storageClasses).create(storageClass);
  const all = cluster.of(volumeClaims);
  const phase = async () => (await all.find('data'))?.status?.phase;
  const volumeOf = async (): Promise<Volume | undefined> => (await cluster.of(volumes).listAll()).items[0];
  return { cluster, directories, all, phase, volumeOf };
}

test('a claim gets the default class, a volume on a directory, and both go with it', async (t) => {
  const { cluster, directories, all, phase, volumeOf } = await world(t);
  await all.create(claim());
  await cluster.until('it is bound', async () => (await phase()) === 'Bound');
  const bound = await all.get('data');
  const volume = await volumeOf();
  assert.equal(bound.spec?.storageClassName, 'local');
  assert.equal(bound.spec.volumeName, `pvc-${bound.metadata.uid}`);
  assert.equal(volume?.spec?.claimRef?.uid, bound.metadata.uid);
  assert.equal(volume.spec.hostPath?.path, `/volumes/pvc-${bound.metadata.uid}/data`);
  assert.equal(volume.status?.phase, 'Bound');
  assert.deepEqual([...directories.all.values()], [bound.metadata.uid]);
  await all.delete('data');
  await cluster.until('all is gone', async () => (await volumeOf()) === undefined);
  assert.equal(directories.all.size, 0);
});

test('a class that waits for the first consumer binds on the node of the pod', async (t) => {
  const { cluster, all, phase, volumeOf } = await world(t, local({ volumeBindingMode: 'WaitForFirstConsumer' }));
  await cluster.addNode('a');
  await cluster.addNode('b', { spec: { unschedulable: true } });
  await all.create(claim('local'));
  await cluster.run(1_000);
  assert.equal(await phase(), 'Pending');
  assert.ok((await cluster.events()).some(({ reason }) => reason === 'WaitForFirstConsumer'));
  await cluster.of(pods).create({
    metadata: { name: 'p' },
    spec: {
      containers: [{ name: 'c', image: 'x' }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
    },
  });
  await cluster.until('the pod has a node', async () => (await cluster.of(pods).get('p')).spec?.nodeName === 'a');
  assert.equal(await phase(), 'Bound');
  const [term] = (await volumeOf())?.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  assert.deepEqual(term?.matchExpressions?.[0]?.values, ['a']);
});

test('a claim in use stays until the pod is gone', async (t) => {
  const { cluster, all, phase } = await world(t);
  await cluster.addNode('a');
  await all.create(claim('local'));
  await cluster.of(pods).create({
    metadata: { name: 'p' },
    spec: {
      containers: [{ name: 'c', image: 'x' }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
    },
  });
  await cluster.until('the pod runs', async () => (await cluster.of(pods).get('p')).status?.phase === 'Running');
  await all.delete('data');
  await cluster.run(8_000);
  assert.equal(await phase(), 'Bound');
  await cluster.of(pods).delete('p');
  await cluster.until('the claim is gone', async () => (await all.find('data')) === undefined);
});

test('a volume that is kept stays with its data; one whose directory is not marked is not touched', async (t) => {
  const { cluster, directories, all, phase, volumeOf } = await world(t, local({ reclaimPolicy: 'Retain' }));
  await all.create(claim('local'));
  await cluster.until('it is bound', async () => (await phase()) === 'Bound');
  await all.delete('data');
  await cluster.until('it is released', async () => (await volumeOf())?.status?.phase === 'Released');
  await cluster.run(2_000);
  assert.equal(directories.all.size, 1);
  const name = (await volumeOf())?.metadata.name ?? '';
  directories.all.set(name, 'somebody else');
  const value = { spec: { persistentVolumeReclaimPolicy: 'Delete' } };
  await cluster.of(volumes).patch(name, { type: 'merge', value });
  await cluster.until('it says so', async () => (await volumeOf())?.status?.phase === 'Failed');
  assert.equal(directories.all.get(name), 'somebody else');
});

test('a volume that somebody made is bound if it fits: the smallest that is enough', async (t) => {
  const { cluster, directories, all, phase } = await world(t, local({ provisioner: 'other.dev/x' }));
  for (const [name, storage] of [
    ['small', '500Mi'],
    ['large', '5Gi'],
    ['right', '1Gi'],
  ] as const) {
    await cluster.of(volumes).create({
      metadata: { name },
      spec: {
        capacity: { storage },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'local',
        hostPath: { path: '/x' },
      },
    });
  }
  await all.create(claim('local'));
  await cluster.until('it is bound', async () => (await phase()) === 'Bound');
  assert.equal((await all.get('data')).spec?.volumeName, 'right');
  assert.equal(directories.all.size, 0);
  await cluster.of(volumes).delete('right');
  await cluster.run(2_000);
  assert.equal(await phase(), 'Bound', 'a volume in use stays');
  await cluster.of(volumes).patch('right', { type: 'merge', value: { metadata: { finalizers: null } } });
  await cluster.until('the claim has lost it', async () => (await phase()) === 'Lost');
});

test('a volume that is deleted before its claim goes after it, with its data', async (t) => {
  const { cluster, directories, all, phase, volumeOf } = await world(t);
  await all.create(claim('local'));
  await cluster.until('it is bound', async () => (await phase()) === 'Bound');
  const name = (await volumeOf())?.metadata.name ?? '';
  await cluster.of(volumes).delete(name);
  await cluster.run(2_000);
  assert.equal(directories.all.size, 1);
  await all.delete('data');
  await cluster.until('all is gone', async () => (await volumeOf()) === undefined);
  assert.equal(directories.all.size, 0);
});
