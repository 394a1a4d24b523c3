import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadContext } from '../kubeconfig/load.ts';
import type { SpawnRequest } from '../ports/ports.ts';
import { type TestPorts, testPorts } from '../ports/testing.ts';
import { type Access, accessOf } from './access.ts';

async function accessFor(ports: TestPorts, cluster: string, user: string): Promise<Access> {
  ports.texts.set(
    '/f',
    `{current-context: c, contexts: [{name: c, context: {cluster: k, user: u}}],
      clusters: [{name: k, cluster: {${cluster}}}], users: [{name: u, user: {${user}}}]}`,
  );
  return accessOf(await loadContext(ports, { file: '/f' }), ports);
}

const server = 'server: "https://k"';
const authorization = async (access: Access): Promise<unknown> => (await access.identity()).headers.authorization;

test('headers of tokens, passwords and impersonation', async () => {
  assert.equal(await authorization(await accessFor(testPorts(), server, 'token: abc')), 'Bearer abc');
  const basic = await accessFor(testPorts(), server, 'username: ann, password: pw');
  assert.equal(await authorization(basic), `Basic ${Buffer.from('ann:pw').toString('base64')}`);
  const as = await accessFor(
    testPorts(),
    server,
    'as: bob, as-uid: "7", as-groups: [a, b], as-user-extra: {Some/Key: [v]}',
  );
  assert.deepEqual((await as.identity()).headers, {
    'impersonate-user': 'bob',
    'impersonate-uid': '7',
    'impersonate-group': ['a', 'b'],
    'impersonate-extra-some%2fkey': ['v'],
  });
});

test('a token file is read again after a minute, survives its replacement, and at once after a 401', async () => {
  const ports = testPorts({ texts: { '/t': 'one\n' } });
  const access = await accessFor(ports, server, 'tokenFile: /t');
  assert.equal(await authorization(access), 'Bearer one');
  const { tls } = await access.identity();
  ports.texts.set('/t', 'two');
  await ports.advance(59_000);
  assert.equal(await authorization(access), 'Bearer one');
  await ports.advance(1_000);
  assert.equal(await authorization(access), 'Bearer two');
  assert.equal((await access.identity()).tls, tls, 'connections can stay');
  ports.texts.delete('/t');
  await ports.advance(60_000);
  assert.equal(await authorization(access), 'Bearer two');
  const used = await access.identity();
  assert.equal(await access.rejected(used), false, 'nothing newer to try');
  ports.texts.set('/t', 'three');
  assert.equal(await access.rejected(used), true);
  assert.equal(await authorization(access), 'Bearer three');
});

test('a missing token file is an error of its own', async () => {
  const access = await accessFor(testPorts(), server, 'tokenFile: /t');
  await assert.rejects(access.identity(), { code: 'KUBE_CREDENTIALS', message: '/t is missing or empty' });
});

test('an authority that changes gives new TLS material, one that does not the same', async () => {
  const ports = testPorts({ texts: { '/ca': 'A' } });
  const access = await accessFor(ports, `${server}, certificate-authority: /ca`, '');
  const { tls } = await access.identity();
  await ports.advance(60_000);
  assert.equal((await access.identity()).tls, tls);
  ports.texts.set('/ca', 'B');
  await ports.advance(60_000);
  assert.equal((await access.identity()).tls.ca, 'B');
});

test('credentials do not travel over plain http beyond this machine', async () => {
  await assert.rejects(accessFor(testPorts(), 'server: "http://k"', 'token: t'), { code: 'KUBECONFIG_UNSUPPORTED' });
  await accessFor(testPorts(), 'server: "http://127.0.0.1:8001"', 'token: t');
});

/** A plugin that counts its runs and answers with what `make` returns. */
function plugin(
  make: (run: number, now: number) => string,
  options: { readonly fields?: string; readonly interactive?: boolean; readonly code?: number } = {},
) {
  const runs: SpawnRequest[] = [];
  const ports = testPorts({
    env: { PATH: '/bin' },
    interactive: options.interactive ?? false,
    spawn: async (request) => {
      runs.push(request);
      await new Promise((resolve) => setImmediate(resolve));
      return { code: options.code ?? 0, stdout: make(runs.length, ports.clock.now()), stderr: 'line\nwent wrong\n' };
    },
  });
  const mode = options.fields?.includes('interactiveMode') ? '' : 'interactiveMode: Never,';
  const fields = `apiVersion: client.authentication.k8s.io/v1, command: login, ${mode} ${options.fields ?? ''}`;
  const cluster = `${server}, certificate-authority-data: ${Buffer.from('CA').toString('base64')}, extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: x}}]`;
  return { ports, runs, access: () => accessFor(ports, cluster, `exec: {${fields}}`) };
}

const credential = (status: object): string =>
  JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status });

test('a plugin runs once for all who wait and again shortly before its credential ends', async () => {
  const { ports, runs, access } = plugin((run, now) =>
    credential({ token: `t${run}`, expirationTimestamp: new Date(now + 3_600_000).toISOString() }),
  );
  const one = await access();
  const all = await Promise.all(Array.from({ length: 20 }, () => authorization(one)));
  assert.deepEqual(new Set(all), new Set(['Bearer t1']));
  await ports.advance(3_600_000 - 61_000);
  assert.equal(await authorization(one), 'Bearer t1');
  await ports.advance(2_000);
  assert.equal(await authorization(one), 'Bearer t2');
  assert.equal(runs.length, 2);
});

test('a short-lived credential is not asked for at every request', async () => {
  const { ports, runs, access } = plugin((run, now) =>
    credential({ token: `t${run}`, expirationTimestamp: new Date(now + 30_000).toISOString() }),
  );
  const one = await access();
  await authorization(one);
  await ports.advance(26_000);
  await authorization(one);
  assert.equal(runs.length, 1);
  await ports.advance(2_000);
  await authorization(one);
  assert.equal(runs.length, 2);
});

test('many 401s of one credential run the plugin once', async () => {
  const { runs, access } = plugin((run) => credential({ token: `t${run}` }));
  const one = await access();
  const used = await one.identity();
  const retries = Array.from({ length: 5 }, async () => {
    assert.equal(await one.rejected(used), true);
    return authorization(one);
  });
  assert.deepEqual(new Set(await Promise.all(retries)), new Set(['Bearer t2']));
  // One that was slow to learn it does not throw away what is new.
  assert.equal(await one.rejected(used), true);
  assert.equal(await authorization(one), 'Bearer t2');
  assert.equal(runs.length, 2);
});

test('a plugin gets its environment and, when it asks, the cluster', async () => {
  const { runs, access } = plugin(() => credential({ token: 't' }), {
    fields: 'args: [get], env: [{name: MINE, value: yes1}], provideClusterInfo: true',
  });
  await authorization(await access());
  const [run] = runs;
  assert.deepEqual(run?.args, ['get']);
  assert.equal(run?.env.PATH, '/bin');
  assert.equal(run?.env.MINE, 'yes1');
  assert.deepEqual(JSON.parse(run?.env.KUBERNETES_EXEC_INFO ?? ''), {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      cluster: {
        server: 'https://k',
        'certificate-authority-data': Buffer.from('CA').toString('base64'),
        config: { audience: 'x' },
      },
    },
  });
});

test('who may ask at the terminal', async () => {
  const cases: readonly [mode: string, terminal: boolean, asks: boolean | 'refused'][] = [
    ['Never', true, false],
    ['IfAvailable', true, true],
    ['IfAvailable', false, false],
    ['Always', true, true],
    ['Always', false, 'refused'],
  ];
  for (const [mode, interactive, asks] of cases) {
    const { runs, access } = plugin(() => credential({ token: 't' }), {
      fields: `interactiveMode: ${mode}`,
      interactive,
    });
    const identity = (await access()).identity();
    if (asks === 'refused') await assert.rejects(identity, /there is no terminal/);
    else await identity;
    assert.equal(runs[0]?.interactive, asks === 'refused' ? undefined : asks, `${mode} ${interactive}`);
  }
});

test('a plugin may give a client certificate, in YAML too', async () => {
  const yaml = `apiVersion: client.authentication.k8s.io/v1
kind: ExecCredential
status: {clientCertificateData: CERT, clientKeyData: KEY}`;
  const { tls, headers } = await (await plugin(() => yaml).access()).identity();
  assert.deepEqual([tls.certificate, tls.key, tls.ca, headers], ['CERT', 'KEY', 'CA', {}]);
});

test('what a plugin does wrong is said without its output', async () => {
  const cases: readonly [output: string, message: RegExp][] = [
    ['s3cret: [', /is not YAML/],
    [credential({}), /neither token nor certificate/],
    [credential({ clientKeyData: 's3cret' }), /a certificate or a key alone/],
    [credential({ token: 's3cret', expirationTimestamp: 'soon' }), /expirationTimestamp is not a time/],
    [credential({ token: 's3cret' }).replace('/v1', '/v1beta1'), /apiVersion is not/],
    [credential({ token: 's3cret' }).replace('ExecCredential', 'Secret'), /kind is not/],
  ];
  for (const [output, message] of cases) {
    const access = await plugin(() => output).access();
    await assert.rejects(access.identity(), (error: Error) => {
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /s3cret/);
      return true;
    });
  }
  await assert.rejects((await plugin(() => 's3cret', { code: 3 }).access()).identity(), /ended with 3: went wrong$/);
});

test('a plugin that is not installed says how to get it', async () => {
  const ports = testPorts();
  const access = await accessFor(
    ports,
    server,
    'exec: {apiVersion: client.authentication.k8s.io/v1, command: login, interactiveMode: Never, installHint: Get it.}',
  );
  await assert.rejects(access.identity(), /cannot be started: nothing to spawn\. Get it\./);
});
