/** The two servers, each started afresh with keys and certificates made before: etcd and kube-apiserver, and the embedded one. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Authority, ETCD_VERSION, freePort, KUBE_VERSION, startKube, temporaryFolder, until } from '@reeve/rig';
import { configMapsIn, namespaceObject, ROOMS } from '../kubernetes/objects.ts';
import { type Access, Wire } from '../load/wire.ts';
import { LineProcess } from '../process/line-process.ts';

export interface Contestant extends AsyncDisposable {
  /** For a user who has the rights of one role, and no more. */
  readonly access: Access;
  /** From the start of its processes on an empty disk until /readyz says so. */
  readonly readyMs: number;
  readonly pids: readonly number[];
}

export const CONTESTANTS = {
  embedded: { title: `embedded (Node ${process.versions.node}, SQLite)`, start: startEmbedded },
  kubernetes: { title: `etcd ${ETCD_VERSION} + kube-apiserver ${KUBE_VERSION}`, start: startKubernetes },
} as const;

export type ContestantName = keyof typeof CONTESTANTS;

const USER = 'bench';
/** As the rig looks at its own servers. */
const READY = { everyMs: 50, timeoutMs: 90_000 };

async function startEmbedded(): Promise<Contestant> {
  const folder = temporaryFolder('bench-embedded');
  const pki = join(folder, 'pki');
  mkdirSync(pki);
  const authority = await Authority.make(pki);
  const server = await authority.sign({ name: 'embedded', altNames: ['DNS:localhost', 'IP:127.0.0.1'] });
  const port = await freePort();
  const place = { url: `https://127.0.0.1:${port}`, caFile: authority.caFile };
  const admin = { ...place, ...(await authority.sign({ name: 'root', groups: ['system:masters'] })) };
  const access = { ...place, ...(await authority.sign({ name: USER })) };
  const script = fileURLToPath(new URL('./server.ts', import.meta.url));
  const args = [script, folder, String(port), server.certFile, server.keyFile, authority.caFile];
  // What `bin/reeve.js` switches on for everybody who starts it the usual way.
  const env = { NODE_COMPILE_CACHE: join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'reeve', 'compile') };
  const start = async () => {
    const began = performance.now();
    const child = new LineProcess('embedded', { command: process.execPath, args, env });
    try {
      await until('the embedded server is ready', () => isReady(admin), READY);
      return { child, readyMs: performance.now() - began };
    } catch (error) {
      await child[Symbol.asyncDispose]();
      throw error;
    }
  };
  // Once before: the other one has been started before, too, and this one's code is compiled at its first start.
  const { child: first } = await start();
  await first[Symbol.asyncDispose]();
  for (const file of readdirSync(folder)) if (file.startsWith('store.db')) rmSync(join(folder, file));
  const { child, readyMs } = await start();
  const stop = () => child[Symbol.asyncDispose]();
  try {
    await prepare(admin, access);
    return { access, readyMs, pids: [child.pid], [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startKubernetes(): Promise<Contestant> {
  const kube = await startKube({ durable: true });
  const stop = () => kube.stop();
  try {
    const place = { url: kube.url, caFile: kube.caFile };
    const admin = { ...place, ...(await kube.user({ name: 'root', groups: ['system:masters'] })) };
    const access = { ...place, ...(await kube.user({ name: USER })) };
    // Once more from nothing, now that all certificates are there.
    await kube.apiserver.kill9();
    await kube.etcd.kill9();
    rmSync(join(kube.folder, 'etcd', 'member'), { recursive: true });
    const began = performance.now();
    await kube.etcd.start();
    await kube.apiserver.start();
    const readyMs = performance.now() - began;
    await prepare(admin, access);
    return { access, readyMs, pids: [kube.etcd.pid, kube.apiserver.pid], [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function isReady(access: Access): Promise<boolean> {
  const wire = new Wire(access);
  try {
    await wire.send({ method: 'GET', path: '/readyz' });
    return true;
  } finally {
    wire.close();
  }
}

/** Namespaces, and one role for the user. */
async function prepare(admin: Access, access: Access): Promise<void> {
  const root = new Wire(admin);
  const create = (path: string, object: object) => root.send({ method: 'POST', path, body: JSON.stringify(object) });
  for (const name of ROOMS) await create('/api/v1/namespaces', namespaceObject(name));
  const group = 'rbac.authorization.k8s.io';
  const named = { apiVersion: `${group}/v1`, metadata: { name: USER } };
  const verbs = ['create', 'get', 'list', 'watch'];
  await create(`/apis/${group}/v1/clusterroles`, {
    ...named,
    kind: 'ClusterRole',
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs }],
  });
  await create(`/apis/${group}/v1/clusterrolebindings`, {
    ...named,
    kind: 'ClusterRoleBinding',
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: USER },
    subjects: [{ apiGroup: group, kind: 'User', name: USER }],
  });
  root.close();
  const user = new Wire(access);
  const mayList = () => user.send({ method: 'GET', path: configMapsIn('bench-lists') }).then(() => true);
  await until('the role counts', mayList, { timeoutMs: 20_000 });
  user.close();
}
