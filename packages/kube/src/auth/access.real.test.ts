/** Who we are to a real kube-apiserver: kubeconfigs written by kubectl, certificates, tokens, and those it refuses. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { type Kube, makeCertificates, startKube, until } from '@reeve/rig';
import { configMaps, connected, failing } from '../client/real-testing.ts';
import type { KubeObject } from '../object/object.ts';
import { resource } from '../object/resource.ts';

interface Role extends KubeObject {
  readonly rules: readonly object[];
}
interface Binding extends KubeObject {
  readonly roleRef: object;
  readonly subjects: readonly object[];
}
interface TokenRequest {
  readonly status: { readonly token: string; readonly expirationTimestamp: string };
}
interface Review extends KubeObject {
  readonly status?: { readonly userInfo: { readonly username: string; readonly groups?: readonly string[] } };
}

const rbac = (plural: string, kind: string) => ({
  ...{ group: 'rbac.authorization.k8s.io', version: 'v1', plural, kind, namespaced: true },
});
const roles = resource<Role>(rbac('roles', 'Role'));
const bindings = resource<Binding>(rbac('rolebindings', 'RoleBinding'));
const accounts = resource({
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
});
const reviews = resource<Review>({
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
});

let kube: Kube;
before(async () => {
  kube = await startKube();
});
after(() => kube?.stop());

async function whoAmI(t: Parameters<typeof connected>[0], options: Parameters<typeof connected>[2]): Promise<string> {
  const { client } = await connected(t, kube, options);
  const { status } = await client.resource(reviews).create({ metadata: {} });
  return `${status?.userInfo.username} ${status?.userInfo.groups?.filter((group) => !group.startsWith('system:auth')).join()}`;
}

/** A kubeconfig that kubectl itself writes. */
async function writeWithKubectl(
  name: string,
  user: readonly string[],
  cluster: readonly string[] = [],
): Promise<string> {
  const file = join(kube.folder, name, 'config');
  mkdirSync(join(kube.folder, name), { recursive: true });
  const config = (...args: readonly string[]) => kube.kubectl(['config', ...args], { kubeconfig: file });
  await config('set-cluster', 'c', `--server=${kube.url}`, `--certificate-authority=${kube.caFile}`, ...cluster);
  await config('set-credentials', 'u', ...user);
  await config('set-context', 'x', '--cluster=c', '--user=u', '--namespace=kube-public');
  await config('use-context', 'x');
  return file;
}

it('kubeconfigs of kubectl: certificates in the file and beside it, namespace, impersonation', async (t) => {
  const { certFile, keyFile } = await kube.user({ name: 'jane', groups: ['system:masters'] });
  const certificate = [`--client-certificate=${certFile}`, `--client-key=${keyFile}`];
  const beside = await writeWithKubectl('beside', certificate);
  assert.match(readFileSync(beside, 'utf8'), /client-certificate: /);
  assert.equal(await whoAmI(t, { file: beside }), 'jane system:masters');
  const inside = await writeWithKubectl('inside', [...certificate, '--embed-certs=true'], ['--embed-certs=true']);
  assert.match(readFileSync(inside, 'utf8'), /client-certificate-data: /);
  assert.equal(await whoAmI(t, { file: inside }), 'jane system:masters');
  assert.equal((await connected(t, kube, { file: inside })).namespace, 'kube-public');
  const as = join(kube.folder, 'as.config');
  writeFileSync(
    as,
    readFileSync(inside, 'utf8').replace(/user:\n( +)client/, 'user:\n$1as: bob\n$1as-groups: [g1, g2]\n$1client'),
  );
  assert.equal(await whoAmI(t, { file: as }), 'bob g1,g2');
  const view = await kube.kubectl(['config', 'view', '--raw', '--minify', '-o', 'json'], { kubeconfig: inside });
  const json = join(kube.folder, 'json.config');
  writeFileSync(json, view);
  assert.equal(await whoAmI(t, { file: json }), 'jane system:masters');
});

it('a user without rights is forbidden, and is told what', async (t) => {
  const { kubeconfig } = await kube.user({ name: 'stranger' });
  const { client } = await connected(t, kube, { file: kubeconfig });
  const maps = client.resource(configMaps, 'default');
  const pattern = /"stranger" cannot list resource "configmaps"/;
  await assert.rejects(maps.list(), failing('KUBE_FORBIDDEN', pattern));
  await assert.rejects(maps.find('a'), failing('KUBE_FORBIDDEN'), 'unknown is not absent');
  for (const watches of ['http1', 'http2'] as const) {
    const watching = await connected(t, kube, { file: kubeconfig, watches });
    const watch = watching.client.resource(configMaps, 'default').watch();
    await assert.rejects(watch.next(), failing('KUBE_FORBIDDEN', /cannot watch/));
  }
});

it('an expired certificate is nobody, an unknown authority is not believed', async (t) => {
  const { kubeconfig } = await kube.user({ name: 'late', groups: ['system:masters'], days: -1 });
  const late = await connected(t, kube, { file: kubeconfig });
  await assert.rejects(late.client.resource(configMaps, 'default').list(), failing('KUBE_UNAUTHORIZED'));
  const { caFile } = await makeCertificates();
  const other = await writeWithKubectl('other', [], [`--certificate-authority=${caFile}`]);
  for (const watches of ['http1', 'http2'] as const) {
    const { client } = await connected(t, kube, { file: other, watches });
    await assert.rejects(client.resource(configMaps, 'default').list(), failing('KUBE_TLS'));
    await assert.rejects(client.resource(configMaps, 'default').watch().next(), failing('KUBE_TLS'));
  }
});

it('a service account: a token by TokenRequest, in a file that changes while we run', async (t) => {
  const { client } = await connected(t, kube);
  const namespace = 'default';
  for (const name of ['one', 'two']) await client.resource(accounts, namespace).create({ metadata: { name } });
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }];
  await client.resource(roles, namespace).apply({ metadata: { name: 'lister' }, rules });
  await client.resource(bindings, namespace).apply({
    metadata: { name: 'one-lists' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'lister' },
    subjects: [{ kind: 'ServiceAccount', name: 'one', namespace }],
  });
  // The server learns of a new binding by watching, as everybody does. `can-i` fails while the answer is no.
  const canList = ['auth', 'can-i', 'list', 'configmaps', '--as=system:serviceaccount:default:one'];
  await until('its role counts', () => kube.kubectl(canList));
  const tokenOf = async (name: string): Promise<string> => {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 600 } };
    const answer = await client.resource(accounts, namespace).post<TokenRequest>(name, 'token', body);
    assert.ok(Date.parse(answer.status.expirationTimestamp) > Date.now());
    return answer.status.token;
  };
  const tokenFile = join(kube.folder, 'one.token');
  writeFileSync(tokenFile, 'nonsense', { mode: 0o600 });
  const file = await writeWithKubectl('token', []);
  writeFileSync(file, readFileSync(file, 'utf8').replace('user: {}', `user:\n    tokenFile: ${tokenFile}`));
  chmodSync(file, 0o600);
  const account = await connected(t, kube, { file });
  const maps = account.client.resource(configMaps, namespace);
  await assert.rejects(maps.list(), failing('KUBE_UNAUTHORIZED'));
  // Refused, it looks into the file again: by now there is something better.
  writeFileSync(tokenFile, await tokenOf('one'));
  assert.equal((await maps.list()).kind, 'ConfigMapList');
  await assert.rejects(maps.get('a'), failing('KUBE_FORBIDDEN', /system:serviceaccount:default:one/));
  const two = await writeWithKubectl('two', [`--token=${await tokenOf('two')}`]);
  const other = (await connected(t, kube, { file: two })).client.resource(configMaps, namespace);
  await assert.rejects(other.list(), failing('KUBE_FORBIDDEN', /system:serviceaccount:default:two/));
});
