/**
 * The operators on a real kube-apiserver and kube-controller-manager, with a token of their service account: they have the rights of the
 * manifests, and nothing they ask for is forbidden. There is no kubelet: pods are made and never run.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type AnyObject, connect, isKubeError, resource, systemKubePorts } from '@reeve/kube';
import { redisClusters, redisTasks } from '@reeve/redis';
import { memberKind } from '@reeve/runtime';
import { Cluster, core, type Running } from './kubernetes-testing.ts';
import { clusterRights } from './manifests.ts';

const ACCOUNT = 'system:serviceaccount:reeve-system:reeve';
const NS = 'shop';
const clusters = redisClusters as never as ReturnType<typeof core>;
const tasks = redisTasks as never as ReturnType<typeof core>;
const apps = { group: 'apps', version: 'v1', namespaced: true } as const;
const sets = resource<AnyObject>({ ...apps, plural: 'statefulsets', kind: 'StatefulSet' });
const budgets = resource<AnyObject>({
  group: 'policy',
  version: 'v1',
  plural: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  namespaced: true,
});
const pods = core('pods', 'Pod');
const members = resource<AnyObject>(memberKind);
const claims = core('persistentvolumeclaims', 'PersistentVolumeClaim');
const secrets = core('secrets', 'Secret');
const namespaces = resource<AnyObject>({
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
});

/** Rights that are used, though perhaps not here. */
const UNSEEN: readonly string[] = [
  // Asked for when a task that runs may have been deleted: nothing runs here.
  'get redis.reeve.dev redistasks',
  // Events that come again are counted once a minute.
  'patch events.k8s.io events',
  // Asked about by the server itself, which does not write that down.
  'update redis.reeve.dev redisclusters/finalizers',
  'bind rbac.authorization.k8s.io clusterroles',
  // Orders for agents: none is alive here.
  'get agents.reeve.dev members',
  'update agents.reeve.dev members',
];

interface Status {
  readonly phase?: string;
  readonly observedGeneration?: number;
  readonly waitingFor?: readonly { readonly reason: string }[];
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
}

describe('reeve run', () => {
  let world: Cluster;
  let first: Running;
  before(async () => {
    world = await Cluster.start();
  });
  after(() => world?.[Symbol.asyncDispose]());

  const cluster = (name: string, spec: object) =>
    world.of(clusters, NS).create({ metadata: { name }, spec: { primaries: 3, ...spec } } as never);
  const statusOf = async (name: string): Promise<Status> =>
    ((await world.of(clusters, NS).find(name)) as { readonly status?: Status } | undefined)?.status ?? {};
  const patch = (name: string, spec: object) => world.of(clusters, NS).patch(name, { type: 'merge', value: { spec } });
  const replicas = async (name: string) =>
    ((await world.of(sets, NS).find(name)) as { readonly spec?: { readonly replicas?: number } } | undefined)?.spec
      ?.replicas;
  const podUids = async (name: string) =>
    (await world.of(pods, NS).listAll({ labelSelector: `redis.reeve.dev/cluster=${name}` })).items.map(
      ({ metadata }) => metadata.uid,
    );
  const claimCount = async (name: string) =>
    (await world.of(claims, NS).listAll({ labelSelector: `redis.reeve.dev/cluster=${name}` })).items.length;

  it('says what is missing: kinds, the namespace, rights; or installs it', async () => {
    const admin = ['run', '--kubeconfig', world.kube.kubeconfig];
    const bare = await world.reeve(admin);
    assert.equal(bare.code, 1);
    assert.match(bare.stderr, /does not serve .*redisclusters\.redis\.reeve\.dev\/v1alpha1.*\[KINDS_MISSING\]/);
    const administrator = await world.operators(world.kube.kubeconfig, '--install');
    assert.equal(await administrator.stop(), 0, 'it installs what is missing, and runs');
    const { stdout } = await world.reeve(['run', '--print-manifests']);
    await world.kube.kubectl(['apply', '--server-side', '-f', '-'], { input: stdout });
    const elsewhere = await world.reeve([...admin, '--namespace', 'nowhere']);
    assert.match(elsewhere.stderr, /no namespace nowhere.*\[NAMESPACE_MISSING\]/);
    const { kubeconfig } = await world.kube.user({ name: 'nobody' });
    const powerless = await world.reeve(['run', '--kubeconfig', kubeconfig]);
    assert.equal(powerless.code, 1);
    assert.match(powerless.stderr, /no right to .*patch redisclusters\.redis\.reeve\.dev\/status.*\[RIGHTS_MISSING\]/);
  });

  it('the Deployment passes the rules of its namespace: its pods are made', async () => {
    const made = async () =>
      (await world.of(pods, 'reeve-system').listAll({ labelSelector: 'app.kubernetes.io/name=reeve' })).items.length;
    await world.until('its pods are there', async () => (await made()) === 2);
  });

  it('with the rights of its role it makes all objects of a cluster, and says how far it has come', async () => {
    await world.of(namespaces).create({ metadata: { name: NS } });
    first = await world.operators(await world.asAccount('reeve', 'reeve-system'));
    await cluster('kept', { storage: { size: '1Gi' } });
    await world.until('its pods are there', async () => (await podUids('kept')).length === 6);
    await world.until('it waits for servers', async () =>
      ((await statusOf('kept')).waitingFor ?? []).some(({ reason }) => reason === 'ServersSilent'),
    );
    const { phase, observedGeneration, conditions = [] } = await statusOf('kept');
    assert.equal(phase, 'Pending');
    assert.equal(observedGeneration, 1);
    const is = (type: string) => conditions.find((one) => one.type === type)?.status;
    assert.deepEqual(['Valid', 'Declared', 'Available', 'Refused'].map(is), ['True', 'True', 'False', 'False']);
    for (const [kind, name] of [
      [core('services', 'Service'), 'kept'],
      [core('services', 'Service'), 'kept-nodes'],
      [core('configmaps', 'ConfigMap'), 'kept-config'],
      [secrets, 'kept-auth'],
      [budgets, 'kept'],
    ] as const) {
      const { metadata } = await world.of(kind, NS).get(name);
      assert.equal(metadata.ownerReferences?.[0]?.kind, 'RedisCluster', name);
    }
    assert.equal((await first.health('/readyz')).status, 200);
    assert.match((await first.health('/metrics')).text, /leader_election_master_status\{name="reeve-operators"\} 1/);
  });

  it('paused it changes nothing; then it does what was asked for meanwhile', async () => {
    await patch('kept', { paused: true });
    await world.until('it is paused', async () => (await statusOf('kept')).phase === 'Paused');
    await patch('kept', { primaries: 4 });
    await world.until('it has seen that', async () => (await statusOf('kept')).observedGeneration === 3);
    assert.equal(await replicas('kept'), 6);
    await patch('kept', { paused: false });
    await world.until('it has grown', async () => (await podUids('kept')).length === 8);
  });

  it('pods that cannot start are made anew when another image is asked for', async () => {
    const before = await podUids('kept');
    await patch('kept', { image: 'another' });
    await world.until('all are new', async () => {
      const now = await podUids('kept');
      return now.length === 8 && now.every((uid) => !before.includes(uid));
    });
  });

  it('a task without a cluster says so', async () => {
    await world.of(tasks, NS).create({ metadata: { name: 't' }, spec: { cluster: 'nobody', check: {} } } as never);
    await world.until(
      'it waits',
      async () => ((await world.of(tasks, NS).get('t')) as { status?: Status }).status?.phase === 'Waiting',
    );
  });

  it('an agent in a pod may write its own member and no other; a member goes with its pod', async () => {
    await cluster('tended', { agents: 'sidecar', replicasPerPrimary: 0 });
    // All that a kubelet would have to say: where it is. Nobody listens there.
    const settle = async () => {
      const { items } = await world.of(pods, NS).listAll({ labelSelector: 'redis.reeve.dev/cluster=tended' });
      for (const { metadata, status } of items) {
        if ((status as { readonly podIP?: string } | undefined)?.podIP !== undefined) continue;
        const ip = `127.9.9.${Number(metadata.name?.at(-1)) + 1}`;
        const value = { status: { podIP: ip, podIPs: [{ ip }] } };
        await world.of(pods, NS).patch(metadata.name ?? '', { type: 'merge', value }, { subresource: 'status' });
      }
      return (await world.of(members, NS).listAll()).items;
    };
    await world.until('each pod has its member', async () => (await settle()).length === 3);
    const owners = (await settle()).map(({ metadata }) =>
      metadata.ownerReferences?.map(({ kind, uid }) => [kind, uid]),
    );
    assert.deepEqual(new Set(owners.flat(2)), new Set(['Pod', ...(await podUids('tended'))]));

    const file = await world.asAccount('reeve-agent', NS, 'tended-0');
    using connection = await connect(systemKubePorts(), { file, retries: 0 });
    const asAgent = connection.client.resource(members, NS);
    const report = { type: 'merge', value: { status: { observedGeneration: 1 } } } as const;
    await asAgent.patch('tended-0', report, { subresource: 'status' });
    const refused = (error: unknown) => isKubeError(error, 'KUBE_FORBIDDEN');
    await assert.rejects(asAgent.patch('tended-1', report, { subresource: 'status' }), refused);
    await assert.rejects(asAgent.patch('tended-0', { type: 'merge', value: { spec: { system: 'x' } } }), refused);
    await assert.rejects(connection.client.resource(secrets, NS).listAll(), refused);

    const memberUid = async () => (await settle()).find(({ metadata }) => metadata.name === 'tended-0')?.metadata.uid;
    const before = await memberUid();
    await world.of(pods, NS).delete('tended-0', { gracePeriodSeconds: 0 });
    await world.until('the next pod has a member of its own', async () => {
      const now = await memberUid();
      return now !== undefined && now !== before;
    });
  });

  it('another process takes over when the first one ends, which gives its lease back', async () => {
    const second = await world.operators(await world.asAccount('reeve', 'reeve-system'));
    await world.until('it stands by', async () => (await second.health('/readyz')).status === 200);
    assert.doesNotMatch(second.text, /leading/);
    assert.equal(await first.stop(), 0);
    await world.until('it leads', async () => second.text.includes(' leading '));
    await patch('kept', { primaries: 5 });
    await world.until('it works', async () => (await podUids('kept')).length === 10);
  });

  it('deletion keeps volumes unless told otherwise, and waits where data would be lost', async () => {
    assert.equal(await claimCount('kept'), 10);
    await world.of(clusters, NS).delete('kept');
    await world.until('its pods are gone', async () => (await podUids('kept')).length === 0);
    await world.until('its secret is gone', async () => (await world.of(secrets, NS).find('kept-auth')) === undefined);
    assert.equal(await claimCount('kept'), 10);

    await cluster('thrown', { storage: { size: '1Gi' }, deletionPolicy: 'Delete' });
    await world.until('its claims are there', async () => (await claimCount('thrown')) === 6);
    await world.of(clusters, NS).delete('thrown');
    await world.until('its claims are gone', async () => (await claimCount('thrown')) === 0);

    await cluster('held', {});
    await world.until('its pods are there', async () => (await podUids('held')).length === 6);
    const value = { status: { configured: true } };
    await world.of(clusters, NS).patch('held', { type: 'merge', value }, { subresource: 'status' });
    await world.of(clusters, NS).delete('held');
    await world.until('it says why it stays', async () =>
      ((await statusOf('held')).conditions ?? []).some(
        ({ type, status }) => type === 'FinalizerBlocked' && status === 'True',
      ),
    );
    assert.equal(await replicas('held'), 6);
    await patch('held', { deletionPolicy: 'Delete' });
    await world.until('it is gone', async () => (await world.of(clusters, NS).find('held')) === undefined);
    await world.until('its pods are gone', async () => (await podUids('held')).length === 0);
  });

  it('nothing that it asked for was forbidden, and it has no right that it does not use', () => {
    const asked = world.askedBy(ACCOUNT);
    assert.ok(asked.length > 100, `${asked.length} requests`);
    const forbidden = asked.filter(({ responseStatus }) => responseStatus?.code === 403);
    assert.deepEqual(
      forbidden.map(({ verb, requestURI }) => `${verb} ${requestURI ?? ''}`),
      [],
    );
    const used = new Set(
      asked.flatMap(
        ({ verb, objectRef: { apiGroup = '', resource: plural = '', subresource } = {}, responseStatus }) => {
          const what = `${apiGroup} ${subresource === undefined ? plural : `${plural}/${subresource}`}`;
          // An apply that made something was asked about twice.
          return verb === 'patch' && responseStatus?.code === 201
            ? [`patch ${what}`, `create ${what}`]
            : [`${verb} ${what}`];
        },
      ),
    );
    const given = clusterRights.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) => resources.flatMap((plural) => verbs.map((verb) => `${verb} ${group} ${plural}`))),
    );
    // A server that sends with a watch what is there already is not asked for a list; others are.
    const isUsed = (right: string) => used.has(right) || used.has(right.replace(/^list /, 'watch '));
    assert.deepEqual(
      given.filter((right) => !isUsed(right) && !UNSEEN.includes(right)),
      [],
    );
  });
});
