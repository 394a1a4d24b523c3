/** The same scenarios with our controllers on the embedded server, and with kube-controller-manager on a real one: the same outcome. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type AnyObject,
  type Connection,
  connect,
  type KubeClient,
  resource,
  type Stored,
  systemKubePorts,
} from '@reeve/kube';
import { timestamp } from '@reeve/runtime';
import { type Kube, startKube } from '@reeve/rig';
import { namespaces } from '../kinds/namespace.ts';
import { type Pod, pods } from '../kinds/pod.ts';
import { storageClasses } from '../kinds/volumeclaim.ts';
import { controlPlane } from '../controllers/control-plane-testing.ts';
import { kubeletTurn, ready, type Says } from '../controllers/kubelet-testing.ts';
import type { World } from '../controllers/scenarios-testing.ts';
import { assertAll, onBoth } from './suite-testing.ts';

const LIMIT_MS = 60_000;
const nodes = resource<AnyObject>({ group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false });
const accounts = resource<AnyObject>({
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
});

let kube: Kube;
let connection: Connection;

before(async () => {
  kube = await startKube({ controllerManager: true });
  connection = await connect(systemKubePorts(), { file: kube.kubeconfig });
  const labels = { 'topology.kubernetes.io/zone': 'z1' };
  await connection.client.resource(nodes).create({ metadata: { name: 'node-a', labels } });
});

after(async () => {
  connection?.close();
  await kube?.stop();
});

const now = () => timestamp(Date.now());

/** The node must be there and alive, or what runs on it is given up. */
async function beat(client: KubeClient): Promise<void> {
  const lastHeartbeatTime = now();
  const condition = {
    type: 'Ready',
    status: 'True',
    reason: 'KubeletReady',
    lastHeartbeatTime,
    lastTransitionTime: lastHeartbeatTime,
  };
  const value = { status: { conditions: [condition] } };
  await client.resource(nodes).patch('node-a', { type: 'strategic', value }, { subresource: 'status' });
}

function byBinding(client: KubeClient, { metadata: { name, namespace = '' } }: Stored<Pod>): Promise<unknown> {
  const target = { apiVersion: 'v1', kind: 'Node', name: 'node-a' };
  return client
    .resource(pods, namespace)
    .post(name, 'binding', { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target });
}

async function realWorld(namespace: string): Promise<World> {
  const { client } = connection;
  await beat(client);
  await client.resource(namespaces).create({ metadata: { name: namespace } });
  const stubborn = new Set<string>();
  const world = {
    client,
    namespace,
    kubelet: ready as Says,
    stubborn,
    async until(what: string, holds: () => Promise<boolean>): Promise<void> {
      const end = Date.now() + LIMIT_MS;
      for (;;) {
        await turn();
        if (await holds()) return;
        if (Date.now() > end) assert.fail(`not reached: ${what}`);
        await pause(50);
      }
    },
    async rest(): Promise<void> {
      for (let turns = 0; turns < 15; turns++) {
        await turn();
        await pause(100);
      }
    },
  };
  const turn = async () => {
    await beat(client);
    // What a controller does at the same moment is no fault of the kubelet.
    const options = { says: world.kubelet, stubborn, place: byBinding };
    await kubeletTurn(client, now(), options, namespace).catch(() => undefined);
  };
  await world.until(
    'the account is there',
    async () => (await client.resource(accounts, namespace).find('default')) !== undefined,
  );
  return world;
}

async function embeddedWorld() {
  const { cluster } = controlPlane();
  await cluster.open();
  await cluster.addNode('node-a', {}, { 'topology.kubernetes.io/zone': 'z1' });
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  await cluster.of(storageClasses).create({ metadata: { name: 'local', annotations }, provisioner: 'reeve.dev/local' });
  const world: World = {
    client: cluster.api.client,
    namespace: 'ns',
    get kubelet() {
      return cluster.kubelet;
    },
    set kubelet(says) {
      cluster.kubelet = says;
    },
    stubborn: cluster.stubborn,
    until: (what, holds) => cluster.until(what, holds),
    rest: () => cluster.run(1_500),
  };
  return { world, end: () => cluster.end() };
}

const ran = new Set<string>();

/** They wait for most of their time. */
suite('as in Kubernetes', { concurrency: 4 }, () => {
  after(() => assertAll(ran, onBoth));
  for (const [name, play] of Object.entries(onBoth)) {
    test(name, async () => {
      ran.add(name);
      const namespace = `s-${name.replaceAll(/[^a-z]+/g, '-').slice(0, 40)}x`;
      const { world, end } = await embeddedWorld();
      const real = await realWorld(namespace);
      const expected = await play(real);
      const actual = await play(world);
      assert.deepEqual(actual, expected);
      await end();
      const left = await connection.client.resource(namespaces).find(namespace);
      if (left) await connection.client.resource(namespaces).delete(namespace);
    });
  }
});
