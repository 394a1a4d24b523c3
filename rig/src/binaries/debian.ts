/** Programs out of Debian packages, without installing anything and without root. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256OfFile } from './cache.ts';
import { findOnPath } from './program.ts';
import { run, runOrThrow, say } from './run.ts';

export interface PackageFile {
  readonly file: string;
  readonly package: string;
  readonly version: string;
  readonly sha256: string;
}

export function hasDebianTools(): boolean {
  return ['apt-get', 'dpkg-deb'].every((tool) => findOnPath(tool) !== undefined);
}

const SANDBOX = ['-o', 'APT::Sandbox::User=root'];

/** Downloads packages into `folder` with the system's own package sources. */
export async function downloadFromSystem(folder: string, packages: readonly string[]): Promise<readonly PackageFile[]> {
  const first = await run('apt-get', ['-q', ...SANDBOX, 'download', ...packages], { cwd: folder });
  if (first.code !== 0) {
    const env = await freshSystemLists(folder);
    await runOrThrow('apt-get', ['-q', 'download', ...packages], { cwd: folder, env });
  }
  return describePackages(folder);
}

/** Downloads packages of another suite (`sid`) from the mirror that the system uses for its own. */
export async function downloadFromSuite(
  folder: string,
  suite: string,
  packages: readonly string[],
): Promise<readonly PackageFile[]> {
  // A fresh system has sources but no lists yet; what a source is called stands in the lists.
  const mirror = (await debianMirror({})) ?? (await debianMirror(await freshSystemLists(folder)));
  if (!mirror) throw new Error('the system has no Debian package source');
  const etc = join(folder, 'apt', 'etc');
  await mkdir(join(etc, 'sources.list.d'), { recursive: true });
  const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
  const signedBy = existsSync(keyring) ? `[signed-by=${keyring}] ` : '';
  await writeFile(join(etc, 'sources.list'), `deb ${signedBy}${mirror} ${suite} main\n`);
  const config = await privateConfiguration(join(folder, 'apt'), `${etc}/`);
  await runOrThrow('apt-get', ['-q', 'update'], { env: { APT_CONFIG: config } });
  await runOrThrow('apt-get', ['-q', 'download', ...packages.map((name) => `${name}/${suite}`)], {
    cwd: folder,
    env: { APT_CONFIG: config },
  });
  return describePackages(folder);
}

/** Where the system gets Debian's own packages from. */
async function debianMirror(env: Readonly<Record<string, string>>): Promise<string | undefined> {
  const format = '$(REPO_URI)\t$(COMPONENT)\t$(LABEL)';
  const targets = await runOrThrow('apt-get', ['indextargets', '--format', format, 'Created-By: Packages'], { env });
  return targets
    .split('\n')
    .map((line) => line.split('\t'))
    .find(([, component, label]) => component === 'main' && label === 'Debian')?.[0];
}

/** The package lists of the system's sources, read anew into a private place: the system's own need root, and are not ours to change. */
async function freshSystemLists(folder: string): Promise<Readonly<Record<string, string>>> {
  say('package lists are missing or old: reading them anew into a private place');
  const env = { APT_CONFIG: await privateConfiguration(join(folder, 'system-apt'), '/etc/apt/') };
  // Not all sources need to answer: whether the packages are there is seen when they are fetched.
  await run('apt-get', ['-q', 'update'], { env });
  return env;
}

/** An apt configuration whose lists and caches lie below `folder`: the system's package state is neither read nor changed. */
async function privateConfiguration(folder: string, etc: string): Promise<string> {
  for (const part of ['state/lists/partial', 'cache/archives/partial', 'log'])
    await mkdir(join(folder, part), { recursive: true });
  await writeFile(join(folder, 'state', 'status'), '');
  const config = join(folder, 'apt.conf');
  const lines = [
    `Dir::Etc "${etc}";`,
    'Dir::Etc::trustedparts "/etc/apt/trusted.gpg.d/";',
    `Dir::State "${folder}/state";`,
    `Dir::State::status "${folder}/state/status";`,
    `Dir::Cache "${folder}/cache";`,
    `Dir::Log "${folder}/log";`,
    'APT::Sandbox::User "root";',
    'Acquire::Languages "none";',
    // A mirror may be a frozen snapshot, whose signature is still checked; only its age is not judged.
    'Acquire::Check-Valid-Until "false";',
  ];
  await writeFile(config, `${lines.join('\n')}\n`);
  return config;
}

async function describePackages(folder: string): Promise<readonly PackageFile[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.deb')).sort();
  const described: PackageFile[] = [];
  for (const name of files) {
    const file = join(folder, name);
    const fields = await runOrThrow('dpkg-deb', ['--show', '--showformat', '${Package}\t${Version}', file]);
    const [packageName = '', version = ''] = fields.trim().split('\t');
    described.push({ file, package: packageName, version, sha256: await sha256OfFile(file) });
  }
  return described;
}

/** Unpacks into `root`, drops what no program needs at run time, writes what was seen to `packages.json`, removes the downloads. */
export async function unpack(folder: string, packages: readonly PackageFile[], root: string): Promise<void> {
  await mkdir(root, { recursive: true });
  for (const { file } of packages) await runOrThrow('dpkg-deb', ['-x', file, root]);
  for (const part of ['usr/share', 'etc', 'var', 'lib/systemd', 'usr/lib/systemd']) {
    await rm(join(root, part), { recursive: true, force: true });
  }
  const seen = packages.map(({ package: name, version, sha256 }) => ({ package: name, version, sha256 }));
  await writeFile(join(folder, 'packages.json'), `${JSON.stringify(seen, null, 2)}\n`);
  for (const { file } of packages) await rm(file);
  for (const part of ['apt', 'system-apt']) await rm(join(folder, part), { recursive: true, force: true });
}

/** The folder with shared libraries below an unpacked root: `usr/lib/x86_64-linux-gnu`. */
export async function libraryFolder(root: string): Promise<string> {
  const base = join(root, 'usr', 'lib');
  const triplet = (await readdir(base)).find((name) => name.includes('-linux-gnu'));
  if (!triplet) throw new Error(`no library folder below ${base}`);
  return join(base, triplet);
}
