/** Builds programs from a Go module of ours: once for each state of the module and version of Go. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { cached, cacheFolder } from './cache.ts';
import { exclusively } from './lock.ts';
import { findOnPath } from './program.ts';
import { runOrThrow, say } from './run.ts';

export interface GoBuild {
  /** The folder of go.mod. */
  readonly module: string;
  /** Of the folder in the cache; the key of the build is added. */
  readonly name: string;
  /** What is being built, for people. */
  readonly label: string;
  readonly packages: readonly string[];
  readonly linkerFlags: string;
  /** Files of the module that decide what is built. */
  readonly files: readonly string[];
  /** Said when Go is not there. */
  readonly withoutGo: string;
  /** Called with the folder once the programs are in it. */
  finish?(folder: string): Promise<void>;
}

/** The folder with the built programs. Where modules come from is decided by the user's own Go settings (GOPROXY and the like). */
export async function builtFromGo(wanted: GoBuild): Promise<string> {
  const go = findOnPath('go');
  if (!go) throw new Error(wanted.withoutGo);
  const compiler = await runOrThrow(go, ['env', 'GOVERSION', 'GOOS', 'GOARCH'], { cwd: wanted.module });
  const texts = wanted.files.map((name) => readFileSync(join(wanted.module, name), 'utf8'));
  const folder = `${wanted.name}-${goBuildKey([...texts, compiler, wanted.linkerFlags, ...wanted.packages])}`;
  if (existsSync(join(cacheFolder(), folder))) return join(cacheFolder(), folder);
  return exclusively(
    join(cacheFolder(), folder),
    async () => {
      // Nobody else builds now: what is half-built was left by somebody who was killed.
      await removeHalfBuilt(folder);
      return cached(folder, async (building) => {
        say(`building ${wanted.label} from Go modules: once, minutes`);
        await goBuild(go, wanted, building);
        await wanted.finish?.(building);
      });
    },
    () => say(`another process builds ${wanted.label}: waiting for it`),
  );
}

/** Another key is another build: sources, Go and the way of building are in it. */
export function goBuildKey(parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:${part}`);
  return hash.digest('hex').slice(0, 16);
}

async function removeHalfBuilt(name: string): Promise<void> {
  if (!existsSync(cacheFolder())) return;
  const left = (await readdir(cacheFolder())).filter((entry) => entry.startsWith(`.building-${name}-`));
  for (const entry of left) await rm(join(cacheFolder(), entry), { recursive: true, force: true });
}

/** The compiler names each package as it is done with it: a sign of life every few seconds. */
function goBuild(go: string, { module, label, packages, linkerFlags }: GoBuild, folder: string): Promise<void> {
  const args = [
    'build',
    '-v',
    '-mod=readonly',
    '-trimpath',
    '-buildvcs=false',
    '-ldflags',
    linkerFlags,
    '-o',
    `${folder}/`,
  ];
  const setpriv = findOnPath('setpriv');
  const line = setpriv ? [setpriv, '--pdeathsig', 'KILL', go, ...args] : [go, ...args];
  const child = spawn(line[0] as string, [...line.slice(1), ...packages], {
    cwd: module,
    // A workspace around the checkout must not have a say.
    env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const started = performance.now();
  let saidAt = started;
  let built = 0;
  const complaints: string[] = [];
  createInterface({ input: child.stderr }).on('line', (text) => {
    if (/^[\w./~-]+$/.test(text)) built++;
    else if (!text.startsWith('go: downloading ')) complaints.push(text);
    if (performance.now() - saidAt < 15_000) return;
    saidAt = performance.now();
    say(`still building: ${built} packages in ${Math.round((saidAt - started) / 1000)} s`);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) {
        say(`built ${label} in ${Math.round((performance.now() - started) / 1000)} s`);
        return resolve();
      }
      reject(new Error(`go build ended with ${signal ?? code}: ${complaints.join('\n').slice(-2000)}`));
    });
  });
}
