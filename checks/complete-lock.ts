/**
 * `node checks/complete-lock.ts`: adds the platform packages that a lock file lacks because the registry at hand does not
 * carry them. Without their entries `npm ci` takes the lock for outdated; with them it passes over what is for
 * another platform. Run it after `npm install` changed the lock.
 */
import { readFileSync, writeFileSync } from 'node:fs';

interface LockedPackage {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}

const SYSTEMS = [
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
  'aix',
  'wasi',
];
const PROCESSORS = ['arm64', 'arm', 'x64', 'ia32', 'ppc64', 'riscv64', 's390x', 'loong64', 'mips64el', 'wasm32'];

/** The platform a package is for, from its name: `@scope/thing-linux-arm64-musl`. */
function platformOf(name: string): Pick<LockedPackage, 'os' | 'cpu'> {
  const words = name.split('/').at(-1)?.split('-') ?? [];
  const os = SYSTEMS.filter((system) => words.includes(system));
  const cpu = PROCESSORS.filter((processor) => words.includes(processor));
  if (words.includes('wasm32')) return { cpu: ['wasm32'] };
  return { ...(os.length > 0 ? { os } : {}), ...(cpu.length > 0 ? { cpu } : {}) };
}

const path = 'package-lock.json';
const lock = JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, LockedPackage> };
let added = 0;
for (const [place, locked] of Object.entries(lock.packages)) {
  if (!place.startsWith('node_modules/')) continue;
  for (const [name, version] of Object.entries(locked.optionalDependencies ?? {})) {
    const entry = `node_modules/${name}`;
    if (lock.packages[entry] || lock.packages[`${place}/${entry}`]) continue;
    if (!/^\d/.test(version)) continue; // a range names no version: not a platform package
    lock.packages[entry] = { version, ...(locked.dev ? { dev: true } : {}), optional: true, ...platformOf(name) };
    added++;
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(path, `${JSON.stringify(lock, undefined, 2)}\n`);
process.stdout.write(`${added} platform packages added to ${path}\n`);
