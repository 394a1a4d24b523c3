/**
 * What new pods get from their service accounts, and what is said of logs and commands before anybody runs pods: the same from the
 * real server with its controllers and from the embedded one.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AccessControl, ApiServer, memoryJournal, type PodAccess, signingKey, Store } from '@reeve/embedded';
import { generateKeyPairSync } from 'node:crypto';
import {
  type AnyObject,
  connect,
  type Connection,
  isKubeError,
  KubeClient,
  resource,
  systemKubePorts,
} from '@reeve/kube';
import { type Kube, startKube } from '@reeve/rig';

const NAMESPACE = 'accounts';
const kind = (plural: string, name: string, namespaced: boolean) =>
  resource<AnyObject>({ group: '', version: 'v1', plural, kind: name, namespaced });
const pods = kind('pods', 'Pod', true);
const accounts = kind('serviceaccounts', 'ServiceAccount', true);
const namespaces = kind('namespaces', 'Namespace', false);

let kube: Kube;
let connection: Connection;

before(async () => {
  kube = await startKube({ controllerManager: true });
  connection = await connect(systemKubePorts(), { file: kube.kubeconfig });
});

after(async () => {
  connection?.close();
  await kube?.stop();
});

const nobody: PodAccess = {
  logs: () => Promise.reject(new Error('there is no node')),
  exec: () => Promise.reject(new Error('there is no node')),
};

async function embedded(): Promise<KubeClient> {
  const { clock, random } = systemKubePorts();
  const store = await Store.open({ journal: memoryJournal(), clock });
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const key = signingKey(privateKey);
  assert.ok(key);
  const access = new AccessControl({ store, clock, random, keys: [key] });
  const server = await ApiServer.open({ store, clock, random, access, pods: nobody, serviceAccounts: true });
  await access.install(server.transport());
  return new KubeClient({ clock, random, transport: server.transport() });
}

const container = (more: object = {}) => ({ name: 'main', image: 'host', ...more });
const TOKENS = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Names and specs of pods, made in this order. */
const specs: Readonly<Record<string, object>> = {
  plain: { containers: [container(), container({ name: 'second' })], initContainers: [container({ name: 'init' })] },
  named: { containers: [container()], serviceAccountName: 'robot' },
  'old-name': { containers: [container()], serviceAccount: 'robot' },
  'without-token': { containers: [container()], automountServiceAccountToken: false },
  'shy-account': { containers: [container()], serviceAccountName: 'shy' },
  'yet-wanted': { containers: [container()], serviceAccountName: 'shy', automountServiceAccountToken: true },
  'own-secrets': { containers: [container()], serviceAccountName: 'robot', imagePullSecrets: [{ name: 'own' }] },
  'own-mount': {
    containers: [container({ volumeMounts: [{ name: 'mine', mountPath: TOKENS }] }), container({ name: 'second' })],
    volumes: [{ name: 'mine', emptyDir: {} }],
  },
  'only-own-mounts': {
    containers: [container({ volumeMounts: [{ name: 'mine', mountPath: TOKENS }] })],
    volumes: [{ name: 'mine', emptyDir: {} }],
  },
  'own-volume': {
    containers: [container()],
    volumes: [{ name: 'kube-api-access-mine', emptyDir: {} }],
  },
  missing: { containers: [container()], serviceAccountName: 'nobody' },
  'invalid-too': { containers: [], serviceAccountName: 'nobody' },
};

const REQUESTS = [
  'none/log',
  'plain/log',
  'plain/log?container=x',
  'named/log',
  'named/log?tailLines=-1&limitBytes=0',
  'named/log?tailLines=x',
  'plain/exec?command=ls&stdout=1',
  'named/exec?command=ls&stdout=1',
  'none/exec?command=ls&stdout=1',
];

/** Names that a server chose are all the same one. */
const normal = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/kube-api-access-[a-z0-9]{5}(?=")/g, 'kube-api-access-?????'));

async function answers(client: KubeClient): Promise<Readonly<Record<string, unknown>>> {
  const seen: Record<string, unknown> = {};
  const told = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      seen[name] = normal(await work());
    } catch (error) {
      if (!isKubeError(error)) throw error;
      seen[name] = error.status ?? error.message;
    }
  };
  // The account of a new namespace is waited for.
  await client.resource(namespaces).create({ metadata: { name: NAMESPACE } });
  const first = await client.resource(pods, NAMESPACE).create({ metadata: { name: 'first' }, spec: specs.plain });
  seen.first = normal(first.spec);
  const robot = { metadata: { name: 'robot' }, imagePullSecrets: [{ name: 'pull' }], secrets: [{ name: 's' }] };
  await client.resource(accounts, NAMESPACE).create(robot);
  await client.resource(accounts, NAMESPACE).create({ metadata: { name: 'shy' }, automountServiceAccountToken: false });
  for (const [name, spec] of Object.entries(specs)) {
    await told(name, async () => (await client.resource(pods, NAMESPACE).create({ metadata: { name }, spec })).spec);
  }
  const generated = { metadata: { generateName: 'some-' }, spec: specs.missing };
  await told('generated', () => client.resource(pods, NAMESPACE).create(generated as never));
  for (const path of REQUESTS) {
    await told(path, () => client.read(`/api/v1/namespaces/${NAMESPACE}/pods/${path}`));
  }
  return seen;
}

test('pods get from their accounts what the real server gives them, and are refused in its words', async () => {
  const expected = await answers(connection.client);
  assert.ok(JSON.stringify(expected.plain).includes('kube-api-access-?????'), 'the plugin is on');
  const actual = await answers(await embedded());
  for (const [name, one] of Object.entries(expected)) assert.deepEqual(actual[name], one, name);
});
