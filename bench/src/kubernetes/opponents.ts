/** The opponents: built or installed once from bench/opponents, kept in the user's cache as the rig keeps Kubernetes. */
import { createHash } from 'node:crypto';
import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { builtFromGo, cached, runOrThrow } from '@reeve/rig';

const MODULE = fileURLToPath(new URL('../../opponents/', import.meta.url));

export async function goOpponents(): Promise<string> {
  const sources = readdirSync(MODULE).filter((name) => name.endsWith('.go'));
  const folder = await builtFromGo({
    module: MODULE,
    name: 'opponents',
    label: 'client-go and controller-runtime',
    packages: ['.'],
    linkerFlags: '-s -w',
    files: ['go.mod', 'go.sum', ...sources.sort()],
    withoutGo: 'Go, which builds the opponents, is not on PATH: install it',
  });
  return join(folder, 'opponents');
}

/** As go.mod pins it. */
export function goVersionOf(module: string): string {
  const [, version] =
    readFileSync(join(MODULE, 'go.mod'), 'utf8')
      .split('\n')
      .map((line) => line.trim().split(' '))
      .find(([name]) => name === module) ?? [];
  if (version === undefined) throw new Error(`go.mod of the opponents does not name ${module}`);
  return version;
}

const CLIENT_NODE = join(MODULE, 'client-node');

export function clientNodeVersion(): string {
  const { dependencies } = JSON.parse(readFileSync(join(CLIENT_NODE, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  return dependencies['@kubernetes/client-node'] ?? '';
}

/** client-node as its lock file pins it, installed beside the Go opponents. Returns what to import. */
export async function clientNodeModule(): Promise<string> {
  const files = ['package.json', 'package-lock.json'];
  const lock = readFileSync(join(CLIENT_NODE, 'package-lock.json'));
  const key = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const folder = await cached(`client-node-${clientNodeVersion()}-${key}`, async (building) => {
    for (const file of files) copyFileSync(join(CLIENT_NODE, file), join(building, file));
    await runOrThrow('npm', ['ci', '--no-audit', '--no-fund'], { cwd: building });
  });
  return pathToFileURL(join(folder, 'node_modules', '@kubernetes', 'client-node', 'dist', 'index.js')).href;
}
