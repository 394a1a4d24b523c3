import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnyObject, resource } from '@reeve/kube';
import { Cluster } from '../cluster-testing.ts';
import { namespaces } from '../../kinds/namespace.ts';
import { pods } from '../../kinds/pod.ts';
import { NamespaceController } from './controller.ts';

const maps = resource<AnyObject>({
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
});

test('a namespace goes when everything in it is gone: pods first, and what is held is named', async (t) => {
  const cluster = await Cluster.start(t, { controllers: (_, { api }) => [new NamespaceController(api.client)] });
  const all = cluster.of(namespaces);
  await cluster.of(maps).create({ metadata: { name: 'held', finalizers: ['test.dev/hold'] } });
  await cluster.of(maps, 'default').create({ metadata: { name: 'elsewhere' } });
  await cluster.of(pods).create({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'x' }] } });
  await cluster.run(500);
  cluster.stubborn.add('p');
  await all.delete('ns');
  const condition = async (type: string) => (await all.get('ns')).status?.conditions?.find((one) => one.type === type);
  await cluster.until('the pod is named', async () =>
    ((await condition('NamespaceContentRemaining'))?.message ?? '').includes('pods. has 1 resource instances'),
  );
  assert.equal((await cluster.of(maps).get('held')).metadata.deletionTimestamp, undefined, 'after the pods');
  cluster.stubborn.clear();
  await cluster.until('the finalizer is named', async () => {
    const { status, reason, message } = (await condition('NamespaceFinalizersRemaining')) ?? {};
    const text = 'Some content in the namespace has finalizers remaining: test.dev/hold in 1 resource instances';
    return status === 'True' && reason === 'SomeFinalizersRemain' && message === text;
  });
  await cluster.of(maps).patch('held', { type: 'merge', value: { metadata: { finalizers: null } } });
  await cluster.until('it is gone', async () => (await all.find('ns')) === undefined);
  assert.ok(await cluster.of(maps, 'default').find('elsewhere'));
});

test('a namespace that lives is left alone', async (t) => {
  const cluster = await Cluster.start(t, { controllers: (_, { api }) => [new NamespaceController(api.client)] });
  await cluster.of(maps).create({ metadata: { name: 'm' } });
  await cluster.run(2_000);
  assert.ok(await cluster.of(maps).find('m'));
  assert.equal((await cluster.of(namespaces).get('ns')).status?.conditions, undefined);
});
