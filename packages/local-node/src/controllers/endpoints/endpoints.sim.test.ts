import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Stored } from '@reeve/kube';
import { endpointSlices } from '../../kinds/endpointslice.ts';
import { type Pod, pods } from '../../kinds/pod.ts';
import { type Service, services } from '../../kinds/service.ts';
import { Cluster, ready } from '../cluster-testing.ts';
import { EndpointsController } from './controller.ts';
import { planSlices } from './plan.ts';

const at = (name: string, port: number, more: object = {}): Pod => ({
  metadata: { name, labels: { app: 'db' } },
  spec: { containers: [{ name: 'c', image: 'x', ports: [{ name: 'redis', containerPort: port }] }], ...more },
});

const service = (spec: NonNullable<Service['spec']>): Service => ({
  metadata: { name: 'db', labels: { team: 'a' } },
  spec: { selector: { app: 'db' }, ports: [{ name: 'redis', port: 6379, targetPort: 'redis' }], ...spec },
});

async function world(t: TestContext, spec: NonNullable<Service['spec']> = {}) {
  let next = 0;
  const addresses = new Map<string, string>();
  const kubelet = (pod: Stored<Pod>, now: string) => {
    const podIP = addresses.get(pod.metadata.uid) ?? `127.1.0.${++next}`;
    addresses.set(pod.metadata.uid, podIP);
    const isHeld = pod.metadata.name === 'held';
    const conditions = [{ type: 'Ready', status: 'False' as const }];
    return {
      ...(isHeld ? { phase: 'Running' as const, conditions } : ready(pod, now)),
      podIP,
      podIPs: [{ ip: podIP }],
    };
  };
  const cluster = await Cluster.start(t, { controllers: () => [new EndpointsController()], kubelet });
  await cluster.addNode('node-a', {}, { 'topology.kubernetes.io/zone': 'z1' });
  await cluster.of(services).create(service(spec));
  const slices = async () => (await cluster.of(endpointSlices).listAll()).items;
  const said = async () =>
    (await slices())
      .flatMap(({ endpoints, ports }) =>
        (endpoints ?? []).map(({ targetRef, conditions, zone }) => {
          const is = Object.entries(conditions ?? {})
            .filter(([, value]) => value)
            .map(([key]) => key);
          return `${targetRef?.name}:${ports?.[0]?.port} ${is.toSorted().join('+')} ${zone}`;
        }),
      )
      .toSorted()
      .join(', ');
  return { cluster, slices, said };
}

test('a service has slices with the pods that it selects, by named port, with their state and zone', async (t) => {
  const { cluster, slices, said } = await world(t);
  await cluster.until('there is an empty one', async () => (await slices()).length === 1);
  const all = cluster.of(pods);
  await all.create(at('a', 6379));
  await all.create(at('b', 7000));
  await all.create(at('held', 6379));
  await all.create({ ...at('other', 1), metadata: { name: 'other', labels: { app: 'web' } } });
  const both = 'a:6379 ready+serving z1, b:7000 ready+serving z1';
  await cluster.until('all are in', async () => (await said()) === `${both}, held:6379  z1`);
  assert.equal((await slices()).length, 2);
  const [slice] = await slices();
  assert.equal(slice?.metadata.labels?.['kubernetes.io/service-name'], 'db');
  assert.equal(slice.metadata.labels['endpointslice.kubernetes.io/managed-by'], 'endpointslice-controller.k8s.io');
  assert.equal(slice.metadata.labels.team, 'a');
  assert.equal(slice.metadata.ownerReferences?.[0]?.kind, 'Service');
  cluster.stubborn.add('b');
  await all.delete('b');
  await cluster.until('b is going', async () => (await said()).includes('b:7000 serving+terminating z1'));
  cluster.stubborn.clear();
  await cluster.until('b is gone', async () => !(await said()).includes('b:') && (await slices()).length === 1);
});

test('a headless service names its pods, also before they are ready if it says so', async (t) => {
  const { cluster, slices, said } = await world(t, { clusterIP: 'None', publishNotReadyAddresses: true });
  await cluster.of(pods).create(at('held', 6379, { hostname: 'held', subdomain: 'db' }));
  await cluster.until('it is in', async () => (await said()) === 'held:6379 ready z1');
  const [slice] = await slices();
  assert.equal(slice?.endpoints?.[0]?.hostname, 'held');
  assert.equal(slice.metadata.labels?.['service.kubernetes.io/headless'], '');
  assert.equal(slice.endpoints?.[0]?.nodeName, 'node-a');
});

test('a hundred pods fill a slice', () => {
  const of = { ...service({}), metadata: { name: 'db', namespace: 'ns', uid: 'u', resourceVersion: '1' } };
  const many = Array.from({ length: 250 }, (_, index): Stored<Pod> => {
    const name = `p-${index}`;
    return {
      ...at(name, 1),
      metadata: { name, uid: name, resourceVersion: '1' },
      status: { podIP: `127.0.1.${index}` },
    };
  });
  const slices = planSlices(of, many, () => undefined);
  assert.deepEqual(
    slices.map(({ endpoints }) => endpoints?.length),
    [100, 100, 50],
  );
  assert.equal(new Set(slices.map(({ metadata }) => metadata.name)).size, 3);
});

test('a service without selector is left to others', async (t) => {
  const cluster = await Cluster.start(t, { controllers: () => [new EndpointsController()] });
  await cluster.of(services).create({ metadata: { name: 'db' }, spec: { ports: [{ port: 1 }] } });
  await cluster.run(1_000);
  assert.deepEqual((await cluster.of(endpointSlices).listAll()).items, []);
});
