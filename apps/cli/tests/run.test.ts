/** `reeve run` as far as it goes without a Kubernetes. */
import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { test } from 'node:test';
import { discover, KubeClient, resource, systemKubePorts, type Transport } from '@reeve/kube';
import { redisClusters } from '@reeve/redis';
import { AGENT_POLICY, AGENT_ROLE, ReeveError } from '@reeve/runtime';
import { clusterRights, manifestsOf } from '../src/run/manifests.ts';
import { install } from '../src/run/preflight.ts';
import { listenAt, listenOn } from '../src/run/run.ts';
import { manifestsOf as readText } from '../src/kube/manifest.ts';
import { ApiHarness } from './api.ts';
import { Harness } from './harness.ts';

const installation = { namespace: 'ops', image: 'somewhere/reeve:1' };

test('the manifests are all that an installation needs, in an order in which they can be applied', async () => {
  const { code, out } = await new Harness().run('run --print-manifests --namespace ops --image somewhere/reeve:1');
  assert.equal(code, 0);
  assert.deepEqual(
    JSON.parse(JSON.stringify(readText(out, 'stdout'))),
    JSON.parse(JSON.stringify(manifestsOf(installation))),
  );
  assert.deepEqual(
    manifestsOf(installation).map(({ kind }) => kind),
    [
      'Namespace',
      'CustomResourceDefinition',
      'CustomResourceDefinition',
      'CustomResourceDefinition',
      'ClusterRole',
      'ValidatingAdmissionPolicy',
      'ValidatingAdmissionPolicyBinding',
      'ServiceAccount',
      'ClusterRole',
      'ClusterRoleBinding',
      'Role',
      'RoleBinding',
      'Deployment',
    ],
  );
  assert.match(out, /image: somewhere\/reeve:1/);
});

test('no rule has a wildcard, and nobody may write what the operator does not write', () => {
  const text = JSON.stringify(manifestsOf(installation).filter(({ kind }) => kind.endsWith('Role')));
  assert.doesNotMatch(text, /"\*"/);
  assert.doesNotMatch(text, /escalate|impersonate|deletecollection/);
});

test('it gives the role of agents to the account of agents, and writes no other account, binding or role', () => {
  const touched = clusterRights.filter(({ resources }) => /serviceaccounts|roles|rolebindings/.test(resources.join()));
  assert.deepEqual(
    touched.map(({ resources, resourceNames, verbs }) => [resources.join(), resourceNames?.join(), verbs.join()]),
    [
      ['serviceaccounts', 'reeve-agent', 'create,patch'],
      ['rolebindings', 'reeve-agents', 'create,patch'],
      ['clusterroles', 'reeve-agents', 'bind'],
    ],
  );
  // Nobody else may bind anything.
  assert.equal(clusterRights.filter(({ verbs }) => verbs.includes('bind')).length, 1);
});

const roles = resource({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
});
const policies = resource({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingadmissionpolicies',
  kind: 'ValidatingAdmissionPolicy',
  namespaced: false,
});

test('on a server without admission policies the rest is installed, the role of agents is not, and that is said', async (t) => {
  const api = await ApiHarness.open(t);
  const older: Transport = (request) =>
    api.transport({
      ...request,
      path: request.path.replace('/apis/admissionregistration.k8s.io', '/apis/none.example'),
    });
  const client = new KubeClient({ ...systemKubePorts(), transport: older });
  const ground = { client, namespace: 'ops', clock: api.harness.clock, signal: t.signal };
  const lacks = await install(ground);
  assert.equal(lacks.length, 1);
  assert.match(lacks[0] ?? '', /does not serve ValidatingAdmissionPolicy, .*`agents: sidecar`/);
  assert.ok(await discover(client, redisClusters), 'the kinds are there');
  assert.equal(await client.resource(roles).find(AGENT_ROLE), undefined, 'nobody has what nothing narrows');
  assert.deepEqual(await install({ ...ground, client: api.client }), []);
  assert.ok(await client.resource(roles).find(AGENT_ROLE));
  assert.ok(await api.client.resource(policies).find(AGENT_POLICY));
});

test('where to listen: loopback unless told otherwise, also addresses of many colons', () => {
  assert.deepEqual(listenOn(undefined), { host: '127.0.0.1', port: 0 });
  assert.deepEqual(listenOn('0.0.0.0:8080'), { host: '0.0.0.0', port: 8080 });
  assert.deepEqual(listenOn('fd00::5:8080'), { host: 'fd00::5', port: 8080 });
  assert.deepEqual(listenOn('[::1]:9'), { host: '::1', port: 9 });
  for (const wrong of ['8080', ':8080', 'host:', 'host:x', 'host:70000']) {
    assert.throws(
      () => listenOn(wrong),
      (error) => error instanceof ReeveError && error.code === 'USAGE',
    );
  }
});

test('on the API of reeve up it is refused: the operators run there already', async (t) => {
  const api = await ApiHarness.open(t);
  const { code, err } = await api.run('run');
  assert.equal(code, 3);
  assert.match(err, /\[OPERATORS_RUN\]/);
});

test('a place that cannot be listened on is told by name, with a code', async (t) => {
  const listen = (host: string, port: number) =>
    listenAt(
      { host, port },
      () =>
        new Promise<Server>((resolve, reject) => {
          const server = createServer();
          server.once('error', reject);
          server.listen({ host, port }, () => resolve(server));
        }),
    );
  const taken = await listen('127.0.0.1', 0);
  t.after(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  // Of a block that no machine has (RFC 5737).
  await assert.rejects(listen('203.0.113.1', 0), { code: 'ADDRESS_ELSEWHERE', subjects: ['203.0.113.1'] });
  await assert.rejects(listen('127.0.0.1', port), { code: 'PORT_IN_USE' });
  const refusals = { ENOTFOUND: 'ADDRESS_UNRESOLVED', EAI_AGAIN: 'ADDRESS_UNRESOLVED', EACCES: 'PORT_DENIED' } as const;
  for (const [of, code] of Object.entries(refusals)) {
    const refused = listenAt({ host: 'h', port: 80 }, () =>
      Promise.reject(Object.assign(new Error('no'), { code: of })),
    );
    await assert.rejects(refused, { code }, of);
  }
});
