/** Logs and commands as people ask for them: by kubectl, over TLS, of pods that are processes. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ApiServer, listen, memoryJournal, Store, tokenAuthentication } from '@reeve/embedded';
import { KubeClient } from '@reeve/kube';
import {
  AddressPool,
  detectDrivers,
  type Driver,
  hostImages,
  LocalNode,
  type Pod,
  pods,
  systemHost,
} from '@reeve/local-node';
import { Authority, kubeProgram, pathWithBubblewrap, temporaryFolder, until } from '@reeve/rig';
import { systemPorts } from '@reeve/runtime';
import { Manager } from '@reeve/runtime/manager';
import { podAccess } from './pod-access.ts';

const TOKEN = 'a-token-that-is-long-enough';
const PATIENCE = { timeoutMs: 60_000 };

function kubeconfig(server: string, ca: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    users: [{ name: 'u', user: { token: TOKEN } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
}

/** A server with a node, and kubectl for it. */
async function scene(t: TestContext, driver: Driver) {
  const folder = temporaryFolder('reeve-kubectl');
  const { clock, random } = systemPorts;
  const store = await Store.open({ journal: memoryJournal(), clock });
  const nodes: LocalNode[] = [];
  const access = podAccess((name) => nodes.find(({ nodeName }) => nodeName === name));
  const authenticate = tokenAuthentication(TOKEN);
  const server = await ApiServer.open({ store, clock, random, authenticate, pods: access });
  const pki = join(folder, 'pki');
  mkdirSync(pki);
  const authority = await Authority.make(pki);
  const { cert, key } = await authority.sign({ name: 'server', altNames: ['IP:127.0.0.1'] });
  const listener = await listen({
    handle: (request) => server.handle(request),
    connect: (request) => server.connect(request),
    tls: { cert, key },
  });
  const host = systemHost(process.env.PATH);
  const transport = server.transport();
  const node = await LocalNode.open(
    { ...systemPorts, host },
    {
      folder: join(folder, 'node'),
      transport,
      addresses: new AddressPool(host.files, random, join(folder, 'addresses')),
      images: hostImages,
      drivers: [driver],
      sandboxRemedy: '',
      facts: {
        name: 'here',
        labels: {},
        taints: [],
        capacity: { cpu: '4', memory: '4Gi', pods: '110' },
        address: '127.0.0.1',
        apiServer: undefined,
        hostPathRoots: [],
      },
    },
  );
  nodes.push(node);
  const stop = new AbortController();
  const running = new Manager(systemPorts, { name: 'test', transport }).add(node).run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
    await node.endPods(new AbortController().signal);
    server.close();
    await listener.close();
    await store.close();
  });
  const config = join(folder, 'kubeconfig');
  writeFileSync(config, kubeconfig(listener.url.origin, authority.ca), { mode: 0o600 });
  const { command } = await kubeProgram('kubectl');
  const env = { ...process.env, KUBECONFIG: config, KUBECACHEDIR: join(folder, 'cache') };
  const kubectl = (...args: readonly string[]): ChildProcess => spawn(command, args, { env });
  return { client: new KubeClient({ clock, random, transport }).resource(pods, 'default'), kubectl };
}

function collect(child: ChildProcess) {
  const said = { out: '', err: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (said.out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said.err += text));
  return said;
}

async function ended(child: ChildProcess, input = '') {
  const said = collect(child);
  child.stdin?.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...said };
}

const isReady = ({ status }: Pod) =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;

const host = systemHost(await pathWithBubblewrap());
const found = await detectDrivers({ ...systemPorts, host }, temporaryFolder('reeve-try'));

for (const driver of found.drivers) test(`${driver.name}: kubectl logs, logs -f and exec`, (t) => play(t, driver));

async function play(t: TestContext, driver: Driver): Promise<void> {
  const { client, kubectl } = await scene(t, driver);
  const script = 'echo begun; n=0; while :; do n=$((n+1)); echo line $n; sleep 0.1; done';
  await client.create({
    metadata: { name: 'web' },
    spec: { nodeName: 'here', containers: [{ name: 'main', image: 'host', command: ['sh', '-c', script] }] },
  });
  await until('the pod runs', async () => isReady(await client.get('web')), PATIENCE);

  const once1 = await ended(kubectl('logs', 'web', '--limit-bytes=6'));
  assert.deepEqual([once1.code, once1.out, once1.err], [0, 'begun\n', '']);
  const wrong = await ended(kubectl('logs', 'web', '-c', 'other'));
  assert.equal(wrong.code, 1);
  assert.match(wrong.err, /container other is not valid for pod web/);
  assert.match(
    (await ended(kubectl('logs', 'web', '-p'))).err,
    /previous terminated container "main" in pod "web" not found/,
  );

  const following = kubectl('logs', '-f', '--tail=1', 'web');
  const said = collect(following);
  await until('three more lines came', () => said.out.split('\n').length > 4 && said, PATIENCE);
  assert.match(said.out, /^line \d+\nline \d+\nline \d+\n/);
  following.kill('SIGINT');
  await once(following, 'close');

  const hello = await ended(kubectl('exec', 'web', '--', 'sh', '-c', 'echo out; echo err >&2; exit 3'));
  assert.deepEqual([hello.code, hello.out], [3, 'out\n'], hello.err);
  assert.match(hello.err, /^err\n/);
  const large = 'some input\n'.repeat(20_000);
  const echoed = await ended(kubectl('exec', '-i', 'web', '--', 'cat'), large);
  assert.equal(echoed.code, 0, echoed.err);
  assert.ok(echoed.out === large, `${echoed.out.length} of ${large.length} came back`);
  const none = await ended(kubectl('exec', 'web', '--', '/no/such/program'));
  assert.notEqual(none.code, 0);

  // The command of a client that is gone ends.
  const mark = `7${process.pid}`; // seconds, and nobody else's
  const sleeping = () =>
    readdirSync('/proc').some((pid) => /^\d+$/.test(pid) && readOr(`/proc/${pid}/cmdline`) === `sleep\0${mark}\0`);
  const endless = kubectl('exec', 'web', '--', 'sleep', mark);
  await until('it runs', sleeping, PATIENCE);
  endless.kill('SIGKILL');
  await until('it is gone', () => !sleeping(), PATIENCE);
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // it has just ended
  }
}
