import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { type AnyObject, apiVersionOf, type OwnerReference, type Resource, resource } from '@reeve/kube';
import { Cluster } from '../cluster-testing.ts';
import { pods } from '../../kinds/pod.ts';
import { GarbageKeeper } from './keeper.ts';

const core = { group: '', version: 'v1' } as const;
const maps = resource<AnyObject>({ ...core, plural: 'configmaps', kind: 'ConfigMap', namespaced: true });
const secrets = resource<AnyObject>({ ...core, plural: 'secrets', kind: 'Secret', namespaced: true });
const namespaces = resource<AnyObject>({ ...core, plural: 'namespaces', kind: 'Namespace', namespaced: false });
const volumes = resource<AnyObject>({
  ...core,
  plural: 'persistentvolumes',
  kind: 'PersistentVolume',
  namespaced: false,
});
const definitions = resource<AnyObject>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
});
const things = resource<AnyObject>({
  group: 'test.dev',
  version: 'v1',
  plural: 'things',
  kind: 'Thing',
  namespaced: true,
});

const thingDefinition = {
  metadata: { name: 'things.test.dev' },
  spec: {
    group: 'test.dev',
    scope: 'Namespaced',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

function garbageWorld(t: TestContext): Promise<Cluster> {
  const controllers = (host: ConstructorParameters<typeof GarbageKeeper>[0]['host'], { clock, api }: Cluster) => [
    new GarbageKeeper({ clock, client: api.client, host }),
  ];
  return Cluster.start(t, { controllers });
}

function owned(kind: Resource<AnyObject>, owner: AnyObject, more: Partial<OwnerReference> = {}): OwnerReference {
  const { name = '', uid = '' } = owner.metadata;
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid, ...more };
}

async function make(
  cluster: Cluster,
  kind: Resource<AnyObject>,
  name: string,
  ownerReferences: readonly OwnerReference[] = [],
  finalizers: readonly string[] = [],
  namespace = 'ns',
) {
  return cluster.of(kind, namespace).create({ metadata: { name, ownerReferences, finalizers } });
}

const gone =
  (cluster: Cluster, kind: Resource<AnyObject>, name: string, namespace = 'ns') =>
  async () =>
    (await cluster.of(kind, namespace).find(name)) === undefined;

test('with the last owner its dependents go, and theirs', async (t) => {
  const cluster = await garbageWorld(t);
  const a = await make(cluster, maps, 'a');
  const b = await make(cluster, secrets, 'b', [owned(maps, a)]);
  await make(cluster, maps, 'c', [owned(secrets, b)]);
  await make(cluster, maps, 'other');
  await cluster.run(500);
  await cluster.of(maps).delete('a');
  await cluster.until('c is gone', gone(cluster, maps, 'c'));
  assert.equal(await gone(cluster, secrets, 'b')(), true);
  assert.equal(await gone(cluster, maps, 'other')(), false);
});

test('one with another owner stays and forgets the one that is gone', async (t) => {
  const cluster = await garbageWorld(t);
  const [a, b] = [await make(cluster, maps, 'a'), await make(cluster, maps, 'b')];
  await make(cluster, maps, 'c', [owned(maps, a), owned(maps, b)]);
  await cluster.of(maps).delete('a');
  const owners = async () => (await cluster.of(maps).get('c')).metadata.ownerReferences?.map(({ name }) => name).join();
  await cluster.until('one owner is left', async () => (await owners()) === 'b');
  await cluster.of(maps).delete('b');
  await cluster.until('it goes with the last', gone(cluster, maps, 'c'));
});

test('an owner that never was is proved absent; one of the same name with another uid is not it', async (t) => {
  const cluster = await garbageWorld(t);
  const a = await make(cluster, maps, 'a');
  await make(cluster, maps, 'wrong-uid', [{ ...owned(maps, a), uid: 'b2d7f0c0-0000-4000-8000-000000000000' }]);
  await make(cluster, maps, 'right', [owned(maps, a)]);
  await make(cluster, maps, 'unknown-kind', [
    { ...owned(maps, a), apiVersion: 'nowhere.dev/v1', kind: 'Nothing', uid: 'x' },
  ]);
  await cluster.until('the wrong one is gone', gone(cluster, maps, 'wrong-uid'));
  await cluster.run(3_000);
  assert.equal(await gone(cluster, maps, 'right')(), false);
  assert.equal(await gone(cluster, maps, 'unknown-kind')(), false, 'what cannot be looked for is not absent');
});

test('an owner in another namespace is no owner; one in a namespace owns nothing outside', async (t) => {
  const cluster = await garbageWorld(t);
  const there = await make(cluster, maps, 'a', [], [], 'default');
  await make(cluster, maps, 'child', [owned(maps, there)]);
  await cluster.of(volumes).create({
    metadata: { name: 'v', ownerReferences: [owned(maps, there)] },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/v' } },
  });
  await cluster.until('the child is gone', gone(cluster, maps, 'child'));
  await cluster.run(2_000);
  assert.ok(await cluster.of(volumes).find('v'));
  assert.ok((await cluster.events()).some(({ reason }) => reason === 'OwnerRefInvalidNamespace'));
});

test('in foreground the owner waits for those that block it', async (t) => {
  const cluster = await garbageWorld(t);
  const a = await make(cluster, maps, 'a');
  const b = await make(cluster, maps, 'b', [owned(maps, a, { blockOwnerDeletion: true })]);
  await make(cluster, secrets, 'held', [owned(maps, b, { blockOwnerDeletion: true })], ['test.dev/hold']);
  await make(cluster, maps, 'loose', [owned(maps, a)], ['test.dev/hold']);
  await cluster.run(500);
  await cluster.of(maps).delete('a', { propagationPolicy: 'Foreground' });
  await cluster.run(3_000);
  for (const name of ['a', 'b', 'loose']) {
    const { deletionTimestamp } = (await cluster.of(maps).get(name)).metadata;
    assert.notEqual(deletionTimestamp, undefined, name);
  }
  await cluster.of(secrets).patch('held', { type: 'merge', value: { metadata: { finalizers: null } } });
  await cluster.until('a is gone', gone(cluster, maps, 'a'));
  assert.equal(await gone(cluster, maps, 'b')(), true);
  assert.equal(await gone(cluster, maps, 'loose')(), false, 'one that does not block is not waited for');
});

test('two that own each other are deleted in foreground all the same', async (t) => {
  const cluster = await garbageWorld(t);
  const a = await make(cluster, maps, 'a');
  const b = await make(cluster, maps, 'b', [owned(maps, a, { blockOwnerDeletion: true })]);
  const value = { metadata: { ownerReferences: [owned(maps, b, { blockOwnerDeletion: true })] } };
  await cluster.of(maps).patch('a', { type: 'merge', value });
  await cluster.of(maps).delete('a', { propagationPolicy: 'Foreground' });
  await cluster.until(
    'both are gone',
    async () => (await gone(cluster, maps, 'a')()) && (await gone(cluster, maps, 'b')()),
  );
});

test('orphans stay, without the owner that let them go', async (t) => {
  const cluster = await garbageWorld(t);
  const a = await make(cluster, maps, 'a');
  await make(cluster, maps, 'b', [owned(maps, a)]);
  await make(cluster, secrets, 'c', [owned(maps, a)]);
  await cluster.of(maps).delete('a', { propagationPolicy: 'Orphan' });
  await cluster.until('a is gone', gone(cluster, maps, 'a'));
  await cluster.run(2_000);
  assert.deepEqual((await cluster.of(maps).get('b')).metadata.ownerReferences ?? [], []);
  assert.deepEqual((await cluster.of(secrets).get('c')).metadata.ownerReferences ?? [], []);
});

test('kinds that are defined later are collected, too; nothing is lost when they come and go', async (t) => {
  const cluster = await garbageWorld(t);
  await cluster.run(500);
  await cluster.of(definitions).create(thingDefinition);
  await cluster.until('the kind is served', async () => {
    try {
      await cluster.of(things).listAll();
      return true;
    } catch {
      return false;
    }
  });
  const thing = await make(cluster, things, 'one');
  await make(cluster, maps, 'child', [owned(things, thing)]);
  const child = await make(cluster, things, 'small', [owned(things, thing)]);
  await make(cluster, maps, 'grandchild', [owned(things, child)]);
  await cluster.run(1_000);
  assert.equal(await gone(cluster, maps, 'child')(), false);
  await cluster.of(things).delete('one');
  await cluster.until('all are gone', async () => {
    const rest = [gone(cluster, maps, 'child'), gone(cluster, things, 'small'), gone(cluster, maps, 'grandchild')];
    return (await Promise.all(rest.map((one) => one()))).every(Boolean);
  });
});

test('what happened while nobody looked is found at the start', async (t) => {
  const cluster = await garbageWorld(t);
  await cluster.run(500);
  await cluster.stopManager();
  const a = await make(cluster, maps, 'a');
  await make(cluster, maps, 'b', [owned(maps, a)]);
  await cluster.of(maps).delete('a');
  assert.ok(await cluster.of(maps).find('b'));
  cluster.startManager();
  await cluster.until('b is gone', gone(cluster, maps, 'b'));
  assert.ok(await cluster.of(namespaces).find('ns'));
  assert.deepEqual((await cluster.of(pods).listAll()).items, []);
});
