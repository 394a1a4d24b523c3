/** `reeve plan` on an API in memory and a model of servers. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { resource } from '@reeve/kube';
import { APPROVE, CLUSTER_LABEL, redisClusters, redisTasks } from '@reeve/redis';
import { installKinds } from '../src/operators/operators.ts';
import { ApiHarness } from './api.ts';

const core = (plural: string, kind: string) => resource({ group: '', version: 'v1', plural, kind, namespaced: true });
const pods = core('pods', 'Pod');
const secrets = core('secrets', 'Secret');
const sets = resource({ group: 'apps', version: 'v1', plural: 'statefulsets', kind: 'StatefulSet', namespaced: true });

const file = {
  apiVersion: 'redis.reeve.dev/v1alpha1',
  kind: 'RedisCluster',
  metadata: { name: 'c' },
  spec: { primaries: 3, creation: 'manual' },
};

/** An API with the kinds, and what was written to it for good. */
async function opened(t: TestContext) {
  const api = await ApiHarness.open(t);
  await installKinds(api.client);
  const written: string[] = [];
  const watch = () => {
    api.onRequest = (method, path) => {
      if (method !== 'GET' && !path.includes('dryRun=All')) written.push(`${method} ${path}`);
    };
  };
  return { api, written, watch };
}

/** A declared cluster of six pods in which servers answer. */
async function withServers(t: TestContext, addresses: (api: ApiHarness) => readonly string[], management = 'Parallel') {
  const { api, written, watch } = await opened(t);
  await api.client.resource(redisClusters, 'default').create(file as never);
  const data = Object.fromEntries(
    ['password', 'admin-password'].map((key) => [key, Buffer.from('secret').toString('base64')]),
  );
  await api.client.resource(secrets, 'default').create({ metadata: { name: 'c-auth' }, data });
  const labels = { [CLUSTER_LABEL]: 'c' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 's', image: 'i' }] } };
  const set = await api.client.resource(sets, 'default').create({
    metadata: { name: 'c' },
    spec: {
      replicas: 6,
      serviceName: 'c-nodes',
      podManagementPolicy: management,
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: labels },
      template,
    },
  });
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'c', uid: set.metadata.uid, controller: true };
  for (const [ordinal, address] of addresses(api).entries()) {
    const name = `c-${ordinal}`;
    const own = api.client.resource(pods, 'default');
    await own.create({ metadata: { name, labels, ownerReferences: [owner] }, spec: template.spec });
    const status = { phase: 'Running', podIP: address.split(':')[0] };
    await own.patch(name, { type: 'merge', value: { status } }, { subresource: 'status' });
  }
  watch();
  return { api, written };
}

test('a file that was not applied yet: its objects would be created, and nothing is', async (t) => {
  const { api, written, watch } = await opened(t);
  watch();
  const { code, out } = await api.withFile('plan -f FILE', file);
  assert.equal(code, 0);
  assert.match(out, /^RedisCluster c: nothing is begun next\n/);
  for (const name of ['Secret c-auth', 'ConfigMap c-config', 'Service c-nodes', 'Service c', 'StatefulSet c'])
    assert.ok(out.includes(`${name} would be created`), name);
  assert.match(out, /there is no password yet/);
  assert.match(
    out,
    /After that:\n {2}create: as soon as 6 empty servers answer .* of 3 primaries with 1 replica each, when a/,
  );
  assert.deepEqual(written, []);
});

test('servers that wait to be created: steps and digest, and what an approval of it changes; nothing is sent to them', async (t) => {
  const { api, written } = await withServers(t, ({ harness }) => harness.addServers(6));
  const { code, out } = await api.run('plan rediscluster/c');
  assert.equal(code, 0);
  const digest = /create, plan (\S+), which waits for an approval/.exec(out)?.[1] ?? '';
  assert.match(digest, /^v1-/);
  assert.match(out, /Why:\n {2}6 empty servers wait to become one cluster\n\nSteps:\n {2}1\. .*becomes a primary/);
  assert.match(out, /StatefulSet c would be changed/);
  const json = (await api.run('plan rdc/c -o json')).json();
  const next = json.next as { readonly digest: string; readonly needsApproval: boolean };
  assert.deepEqual([next.digest, next.needsApproval], [digest, true]);
  assert.match((await api.run('plan rdc/c -o yaml')).out, /^kind: RedisCluster\n[^]*digest: v1-/);
  assert.deepEqual(written, []);
  assert.deepEqual(api.harness.changes(), []);
  const annotations = { [APPROVE]: digest };
  await api.client
    .resource(redisClusters, 'default')
    .patch('c', { type: 'merge', value: { metadata: { annotations } } });
  assert.match((await api.run('plan rediscluster/c')).out, new RegExp(`next is create, plan ${digest}\n`));
});

test('more and fewer primaries: what changes in the objects, and what follows', async (t) => {
  const { api, written } = await withServers(t, ({ harness }) => harness.formCluster(3, 3));
  const asked = (spec: object) => ({ ...file, spec: { ...file.spec, ...spec } });
  const { code, out } = await api.withFile('plan -f FILE', asked({ primaries: 4 }));
  assert.equal(code, 0);
  assert.match(out, /StatefulSet c would be changed\n(?: {4}.*\n)* {4}spec\.replicas: 6 → 8\n/);
  assert.match(
    out,
    /After that:\n {2}add-node: the servers of c-6, c-7 join as soon as they answer, and become a primary and a replica\n {2}rebalance: slots move to the new primaries, until each of 4 has about 4096\n/,
  );
  const off = await api.withFile('plan -f FILE', asked({ primaries: 4, rebalance: { mode: 'off' } }));
  assert.match(off.out, /\n {2}no rebalance: it is off/);
  const json = (await api.withFile('plan -f FILE -o json', asked({ primaries: 4 }))).json();
  assert.equal((json.following as string[]).length, 3);
  const objects = json.objects as { kind: string; fields?: { path: string; before: string; after: string }[] }[];
  const set = objects.find(({ kind }) => kind === 'StatefulSet')?.fields;
  assert.deepEqual(
    set?.find(({ path }) => path === 'spec.replicas'),
    {
      path: 'spec.replicas',
      before: '6',
      after: '8',
    },
  );
  const fewer = await api.withFile('plan -f FILE', asked({ primaries: 3, replicasPerPrimary: 0 }));
  assert.match(fewer.out, /next is delete-node/);
  assert.match(fewer.out, /After that:\n {2}delete-node: 3 nodes leave, replicas first/);
  assert.deepEqual(written, []);
});

test('what the server would not take is told, and the rest is planned all the same', async (t) => {
  const { api } = await withServers(t, ({ harness }) => harness.addServers(6), 'OrderedReady');
  const { code, out } = await api.run('plan rediscluster/c');
  assert.equal(code, 0);
  assert.match(out, /StatefulSet c would be refused by the server: .*updates to statefulset spec/);
  assert.match(out, /create, plan v1-/);
});

test('a task: what it would do, or why not; and without a cluster', async (t) => {
  const { api, written } = await withServers(t, ({ harness }) => harness.formCluster(3, 3));
  const task = (spec: object) => ({
    apiVersion: 'redis.reeve.dev/v1alpha1',
    kind: 'RedisTask',
    metadata: { name: 't' },
    spec,
  });
  const move = await api.withFile('plan -f FILE', task({ cluster: 'c', reshard: { slots: 100, to: 'c-0' } }));
  assert.match(move.out, /^RedisTask t: next is reshard, plan v1-/, move.err);
  assert.match(move.out, /Steps:\n {2}1\. /);
  const nobody = await api.withFile('plan -f FILE', task({ cluster: 'c', failover: { to: 'c-9' } }));
  assert.equal(nobody.code, 3);
  assert.match(nobody.out, /Refused:\n {2}UNKNOWN_NODE/);
  const alone = await api.withFile('plan -f FILE', task({ cluster: 'd', check: {} }));
  assert.match(alone.out, /there is no RedisCluster d in namespace default \(ClusterMissing\)/);
  assert.deepEqual(written, []);
  assert.equal((await api.client.resource(redisTasks, 'default').listAll()).items.length, 0);
  assert.deepEqual(api.harness.changes(), []);
});

test('a task of a cluster that is not created yet waits', async (t) => {
  const { api } = await withServers(t, ({ harness }) => harness.addServers(6));
  const spec = { cluster: 'c', reshard: { slots: 100, to: 'c-0' } };
  const task = { apiVersion: file.apiVersion, kind: 'RedisTask', metadata: { name: 't' }, spec };
  const { code, out } = await api.withFile('plan -f FILE', task);
  assert.equal(code, 0);
  assert.match(out, /nothing is begun next\n\nWaiting for:\n {2}the cluster was not created yet/);
});

test('what nobody plans is a wrong command line', async (t) => {
  const { api } = await opened(t);
  assert.equal((await api.run('plan')).code, 2);
  assert.equal((await api.run('plan pods/p')).code, 2);
  assert.equal((await api.run('plan rediscluster')).code, 2);
  assert.equal(
    (await api.withFile('plan -f FILE', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' } })).code,
    2,
  );
});
