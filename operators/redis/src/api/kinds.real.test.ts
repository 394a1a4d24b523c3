/** Our kinds on the real kube-apiserver: it takes them, rules and their cost included, and refuses what they refuse. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AnyObject, connect, type Connection, isKubeError, resource, systemKubePorts } from '@reeve/kube';
import { type Kube, startKube, until } from '@reeve/rig';
import { crdOf } from '@reeve/runtime';
import { redisClusterKind } from './cluster.ts';
import { redisClusters, redisTasks, statefulSets } from './kinds.ts';
import { redisTaskKind } from './task.ts';
import { statefulSetOf } from '../plan/children.ts';
import { desiredOf } from '../plan/desired.ts';

const definitions = resource<AnyObject>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
});
let kube: Kube;
let connection: Connection;

before(async () => {
  kube = await startKube();
  const { kubeconfig } = await kube.user({ name: 'test', groups: ['system:masters'] });
  connection = await connect(systemKubePorts(), { file: kubeconfig });
});

after(async () => {
  connection.close();
  await kube.stop();
});

const isInvalid = (pattern: RegExp) => (error: unknown) =>
  isKubeError(error, 'KUBE_INVALID') && pattern.test((error as Error).message);

test('the real server takes both kinds, and holds their rules', async () => {
  const { client } = connection;
  for (const kind of [redisClusterKind, redisTaskKind]) {
    const wanted = crdOf(kind) as unknown as AnyObject & { metadata: { name: string } };
    await client.resource(definitions).apply(wanted, { fieldManager: 'test' });
  }
  const clusters = client.resource(redisClusters, 'default');
  const create = (name: string, spec: object) => clusters.create({ metadata: { name }, spec } as never);
  await until(
    'it is served',
    () =>
      clusters.list().then(
        () => true,
        () => false,
      ),
    { timeoutMs: 30_000 },
  );
  await create('good', { primaries: 3, config: { maxmemory: '1gb' }, storage: { size: '1Gi' } });
  await assert.rejects(create('few', { primaries: 2 }), isInvalid(/spec.primaries/));
  await assert.rejects(
    create('ours', { primaries: 3, config: { requirepass: 'x' } }),
    isInvalid(/set by the operator/),
  );
  await assert.rejects(create('many', { primaries: 500, replicasPerPrimary: 5 }), isInvalid(/at most 1000 nodes/));
  await assert.rejects(create('two', { primaries: 3, image: 'a', version: '9' }), isInvalid(/give one of the two/));
  const noStorage = { type: 'merge', value: { spec: { storage: null } } } as const;
  await assert.rejects(clusters.patch('good', noStorage), isInvalid(/cannot be changed/));
  const larger = { type: 'merge', value: { spec: { storage: { size: '2Gi' } } } } as const;
  await assert.rejects(clusters.patch('good', larger), isInvalid(/cannot be changed/));
  const users = [{ name: 'default', rules: '+@all', passwordSecret: { name: 's', key: 'k' } }];
  await assert.rejects(create('mine', { primaries: 3, auth: { users } }), isInvalid(/users of every cluster/));

  await create('own', { primaries: 3, image: 'mirror.example/kv:1', product: 'redis' });
  await create('named', { primaries: 3, image: 'mirror.example/library/redis:8', product: 'redis' });
  for (const spec of [
    { image: 'redis:8', product: 'valkey' },
    { image: 'mirror.example/valkey/valkey@sha256:0', product: 'redis' },
  ]) {
    await assert.rejects(create('contrary', { primaries: 3, ...spec }), isInvalid(/of another product/));
  }
  const untested = { primaries: 3, migration: { engine: 'redis-atomic' } };
  await assert.rejects(create('untested', untested), isInvalid(/migration\.engine/));

  const external = { members: 'external', primaries: 3 } as const;
  const passwordSecret = { name: 'access', key: 'password' };
  const access = { username: 'reeve', passwordSecret, tls: { secretName: 'access-tls', serverName: 'cache' } };
  await create('theirs', { ...external, access, placement: { spreadBy: ['zone'] } });
  for (const spec of [
    { version: '9' },
    { product: 'valkey' },
    { deletionPolicy: 'Delete' },
    { tls: { mode: 'off' } },
  ]) {
    await assert.rejects(create('mixed', { ...external, ...spec }), isInvalid(/not ours to set/));
  }
  for (const placement of [{ required: true }, { nodeSelector: { a: 'b' } }, { tolerations: [] }]) {
    await assert.rejects(create('placed', { ...external, placement }), isInvalid(/only spreadBy is for them/));
  }
  const nameless = { ...external, access: { username: 'reeve' } };
  await assert.rejects(create('nameless', nameless), isInvalid(/lets nobody in/));
  await assert.rejects(create('pods', { primaries: 3, access: {} }), isInvalid(/access is for external members/));
  const managed = { type: 'merge', value: { spec: { members: 'managed', access: null } } } as const;
  await assert.rejects(clusters.patch('theirs', managed), isInvalid(/whose servers they are cannot be changed/));

  const tasks = client.resource(redisTasks, 'default');
  const task = (name: string, spec: object) => tasks.create({ metadata: { name }, spec } as never);
  await task('check', { cluster: 'good', check: {} });
  await assert.rejects(task('none', { cluster: 'good' }), isInvalid(/exactly one of/));
  await assert.rejects(task('both', { cluster: 'good', check: {}, fix: {} }), isInvalid(/exactly one of/));
  await task('add', { cluster: 'theirs', addNode: { member: 'db-1', of: 'db-2' } });
  const follower = { member: 'db-1', as: 'primary', of: 'db-2' };
  await assert.rejects(task('odd', { cluster: 'theirs', addNode: follower }), isInvalid(/only a replica follows/));
  const other = { type: 'merge', value: { spec: { cluster: 'other' } } } as const;
  await assert.rejects(tasks.patch('check', other), isInvalid(/is not changed/));
});

test('the real server takes the set of a cluster, and keeps as whom its pods run and who may read its secrets', async () => {
  interface Kept {
    readonly securityContext: object;
    readonly volumes: readonly { readonly name: string; readonly secret?: { readonly defaultMode: number } }[];
  }
  const sets = connection.client.resource(statefulSets, 'default');
  const setOf = (spec: object) =>
    statefulSetOf('c', desiredOf({ primaries: 3, ...spec }), { replicas: 6, configDigest: 'v1-0' });
  const kept = async (spec: object) => {
    await sets.apply(setOf(spec), { fieldManager: 'redis', force: true });
    return (await sets.get('c')).spec?.template.spec as Kept;
  };
  const { securityContext, volumes } = await kept({ tls: { mode: 'selfSigned' } });
  assert.deepEqual(securityContext, {
    runAsUser: 999,
    runAsGroup: 999,
    runAsNonRoot: true,
    fsGroup: 999,
    fsGroupChangePolicy: 'OnRootMismatch',
  });
  const modes = volumes.flatMap(({ name, secret }) => (secret ? [[name, secret.defaultMode]] : []));
  assert.deepEqual(modes, [
    ['auth', 0o440],
    ['tls', 0o440],
  ]);
  const own = { runAsUser: 1001, fsGroup: 1001 };
  assert.deepEqual((await kept({ tls: { mode: 'selfSigned' }, securityContext: own })).securityContext, own);
});
