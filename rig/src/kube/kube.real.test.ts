/** The rig's control plane judged by itself: real, restartable, and gone without a trace. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, statSync } from 'node:fs';
import { after, before, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../servers/process.ts';
import { until } from '../servers/until.ts';
import { type Kube, startKube } from './kube.ts';

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A folder where temporary folders are made as long as the test runs: others make theirs at the same time. */
function ownFolders(t: TestContext): string {
  const folders = temporaryFolder('own');
  chmodSync(folders, 0o755); // the servers' user must get through
  const inherited = process.env.TMPDIR;
  process.env.TMPDIR = folders;
  t.after(() => {
    if (inherited === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = inherited;
  });
  return folders;
}

const configMap = (name: string) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'b' } });

describe('rig with Kubernetes', () => {
  let kube: Kube;
  before(async () => {
    kube = await startKube({ controllerManager: true });
  });
  after(() => kube?.stop());

  it('is the real thing, with controllers at work', async (t) => {
    t.diagnostic(`ready after ${Math.round(kube.readyMs)} ms`);
    const version = JSON.parse(await kube.kubectl(['version', '-o', 'json'])) as {
      readonly serverVersion: { readonly gitVersion: string };
    };
    assert.equal(version.serverVersion.gitVersion, `v${kube.apiserver.program.version}`);
    await kube.kubectl(['create', 'namespace', 'whole']);
    const pod = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'none' }] } };
    const spec = { replicas: 2, selector: { matchLabels: { a: 'b' } }, template: pod };
    const set = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'r' }, spec };
    await kube.kubectl(['-n', 'whole', 'create', '-f', '-'], { input: JSON.stringify(set) });
    const pods = () => kube.kubectl(['-n', 'whole', 'get', 'pods', '-o', 'name']);
    await until('its pods are made', async () => (await pods()).trim().split('\n').length === 2);
    await kube.kubectl(['delete', 'namespace', 'whole', '--timeout=50s']);
  });

  it('authorizes by role: the administrator may all, a stranger nothing, an expired certificate is nobody', async () => {
    assert.equal(statSync(kube.kubeconfig).mode & 0o777, 0o600);
    const stranger = await kube.user({ name: 'stranger' });
    await assert.rejects(kube.kubectl(['get', 'secrets'], stranger), /Forbidden.*"stranger"/s);
    const expired = await kube.user({ name: 'late', groups: ['system:masters'], days: -1 });
    await assert.rejects(kube.kubectl(['get', 'secrets'], expired), /Unauthorized|logged in|expired/);
    // Node authorization: a node reads its own Node object only.
    const node = await kube.user({ name: 'system:node:n1', groups: ['system:nodes'] });
    const labelled = ['label', 'node', 'n2', 'a=b'];
    await kube.kubectl(['create', '-f', '-'], {
      input: JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n2' } }),
    });
    await assert.rejects(kube.kubectl(labelled, node), /not allowed to modify node|can only|cannot/);
  });

  it('survives kill -9 with the same data at the same address, and can be paused', async () => {
    await kube.kubectl(['create', '-f', '-'], { input: configMap('kept') });
    const before = kube.apiserver.pid;
    await kube.apiserver.kill9();
    assert.equal(isAlive(before), false);
    await assert.rejects(kube.kubectl(['get', 'configmaps', '--request-timeout=2s']), /refused/);
    await kube.apiserver.restart();
    assert.match(await kube.kubectl(['get', 'configmap', 'kept', '-o', 'name']), /kept/);
    kube.apiserver.pause();
    await assert.rejects(kube.kubectl(['get', '--raw', '/version', '--request-timeout=1s']), /[Tt]imeout|deadline/);
    kube.apiserver.resume();
    assert.match(await kube.kubectl(['get', '--raw', '/version']), /gitVersion/);
  });

  it('forgets its history when it is compacted', async () => {
    const read = async (): Promise<string> =>
      (
        JSON.parse(await kube.kubectl(['get', '--raw', '/api/v1/configmaps?limit=1'])) as {
          readonly metadata: { readonly resourceVersion: string };
        }
      ).metadata.resourceVersion;
    const old = await read();
    await kube.kubectl(['create', '-f', '-'], { input: configMap('later') });
    assert.ok(BigInt(await kube.compact()) > BigInt(old));
    await kube.apiserver.restart();
    const exact = `/api/v1/configmaps?limit=1&resourceVersionMatch=Exact&resourceVersion=${old}`;
    await assert.rejects(kube.kubectl(['get', '--raw', exact]), /too old|Expired|gone/i);
  });

  it('says why a server does not start, and leaves nothing of the attempt', async (t) => {
    const folders = ownFolders(t);
    await assert.rejects(
      startKube({ apiserverArguments: ['--no-such-flag'] }),
      /kube-apiserver 1\.\d+\.\d+ ended with 1\nthe end of its log:[\s\S]*unknown flag: --no-such-flag/,
    );
    assert.deepEqual(readdirSync(folders), []);
  });

  it('stops everything and removes its folder', async () => {
    const pids = [kube.etcd.pid, kube.apiserver.pid, kube.controllerManager?.pid ?? 0];
    assert.ok(pids.every(isAlive));
    await kube.stop();
    assert.ok(!pids.some(isAlive));
    assert.ok(!existsSync(kube.folder));
  });
});

/** What a test process leaves that did not stop its servers. All of its folders lie in one of ours. */
for (const how of ['killed with -9', 'forget', 'fail'] as const) {
  it(`no process and no folder stays behind: ${how}`, { timeout: 120_000 }, async (t) => {
    const folders = ownFolders(t);
    const child = fork(fileURLToPath(new URL('./orphan-testing.ts', import.meta.url)), [how], { stdio: 'ignore' });
    t.after(() => child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    const [pids] = (await once(child, 'message')) as [readonly number[]];
    assert.equal(pids.length, 2);
    if (how === 'killed with -9') {
      assert.ok(pids.every(isAlive) && readdirSync(folders).some((name) => name.startsWith('reeve-kube-')));
      child.kill('SIGKILL');
    }
    await ended;
    await until('all processes are gone', () => !pids.some(isAlive));
    await until('all folders are gone', () => readdirSync(folders).length === 0);
  });
}
