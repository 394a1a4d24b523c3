/** Builds the Kubernetes programs from Go modules: once for each state of `rig/kube` and version of Go. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { cached, cacheFolder } from '../binaries/cache.ts';
import { exclusively } from '../binaries/lock.ts';
import { findOnPath } from '../binaries/program.ts';
import { runOrThrow, say } from '../binaries/run.ts';

export const KUBE_VERSION = '1.36.3';
export const ETCD_VERSION = '3.6.8';

const MODULE = fileURLToPath(new URL('../../kube/', import.meta.url));

const PACKAGES = [
  'k8s.io/kubernetes/cmd/kube-apiserver',
  'k8s.io/kubernetes/cmd/kube-controller-manager',
  'k8s.io/kubernetes/cmd/kubectl',
  'go.etcd.io/etcd/server/v3',
];

/** Kubernetes learns its version from the linker; without it a server would call itself v0.0.0. */
function linkerFlags(): string {
  const [major, minor] = KUBE_VERSION.split('.');
  const version = {
    'k8s.io/component-base/version.gitVersion': `v${KUBE_VERSION}`,
    'k8s.io/component-base/version.gitMajor': major,
    'k8s.io/component-base/version.gitMinor': minor,
    'k8s.io/client-go/pkg/version.gitVersion': `v${KUBE_VERSION}`,
  };
  return ['-s', '-w', ...Object.entries(version).map(([name, value]) => `-X ${name}=${value}`)].join(' ');
}

/** The folder with the built programs. Where modules come from is decided by the user's own Go settings (GOPROXY and the like). */
export async function builtPrograms(): Promise<string> {
  const go = findOnPath('go');
  if (!go) {
    throw new Error(
      `kube-apiserver ${KUBE_VERSION} and its companions are neither in KUBEBUILDER_ASSETS nor on PATH, and Go, which builds them, is not on PATH either: install one of these`,
    );
  }
  const compiler = await runOrThrow(go, ['env', 'GOVERSION', 'GOOS', 'GOARCH'], { cwd: MODULE });
  const folder = `kube-${KUBE_VERSION}-${buildKey(compiler, moduleFiles())}`;
  if (existsSync(join(cacheFolder(), folder))) return join(cacheFolder(), folder);
  return exclusively(
    join(cacheFolder(), folder),
    async () => {
      // Nobody else builds now: what is half-built was left by somebody who was killed.
      await removeHalfBuilt(folder);
      return cached(folder, (building) => build(go, building));
    },
    () => say('another process builds Kubernetes: waiting for it'),
  );
}

async function removeHalfBuilt(name: string): Promise<void> {
  if (!existsSync(cacheFolder())) return;
  const left = (await readdir(cacheFolder())).filter((entry) => entry.startsWith(`.building-${name}-`));
  for (const entry of left) await rm(join(cacheFolder(), entry), { recursive: true, force: true });
}

function moduleFiles(): readonly string[] {
  return ['go.mod', 'go.sum'].map((name) => readFileSync(join(MODULE, name), 'utf8'));
}

/** Another key is another build: sources, Go and the way of building are in it. */
export function buildKey(compiler: string, files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of [...files, compiler, linkerFlags(), ...PACKAGES]) hash.update(`${part.length}:${part}`);
  return hash.digest('hex').slice(0, 16);
}

async function build(go: string, folder: string): Promise<void> {
  say(`building etcd ${ETCD_VERSION} and Kubernetes ${KUBE_VERSION} from Go modules: once, minutes`);
  await goBuild(go, folder);
  await rename(join(folder, 'server'), join(folder, 'etcd'));
}

/** The compiler names each package as it is done with it: a sign of life every few seconds. */
function goBuild(go: string, folder: string): Promise<void> {
  const args = [
    'build',
    '-v',
    '-mod=readonly',
    '-trimpath',
    '-buildvcs=false',
    '-ldflags',
    linkerFlags(),
    '-o',
    `${folder}/`,
  ];
  const setpriv = findOnPath('setpriv');
  const line = setpriv ? [setpriv, '--pdeathsig', 'KILL', go, ...args] : [go, ...args];
  const child = spawn(line[0] as string, [...line.slice(1), ...PACKAGES], {
    cwd: MODULE,
    // A workspace around the checkout must not have a say.
    env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const started = performance.now();
  let saidAt = started;
  let packages = 0;
  const complaints: string[] = [];
  createInterface({ input: child.stderr }).on('line', (text) => {
    if (/^[\w./~-]+$/.test(text)) packages++;
    else if (!text.startsWith('go: downloading ')) complaints.push(text);
    if (performance.now() - saidAt < 15_000) return;
    saidAt = performance.now();
    say(`still building: ${packages} packages in ${Math.round((saidAt - started) / 1000)} s`);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) {
        say(`built Kubernetes in ${Math.round((performance.now() - started) / 1000)} s`);
        return resolve();
      }
      reject(new Error(`go build ended with ${signal ?? code}: ${complaints.join('\n').slice(-2000)}`));
    });
  });
}
