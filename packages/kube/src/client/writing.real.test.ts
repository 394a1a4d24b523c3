/** Writing to a real kube-apiserver. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type Kube, startKube, until } from '@reeve/rig';
import { discover } from '../discovery/discovery.ts';
import type { KubeError } from '../errors/errors.ts';
import type { KubeObject } from '../object/object.ts';
import { resource } from '../object/resource.ts';
import { isStatus } from '../object/status.ts';
import { configMaps, connected, failing, installWidgets, ownNamespace, pods, widgets } from './real-testing.ts';

interface Deployment extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: object;
    readonly template?: { readonly metadata?: object; readonly spec: { readonly containers: readonly Container[] } };
  };
}
interface Container {
  readonly name: string;
  readonly image?: string;
  readonly env?: readonly object[];
}

const deployments = resource<Deployment>({
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
});

const deployment = (name: string, containers: readonly Container[]) => ({
  metadata: { name },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers } },
  },
});

let kube: Kube;
before(async () => {
  kube = await startKube();
});
after(() => kube?.stop());

it('creates, updates with the version that was read, and is told of conflicts', async (t) => {
  const connection = await connected(t, kube);
  const maps = connection.client.resource(configMaps, await ownNamespace(connection, 'conflict'));
  const first = await maps.create({ metadata: { name: 'a' }, data: { x: '1' } });
  await assert.rejects(maps.create({ metadata: { name: 'a' } }), failing('KUBE_ALREADY_EXISTS'));
  const second = await maps.update({ ...first, data: { x: '2' } });
  assert.notEqual(second.metadata.resourceVersion, first.metadata.resourceVersion);
  await assert.rejects(maps.update({ ...first, data: { x: '3' } }), failing('KUBE_CONFLICT', /has been modified/));
  assert.deepEqual((await maps.get('a')).data, { x: '2' });
  const tried = await maps.update({ ...second, data: { x: '4' } }, { dryRun: true });
  assert.deepEqual([tried.data, (await maps.get('a')).data], [{ x: '4' }, { x: '2' }]);
  await assert.rejects(maps.create({ metadata: { name: 'Not A Name' } }), (error: KubeError) => {
    assert.equal(error.status?.details?.causes?.[0]?.field, 'metadata.name');
    return failing('KUBE_INVALID')(error);
  });
});

it('a misspelt field is an error, unless it is to be ignored', async (t) => {
  const connection = await connected(t, kube);
  const maps = connection.client.resource(configMaps, await ownNamespace(connection, 'strict'));
  const misspelt = { metadata: { name: 'a' }, datta: { x: '1' } };
  await assert.rejects(maps.create(misspelt), failing('KUBE_INVALID', /unknown field "datta"/));
  await assert.rejects(maps.apply(misspelt), failing('KUBE_INVALID', /datta/));
  assert.equal(await maps.find('a'), undefined);
  const created = await maps.create(misspelt, { fieldValidation: 'Ignore' });
  assert.equal('datta' in created, false);
  const patch = { type: 'merge', value: { datta: {} } } as const;
  await assert.rejects(maps.patch('a', patch), failing('KUBE_INVALID', /datta/));
});

it('server-side apply: fields belong to managers, a conflict names them, force takes over, leaving out lets go', async (t) => {
  const connection = await connected(t, kube);
  const maps = connection.client.resource(configMaps, await ownNamespace(connection, 'apply'));
  await maps.apply({ metadata: { name: 'a' }, data: { x: '1', y: '1' } }, { fieldManager: 'one' });
  await maps.apply({ metadata: { name: 'a' }, data: { z: '1' } }, { fieldManager: 'two' });
  const other = { metadata: { name: 'a' }, data: { x: '2', z: '1' } };
  await assert.rejects(maps.apply(other, { fieldManager: 'two' }), (error: KubeError) => {
    const [cause] = error.status?.details?.causes ?? [];
    assert.deepEqual([cause?.reason, cause?.field], ['FieldManagerConflict', '.data.x']);
    return failing('KUBE_CONFLICT', /conflict with "one"/)(error);
  });
  const taken = await maps.apply(other, { fieldManager: 'two', force: true });
  assert.deepEqual(taken.data, { x: '2', y: '1', z: '1' });
  // `one` no longer owns x: leaving x and y out removes y only.
  const left = await maps.apply({ metadata: { name: 'a' } }, { fieldManager: 'one' });
  assert.deepEqual(left.data, { x: '2', z: '1' });
  assert.deepEqual(left.metadata.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`).sort(), [
    'two Apply',
  ]);
  // What was read can be applied: managed fields, which the server refuses there, are not sent.
  const { managedFields, resourceVersion } = left.metadata;
  const again = await maps.apply({ ...left, metadata: { name: 'a', managedFields } }, { fieldManager: 'two' });
  assert.equal(again.metadata.resourceVersion, resourceVersion);
});

it('patches: merge removes with null, JSON tests before it writes, strategic merges lists by key', async (t) => {
  const connection = await connected(t, kube);
  const namespace = await ownNamespace(connection, 'patch');
  const maps = connection.client.resource(configMaps, namespace);
  await maps.create({ metadata: { name: 'a' }, data: { x: '1', y: '1' } });
  const merged = await maps.patch('a', { type: 'merge', value: { data: { x: null, z: '1' } } });
  assert.deepEqual(merged.data, { y: '1', z: '1' });
  const stale = { type: 'merge', value: { metadata: { resourceVersion: '1' }, data: { y: '9' } } } as const;
  await assert.rejects(maps.patch('a', stale), failing('KUBE_CONFLICT'));
  const tested = await maps.patch('a', {
    type: 'json',
    value: [
      { op: 'test', path: '/data/y', value: '1' },
      { op: 'replace', path: '/data/y', value: '2' },
      { op: 'move', from: '/data/z', path: '/data/w' },
    ],
  });
  assert.deepEqual(tested.data, { y: '2', w: '1' });
  const wrong = { type: 'json', value: [{ op: 'test', path: '/data/y', value: '1' }] } as const;
  await assert.rejects(maps.patch('a', wrong), failing('KUBE_INVALID'));
  const sets = connection.client.resource(deployments, namespace);
  await sets.create(
    deployment('d', [
      { name: 'one', image: 'a' },
      { name: 'two', image: 'b' },
    ]),
  );
  const containers = [{ name: 'two', image: 'c' }];
  const value = { spec: { template: { spec: { containers } } } };
  const strategic = await sets.patch('d', { type: 'strategic', value });
  assert.deepEqual(strategic.spec?.template?.spec.containers.map(({ name, image }) => `${name} ${image}`).sort(), [
    'one a',
    'two c',
  ]);
  await assert.rejects(maps.patch('none', { type: 'merge', value: {} }), failing('KUBE_NOT_FOUND'));
});

it('custom resources: discovered when installed, status and scale apart from the spec, int64 kept', async (t) => {
  const connection = await connected(t, kube);
  const { client } = connection;
  const name = { group: 'test.reeve.dev', kind: 'Widget' };
  assert.equal(await discover(client, name), undefined);
  await installWidgets(connection);
  const found = await until('it is served', () => discover(client, name));
  assert.deepEqual([found.version, found.plural, found.namespaced], ['v1', 'widgets', true]);
  assert.deepEqual([...found.subresources].sort(), ['scale', 'status']);
  assert.deepEqual((await discover(client, { group: 'apps', kind: 'Deployment' }))?.version, 'v1');
  assert.ok((await discover(client, { group: '', kind: 'Pod' }))?.verbs.includes('watch'));

  const all = client.resource(widgets, await ownNamespace(connection, 'custom'));
  // Discovery may be ahead of the handler that serves the kind.
  const created = await until('it can be written', () =>
    all.create({
      metadata: { name: 'w' },
      spec: { size: 9_007_199_254_740_993n, replicas: 1 },
      status: { phase: 'no' },
    }),
  );
  assert.deepEqual([created.spec?.size, created.status], [9_007_199_254_740_993n, undefined]);
  assert.equal((await all.get('w')).spec?.size, 9_007_199_254_740_993n);
  const extremes = [9_223_372_036_854_775_807n, -9_223_372_036_854_775_808n, 9_007_199_254_740_991];
  for (const size of extremes) {
    assert.equal((await all.patch('w', { type: 'merge', value: { spec: { size } } })).spec?.size, size);
  }
  await assert.rejects(
    all.patch('w', { type: 'merge', value: { spec: { size: 'large' } } }),
    failing('KUBE_INVALID', /spec\.size/),
  );

  const withStatus = await all.apply(
    { metadata: { name: 'w' }, status: { phase: 'Ready', replicas: 1 }, spec: { color: 'ignored' } },
    { subresource: 'status' },
  );
  assert.deepEqual([withStatus.status, withStatus.spec?.color], [{ phase: 'Ready', replicas: 1 }, undefined]);
  const current = await all.get('w', { subresource: 'status' });
  const updated = await all.update({ ...current, status: { phase: 'Done', replicas: 2 } }, { subresource: 'status' });
  assert.deepEqual([updated.status?.phase, updated.metadata.generation], ['Done', current.metadata.generation]);

  const scale = await all.scale('w');
  assert.deepEqual([scale.spec?.replicas, scale.status?.replicas], [1, 2]);
  assert.equal((await all.setScale('w', 5)).spec?.replicas, 5);
  const scaled = await all.get('w');
  assert.deepEqual([scaled.spec?.replicas, scaled.spec?.size, scaled.status?.phase], [5, extremes[2], 'Done']);
});

it('delete: preconditions hold, the policy for dependents is kept, finalizers keep the object', async (t) => {
  const connection = await connected(t, kube);
  const maps = connection.client.resource(configMaps, await ownNamespace(connection, 'delete'));
  const create = (name: string, finalizers: readonly string[] = []) => maps.create({ metadata: { name, finalizers } });
  const a = await create('a');
  const other = '00000000-0000-0000-0000-000000000000';
  await assert.rejects(maps.delete('a', { uid: other }), failing('KUBE_CONFLICT', /the UID in the precondition/));
  await assert.rejects(maps.delete('a', { resourceVersion: '1' }), failing('KUBE_CONFLICT'));
  assert.ok(!isStatus(await maps.delete('a', { dryRun: true })) || (await maps.find('a')));
  const answer = await maps.delete('a', { uid: a.metadata.uid, resourceVersion: a.metadata.resourceVersion });
  assert.ok(isStatus(answer) && answer.status === 'Success', JSON.stringify(answer));
  assert.equal(await maps.find('a'), undefined);

  // Nobody collects garbage here: what was asked for stays to be seen.
  for (const [policy, finalizer] of [
    ['Foreground', 'foregroundDeletion'],
    ['Orphan', 'orphan'],
  ] as const) {
    await create(policy.toLowerCase());
    const kept = await maps.delete(policy.toLowerCase(), { propagationPolicy: policy });
    assert.ok(!isStatus(kept) && kept.metadata.deletionTimestamp !== undefined);
    assert.deepEqual(kept.metadata.finalizers, [finalizer]);
  }
  await create('held', ['test.reeve.dev/held']);
  const held = await maps.delete('held', { propagationPolicy: 'Background' });
  assert.ok(!isStatus(held) && held.metadata.deletionTimestamp !== undefined);
  await maps.patch('held', { type: 'merge', value: { metadata: { finalizers: null } } });
  assert.equal(await maps.find('held'), undefined);

  for (const name of ['x', 'y', 'z']) await maps.create({ metadata: { name, labels: { all: 'yes' } } });
  await maps.deleteCollection({ labelSelector: 'all=yes' });
  assert.deepEqual((await maps.listAll({ labelSelector: 'all=yes' })).items, []);
});

it('a pod is deleted with its grace, and evicted through its subresource', async (t) => {
  const connection = await connected(t, kube);
  const all = connection.client.resource(pods, await ownNamespace(connection, 'grace'));
  const pod = (name: string) => ({
    metadata: { name },
    spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
  });
  await all.create(pod('slow'));
  const going = await all.delete('slow', { gracePeriodSeconds: 40 });
  assert.ok(!isStatus(going) && going.metadata.deletionGracePeriodSeconds === 40);
  await all.delete('slow', { gracePeriodSeconds: 0 });
  assert.equal(await all.find('slow'), undefined);
  await all.create(pod('out'));
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'out' } };
  assert.ok(isStatus(await all.post('out', 'eviction', eviction)));
  const evicted = await all.get('out');
  assert.ok(evicted.metadata.deletionTimestamp !== undefined);
});
