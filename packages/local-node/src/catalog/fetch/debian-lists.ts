/** What apt-get knows, without changing what it knows: lists of package sources in a private place. */
import type { FetchWork } from './work.ts';

/** Added to the environment of apt-get. */
export type AptEnvironment = Readonly<Record<string, string>>;

/** Where this machine has Debian's packages from, and the security fixes. */
interface Mirrors {
  readonly main: string;
  readonly security: string | undefined;
}

const FOLDER = 'apt';
/** Debian's own keys, by which every release is signed that is alive. */
const KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg';
const TARGETS = ['indextargets', '--format', '$(REPO_URI)\t$(COMPONENT)\t$(LABEL)', 'Created-By: Packages'] as const;

/**
 * Where packages may be, nearest first: what this machine knows; its own sources, read anew, if they tell nothing of Debian (there may
 * be no lists yet, or it is no Debian); the releases that are named, from its own mirrors.
 */
export async function* packageLists(work: FetchWork, suites: readonly string[]): AsyncGenerator<AptEnvironment> {
  yield {};
  let mirrors = await mirrorsOf(work, {});
  if (!mirrors) {
    const own = await read(work, 'own');
    yield own;
    mirrors = await mirrorsOf(work, own);
  }
  if (!mirrors) return;
  const keys = (await work.files.kindOf(KEYS)) === 'file' ? KEYS : undefined;
  yield await read(work, 'suites', sourcesText(suites, mirrors, keys));
}

/** Nobody needs them any more. */
export async function removeLists(work: FetchWork): Promise<void> {
  await work.files.remove(work.path(FOLDER));
}

/** Undefined: there are none, or nobody knows yet, because what a source is called stands in its list. */
async function mirrorsOf(work: FetchWork, env: AptEnvironment): Promise<Mirrors | undefined> {
  return parseMirrors((await work.tried(['apt-get', ...TARGETS], env)) ?? '');
}

export function parseMirrors(text: string): Mirrors | undefined {
  const sources = text.split('\n').map((line) => line.split('\t'));
  const named = (wanted: string) =>
    sources.find(([, component, label]) => component === 'main' && label === wanted)?.[0];
  const main = named('Debian');
  return main === undefined ? undefined : { main, security: named('Debian-Security') };
}

/** Security fixes have a mirror of their own. A machine without one does without them. */
export function sourcesText(suites: readonly string[], { main, security }: Mirrors, keys: string | undefined): string {
  const signed = keys === undefined ? '' : ` signed-by=${keys}`;
  return suites
    .flatMap((suite) => {
      const mirror = suite.endsWith('-security') ? security : main;
      return mirror === undefined ? [] : [`deb [target=Packages${signed}] ${mirror} ${suite} main\n`];
    })
    .join('');
}

/** Lists and caches of our own: the package state of the machine needs root, and is not ours to change. Its settings count, as does its proxy. */
async function read(work: FetchWork, name: string, sources?: string): Promise<AptEnvironment> {
  const folder = work.path(FOLDER, name);
  for (const part of ['state/lists/partial', 'cache/archives/partial', 'log']) {
    await work.files.makeFolder(`${folder}/${part}`);
  }
  await work.files.write(`${folder}/state/status`, '');
  if (sources !== undefined) await work.files.write(`${folder}/sources.list`, sources);
  const lines = [
    'Dir::Etc "/etc/apt/";',
    'Dir::Etc::trustedparts "/etc/apt/trusted.gpg.d/";',
    ...(sources === undefined ? [] : [`Dir::Etc::sourcelist "${folder}/sources.list";`, 'Dir::Etc::sourceparts "-";']),
    `Dir::State "${folder}/state";`,
    `Dir::State::status "${folder}/state/status";`,
    `Dir::Cache "${folder}/cache";`,
    `Dir::Log "${folder}/log";`,
    'APT::Sandbox::User "root";',
    'Acquire::Languages "none";',
    // A mirror may be a frozen snapshot. Its signature is checked all the same; only its age is not judged.
    'Acquire::Check-Valid-Until "false";',
  ];
  const config = `${folder}/apt.conf`;
  await work.files.write(config, `${lines.join('\n')}\n`);
  const env = { APT_CONFIG: config };
  // Not all sources need to answer: whether the packages are there is seen next.
  await work.tried(['apt-get', '-q', 'update'], env);
  return env;
}
