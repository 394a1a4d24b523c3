/** Where pods are placed, and what they say when they cannot be: our scheduler with all our controllers, on a clock that moves when told. */
import assert from 'node:assert/strict';
import type { Stored } from '@reeve/kube';
import type { Cluster } from '../controllers/cluster-testing.ts';
import { furnish } from '../controllers/control-plane-testing.ts';
import { nodes } from '../kinds/node.ts';
import { type Pod, pods, type PodSpec } from '../kinds/pod.ts';
import { statefulSets } from '../kinds/statefulset.ts';
import { volumeClaims, volumes } from '../kinds/volumeclaim.ts';

export type PlacementScenarios = Readonly<Record<string, (cluster: Cluster) => Promise<void>>>;

const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';
const db = { labelSelector: { matchLabels: { app: 'db' } } };

function pod(name: string, spec: Partial<PodSpec> = {}): Pod {
  return { metadata: { name, labels: { app: 'db' } }, spec: { containers: [{ name: 'main', image: 'x' }], ...spec } };
}

const asking = (requests: Readonly<Record<string, string>>): Partial<PodSpec> => ({
  containers: [{ name: 'main', image: 'x', resources: { requests, limits: requests } }],
});

const claiming = (claimName: string): Partial<PodSpec> => ({
  volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
});

const nodeOf = async (cluster: Cluster, name: string) => (await cluster.of(pods).get(name)).spec?.nodeName;

async function placed(cluster: Cluster, name: string): Promise<string> {
  await cluster.until(`${name} is placed`, async () => ((await nodeOf(cluster, name)) ?? '') !== '');
  return (await nodeOf(cluster, name)) ?? '';
}

/** What a pod says that waits for a place. */
async function waits(cluster: Cluster, name: string, message: string): Promise<void> {
  const condition = ({ status }: Stored<Pod>) => status?.conditions?.find(({ type }) => type === 'PodScheduled');
  await cluster.until(`${name} says: ${message}`, async () => {
    const found = condition(await cluster.of(pods).get(name));
    return found?.status === 'False' && found.message === message;
  });
  const waiting = await cluster.of(pods).get(name);
  assert.equal(waiting.status?.phase, 'Pending');
  assert.equal(condition(waiting)?.reason, 'Unschedulable');
  assert.ok((await cluster.events()).some(({ reason, note }) => reason === 'FailedScheduling' && note === message));
}

export const placementScenarios: PlacementScenarios = {
  async 'a pod that must be apart from others stays pending with the reason, until there is room'(cluster) {
    const required = [{ ...db, topologyKey: HOST }];
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
    for (const name of ['p0', 'p1', 'p2']) await cluster.of(pods).create(pod(name, { affinity }));
    const taken = [await placed(cluster, 'p0'), await placed(cluster, 'p1'), await placed(cluster, 'p2')];
    assert.deepEqual(taken.toSorted(), ['a', 'b', 'c']);
    await cluster.of(pods).create(pod('p3', { affinity }));
    await waits(cluster, 'p3', "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules.");
    await cluster.addNode('d');
    assert.equal(await placed(cluster, 'p3'), 'd');
  },
  async 'a tainted node takes only those who tolerate it'(cluster) {
    for (const name of ['a', 'b', 'c']) {
      const taints = [{ key: 'only', value: 'redis', effect: 'NoSchedule' }];
      await cluster.of(nodes).patch(name, { type: 'merge', value: { spec: { taints } } });
    }
    await cluster.of(pods).create(pod('plain'));
    await waits(cluster, 'plain', '0/3 nodes are available: 3 node(s) had untolerated taint(s).');
    await cluster.of(pods).create(pod('other', { tolerations: [{ key: 'only', operator: 'Equal', value: 'x' }] }));
    await waits(cluster, 'other', '0/3 nodes are available: 3 node(s) had untolerated taint(s).');
    await cluster
      .of(pods)
      .create(pod('tolerant', { tolerations: [{ key: 'only', operator: 'Equal', value: 'redis' }] }));
    await placed(cluster, 'tolerant');
    await cluster.of(nodes).patch('b', { type: 'merge', value: { spec: { taints: [] } } });
    assert.equal(await placed(cluster, 'plain'), 'b');
  },
  async 'a cordoned node takes nothing new, and keeps what it has'(cluster) {
    const selector = { nodeSelector: { [HOST]: 'a' } };
    await cluster.of(pods).create(pod('before', selector));
    assert.equal(await placed(cluster, 'before'), 'a');
    await cluster.of(nodes).patch('a', { type: 'merge', value: { spec: { unschedulable: true } } });
    await cluster.of(pods).create(pod('after', selector));
    const message =
      "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match Pod's node affinity/selector.";
    await waits(cluster, 'after', message);
    assert.equal((await cluster.of(pods).get('before')).metadata.deletionTimestamp, undefined);
    await cluster.of(nodes).patch('a', { type: 'merge', value: { spec: { unschedulable: null } } });
    assert.equal(await placed(cluster, 'after'), 'a');
  },
  async 'node affinity says where a pod may be, and where it would like to be'(cluster) {
    const zone = (operator: string, ...values: string[]) => ({ matchExpressions: [{ key: ZONE, operator, values }] });
    const affinity = {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [zone('NotIn', 'z1')] },
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: zone('In', 'z3') }],
      },
    };
    await cluster.of(pods).create(pod('wishes', { affinity }));
    assert.equal(await placed(cluster, 'wishes'), 'c');
    const nowhere = {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [zone('In', 'z9')] } },
    };
    await cluster.of(pods).create(pod('nowhere', { affinity: nowhere }));
    await waits(cluster, 'nowhere', "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.");
    await cluster.addNode('d', {}, { [ZONE]: 'z9' });
    assert.equal(await placed(cluster, 'nowhere'), 'd');
  },
  async 'a pod with a gate is not placed before the gate is taken away'(cluster) {
    await cluster.of(pods).create(pod('gated', { schedulingGates: [{ name: 'test.dev/quota' }] }));
    await cluster.of(pods).create(pod('free'));
    await cluster.until('it says so', async () => {
      const { status } = await cluster.of(pods).get('gated');
      return status?.conditions?.some(({ reason }) => reason === 'SchedulingGated') === true;
    });
    await placed(cluster, 'free');
    assert.equal(await nodeOf(cluster, 'gated'), undefined);
    assert.ok(!(await cluster.events()).some(({ reason }) => reason === 'FailedScheduling'));
    await cluster.of(pods).patch('gated', { type: 'merge', value: { spec: { schedulingGates: [] } } });
    await placed(cluster, 'gated');
  },
  async 'who asks for more than there is is told of what'(cluster) {
    await cluster.of(pods).create(pod('cpu', asking({ cpu: '5' })));
    await waits(cluster, 'cpu', '0/3 nodes are available: 3 Insufficient cpu.');
    await cluster.of(pods).create(pod('both', asking({ cpu: '5', memory: '9Gi' })));
    await waits(cluster, 'both', '0/3 nodes are available: 3 Insufficient cpu, 3 Insufficient memory.');
    await cluster.of(pods).create(pod('device', asking({ 'test.dev/gpu': '1' })));
    await waits(cluster, 'device', '0/3 nodes are available: 3 Insufficient test.dev/gpu.');
    for (const name of ['a', 'b', 'c']) await cluster.of(pods).create(pod(`full-${name}`, asking({ cpu: '3' })));
    for (const name of ['a', 'b', 'c']) await placed(cluster, `full-${name}`);
    await cluster.of(pods).create(pod('late', asking({ cpu: '2' })));
    await waits(cluster, 'late', '0/3 nodes are available: 3 Insufficient cpu.');
    const at = await nodeOf(cluster, 'full-a');
    await cluster.of(pods).delete('full-a');
    assert.equal(await placed(cluster, 'late'), at);
  },
  async 'zones are filled evenly, and what would be uneven waits'(cluster) {
    const spread = { ...db, maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: 'DoNotSchedule' };
    const spec = { topologySpreadConstraints: [spread] };
    const filler = pod('filler', { ...asking({ cpu: '3' }), nodeSelector: { [HOST]: 'c' } });
    await cluster.of(pods).create({ ...filler, metadata: { name: 'filler' } });
    assert.equal(await placed(cluster, 'filler'), 'c');
    const taken: string[] = [];
    for (const name of ['p0', 'p1']) {
      await cluster.of(pods).create(pod(name, { ...spec, ...asking({ cpu: '2' }) }));
      taken.push(await placed(cluster, name));
    }
    assert.deepEqual(taken.toSorted(), ['a', 'b']);
    await cluster.of(pods).create(pod('p2', { ...spec, ...asking({ cpu: '2' }) }));
    const message =
      "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match pod topology spread constraints.";
    await waits(cluster, 'p2', message);
    await cluster.of(pods).delete('filler');
    assert.equal(await placed(cluster, 'p2'), 'c');
  },
  async 'a pod waits for its claim, and follows its volume'(cluster) {
    await cluster.of(pods).create(pod('first', claiming('data')));
    await waits(cluster, 'first', '0/3 nodes are available: persistentvolumeclaim "data" not found.');
    const size = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    await cluster.of(volumeClaims).create({ metadata: { name: 'data' }, spec: size });
    const at = await placed(cluster, 'first');
    for (const name of ['second', 'third']) {
      await cluster.of(pods).create(pod(name, claiming('data')));
      assert.equal(await placed(cluster, name), at, 'where the data is');
    }
    const other = { ...claiming('data'), nodeSelector: { [HOST]: at === 'a' ? 'b' : 'a' } };
    await cluster.of(pods).create(pod('elsewhere', other));
    const message =
      "0/3 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, 2 node(s) didn't match Pod's node affinity/selector.";
    await waits(cluster, 'elsewhere', message);
  },
  async 'the pods of a set with claims of the default class are placed without being refused first'(cluster) {
    const resources = { requests: { storage: '1Gi' } };
    const spec = { containers: [{ name: 'main', image: 'x' }] };
    await cluster.of(statefulSets).create({
      metadata: { name: 'db' },
      spec: {
        replicas: 6,
        podManagementPolicy: 'Parallel',
        selector: { matchLabels: { app: 'db' } },
        template: { metadata: { labels: { app: 'db' } }, spec },
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources } }],
      },
    });
    for (let i = 0; i < 6; i++) {
      await cluster.until(`db-${i} is there`, async () => (await cluster.pods()).length === 6);
      await placed(cluster, `db-${i}`);
    }
    const refused = (await cluster.events()).filter(({ reason }) => reason === 'FailedScheduling');
    assert.deepEqual(refused, []);
  },
  async 'a claim that is bound to nothing any more, or to nothing yet, keeps its pod waiting'(cluster) {
    const size = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    await cluster.of(volumeClaims).create({ metadata: { name: 'unbound' }, spec: { ...size, storageClassName: '' } });
    await cluster.of(pods).create(pod('early', claiming('unbound')));
    await waits(cluster, 'early', '0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.');
    await cluster.of(volumes).create({
      metadata: { name: 'v1' },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/srv/v1' } },
    });
    await placed(cluster, 'early');
    await cluster.of(volumes).delete('v1');
    await cluster.of(volumes).patch('v1', { type: 'merge', value: { metadata: { finalizers: null } } });
    await cluster.until(
      'it is lost',
      async () => (await cluster.of(volumeClaims).get('unbound')).status?.phase === 'Lost',
    );
    await cluster.of(pods).create(pod('late', claiming('unbound')));
    const message =
      '0/3 nodes are available: persistentvolumeclaim "unbound" bound to non-existent persistentvolume "v1".';
    await waits(cluster, 'late', message);
  },
  async 'a set of which two may be missing at once is updated two at a time'(cluster) {
    const template = (image: string) => ({
      metadata: { labels: { app: 'db' } },
      spec: { containers: [{ name: 'main', image }] },
    });
    await cluster.of(statefulSets).create({
      metadata: { name: 'db' },
      spec: {
        replicas: 4,
        selector: { matchLabels: { app: 'db' } },
        podManagementPolicy: 'Parallel',
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } },
        template: template('v1'),
      },
    });
    const status = async () => (await cluster.of(statefulSets).get('db')).status;
    await cluster.until('up', async () => (await status())?.readyReplicas === 4);
    for (const name of ['db-2', 'db-3']) cluster.stubborn.add(name);
    const value = { spec: { template: template('v2') } };
    await cluster.of(statefulSets).patch('db', { type: 'merge', value });
    const going = async () =>
      (await cluster.pods())
        .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
        .map(({ metadata }) => metadata.name);
    await cluster.until('two are going', async () => (await going()).length === 2);
    await cluster.run(2_000);
    assert.deepEqual((await going()).toSorted(), ['db-2', 'db-3'], 'and no third');
    cluster.stubborn.clear();
    await cluster.until('all are new', async () => {
      const now = await status();
      return now?.updatedReplicas === 4 && now.readyReplicas === 4;
    });
  },
};

/** Three nodes in three zones. */
export async function playPlacement(cluster: Cluster, name: string): Promise<void> {
  await furnish(cluster);
  await placementScenarios[name]?.(cluster);
}
