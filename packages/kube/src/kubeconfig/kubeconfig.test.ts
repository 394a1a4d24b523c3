import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPorts } from '../ports/testing.ts';
import { loadContext, loadKubeconfig } from './load.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const one = `
apiVersion: v1
kind: Config
current-context: dev
clusters:
- {name: east, cluster: {server: "https://east:6443", certificate-authority: pki/ca.crt, tls-server-name: kube}}
- name: west
  cluster: {server: https://west, certificate-authority-data: ${base64('CA')}, certificate-authority: ignored}
users:
- {name: ann, user: {client-certificate: ann.crt, client-key: /abs/ann.key, as: bob, as-groups: [g1, g2]}}
- {name: tom, user: {token: secret, tokenFile: tom.token}}
contexts:
- {name: dev, context: {cluster: east, user: ann, namespace: team}}
- {name: prod, context: {cluster: west, user: tom}}
- {name: nobody, context: {cluster: west}}
`;

test('a context brings its cluster, user and namespace, with paths beside the file', async () => {
  const ports = testPorts({ texts: { '/h/.kube/config': one } });
  const dev = await loadContext(ports);
  assert.equal(dev.namespace, 'team');
  assert.equal(dev.cluster.server, 'https://east:6443');
  assert.equal(dev.cluster.tlsServerName, 'kube');
  assert.deepEqual(dev.cluster.ca, { file: '/h/.kube/pki/ca.crt' });
  assert.deepEqual(dev.user.certificate, { file: '/h/.kube/ann.crt' });
  assert.deepEqual(dev.user.key, { file: '/abs/ann.key' });
  assert.deepEqual(dev.user.impersonate, { user: 'bob', uid: undefined, groups: ['g1', 'g2'], extra: {} });
  const prod = await loadContext(ports, { context: 'prod' });
  assert.equal(prod.namespace, 'default');
  assert.deepEqual(prod.cluster.ca, { text: 'CA' }, 'data wins over the file');
  assert.deepEqual(prod.user.token, { file: '/h/.kube/tom.token' }, 'the token file wins over the token');
  const nobody = await loadContext(ports, { context: 'nobody', namespace: 'n' });
  assert.equal(nobody.namespace, 'n');
  assert.equal(nobody.user.token, undefined);
});

test('of several files the first to name something wins, and missing ones count as empty', async () => {
  const other = one.replace('https://west', 'https://other').replace('current-context: dev', 'current-context: prod');
  const extra = 'clusters: [{name: south, cluster: {server: "https://south"}}]';
  const texts = { '/a': extra, '/b': other, '/c': one };
  const config = await loadKubeconfig(testPorts({ texts, env: { KUBECONFIG: '/missing:/a::/b:/c:/b' } }));
  assert.equal(config.currentContext, 'prod');
  assert.deepEqual([...config.clusters.keys()].sort(), ['east', 'south', 'west']);
  assert.equal(config.clusters.get('west')?.server, 'https://other');
});

test('without any kubeconfig a pod uses its service account', async () => {
  const folder = '/var/run/secrets/kubernetes.io/serviceaccount';
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  const texts = { [`${folder}/token`]: 't', [`${folder}/ca.crt`]: 'CA', [`${folder}/namespace`]: 'mine\n' };
  const context = await loadContext(testPorts({ texts, env }));
  assert.equal(context.cluster.server, 'https://[fd00::1]:443');
  assert.equal(context.namespace, 'mine');
  assert.deepEqual(context.user.token, { file: `${folder}/token` });
  assert.deepEqual(context.cluster.ca, { file: `${folder}/ca.crt` });
  const chosen = await loadContext(testPorts({ texts: { ...texts, '/h/.kube/config': one }, env }));
  assert.equal(chosen.name, 'dev', 'a kubeconfig goes first');
  const told = { ...env, REEVE_SERVICE_ACCOUNT: '/elsewhere' };
  const moved = await loadContext(testPorts({ texts: { '/elsewhere/token': 't' }, env: told }));
  assert.deepEqual(moved.user.token, { file: '/elsewhere/token' }, 'where the pod is told that it lies');
  await assert.rejects(loadContext(testPorts({ env })), { code: 'KUBECONFIG_MISSING' });
});

const minimal = (cluster: string, user = ''): string =>
  `{current-context: c, contexts: [{name: c, context: {cluster: k, user: u}}], clusters: [{name: k, cluster: {${cluster}}}], users: [{name: u, user: {${user}}}]}`;
const ok = 'server: "https://k"';
const exec = (fields: string): string => minimal(ok, `exec: {${fields}}`);

const broken: readonly [title: string, text: string, code: string, message: RegExp][] = [
  ['no YAML', 'a: [', 'KUBECONFIG_INVALID', /line 1 is not YAML/],
  ['a list', '[]', 'KUBECONFIG_INVALID', /the document is not a map/],
  ['a key twice', 'users: []\nusers: []', 'KUBECONFIG_INVALID', /line 2 is not YAML \(DUPLICATE_KEY\)/],
  ['a name twice', 'users: [{name: a}, {name: a}]', 'KUBECONFIG_INVALID', /'a' is given twice/],
  ['no name', 'clusters: [{cluster: {}}]', 'KUBECONFIG_INVALID', /clusters\[0\]\.name is missing/],
  ['no context', 'current-context: x', 'KUBECONFIG_INVALID', /there is no such context/],
  [
    'no cluster',
    'current-context: c\ncontexts: [{name: c, context: {cluster: k}}]',
    'KUBECONFIG_INVALID',
    /no cluster 'k'/,
  ],
  ['no user', minimal(ok).replace('user: u', 'user: w'), 'KUBECONFIG_INVALID', /no user 'w'/],
  ['no server', minimal(''), 'KUBECONFIG_INVALID', /not an http or https address/],
  ['an odd server', minimal('server: "ftp://k"'), 'KUBECONFIG_INVALID', /not an http or https address/],
  ['a number as token', minimal(ok, 'token: 12'), 'KUBECONFIG_INVALID', /user\.token is not a text/],
  [
    'no base64',
    minimal(`${ok}, certificate-authority-data: "%%"`),
    'KUBECONFIG_INVALID',
    /authority-data is not base64/,
  ],
  [
    'insecure with an authority',
    minimal(`${ok}, insecure-skip-tls-verify: true, certificate-authority: x`),
    'KUBECONFIG_INVALID',
    /exclude each other/,
  ],
  ['a certificate alone', minimal(ok, 'client-certificate: x'), 'KUBECONFIG_INVALID', /belong together/],
  ['groups without a user', minimal(ok, 'as-groups: [g]'), 'KUBECONFIG_INVALID', /\.as is missing/],
  ['a proxy', minimal(`${ok}, proxy-url: "http://p"`), 'KUBECONFIG_UNSUPPORTED', /proxy-url is not supported/],
  ['an old provider', minimal(ok, 'auth-provider: {name: gcp}'), 'KUBECONFIG_UNSUPPORTED', /'gcp' is not supported/],
  [
    'an exec of old',
    exec('apiVersion: client.authentication.k8s.io/v1alpha1, command: x'),
    'KUBECONFIG_INVALID',
    /apiVersion is none of/,
  ],
  [
    'an exec without mode',
    exec('apiVersion: client.authentication.k8s.io/v1, command: x'),
    'KUBECONFIG_INVALID',
    /interactiveMode is missing/,
  ],
  [
    'an exec without command',
    exec('apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never'),
    'KUBECONFIG_INVALID',
    /command is missing/,
  ],
  [
    'an odd mode',
    exec('apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Maybe'),
    'KUBECONFIG_INVALID',
    /interactiveMode is none of/,
  ],
];

for (const [title, text, code, message] of broken) {
  test(`a kubeconfig with ${title} is refused`, async () => {
    const loading = loadContext(testPorts({ texts: { '/f': text } }), { file: '/f' });
    await assert.rejects(loading, (error: Error & { code?: string }) => {
      assert.equal(error.code, code);
      assert.match(error.message, message);
      return true;
    });
  });
}

test('complaints never show a secret', async () => {
  const text = 'users:\n- name: a\n  user: {token: "s3cret" x}';
  await assert.rejects(loadKubeconfig(testPorts({ texts: { '/f': text } }), '/f'), (error: Error) => {
    assert.doesNotMatch(`${error.message} ${String(error.cause)}`, /s3cret/);
    return true;
  });
});

test('an exec command with a slash lies beside the file, a bare one in PATH', async () => {
  const fields =
    'apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, args: [a], env: [{name: E, value: v}]';
  const at = async (command: string) => {
    const texts = { '/d/f': exec(`${fields}, command: ${command}`) };
    return (await loadContext(testPorts({ texts }), { file: '/d/f' })).user.exec;
  };
  assert.equal((await at('./bin/login'))?.command, '/d/bin/login');
  assert.equal((await at('login'))?.command, 'login');
  assert.deepEqual((await at('login'))?.env, { E: 'v' });
});

test('an explicit file must exist', async () => {
  await assert.rejects(loadContext(testPorts(), { file: '/f' }), { code: 'KUBECONFIG_MISSING' });
});
