/** Packages of Debian and its kin, from the sources of this machine: downloaded as whoever we are and unpacked, not installed. */
import type { DebianSource } from '../entry.ts';
import { FetchProblem, type FetchWork, requireSum } from './work.ts';

/** A line of `apt-get --print-uris download`. */
export interface Offer {
  readonly file: string;
  readonly package: string;
  readonly version: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Root need not become somebody else, who may not write here. */
const SANDBOX = ['-o', 'APT::Sandbox::User=root'];

export async function fetchPackages(work: FetchWork, source: DebianSource): Promise<void> {
  const { offers, env } = await offered(work, source);
  refuseOther(offers, source);
  await work.run(['apt-get', '-q', ...SANDBOX, 'download', ...source.packages], env);
  for (const { file, sha256 } of offers) {
    requireSum(file, await work.sha256(file), sha256);
    await work.run(['dpkg-deb', '-x', file, 'root']);
    await work.files.remove(work.path(file));
  }
  // Whoever wonders later what is in this folder.
  const seen = offers.map(({ package: name, version, sha256 }) => ({ package: name, version, sha256 }));
  await work.files.write(work.path('packages.json'), `${JSON.stringify(seen, undefined, 2)}\n`, 0o644);
  await work.files.remove(work.path('apt'));
}

/** What the sources have. A machine may have no lists, or old ones: then they are read into a private place. */
async function offered(work: FetchWork, { packages }: DebianSource) {
  const ask = async (env: Readonly<Record<string, string>>): Promise<readonly Offer[]> =>
    parseOffers(await work.run(['apt-get', '-q', ...SANDBOX, '--print-uris', 'download', ...packages], env));
  const own = await ask({}).catch(() => []);
  if (own.length === packages.length) return { offers: own, env: {} };
  const env = { APT_CONFIG: await privateLists(work) };
  // Not all sources need to answer: whether the packages are there is seen next.
  await work.run(['apt-get', '-q', 'update'], env).catch(() => undefined);
  const offers = await ask(env);
  if (offers.length < packages.length)
    throw new FetchProblem(`the package sources have not all of ${packages.join(', ')}`);
  return { offers, env };
}

/** The machine's sources and keys with lists and caches of our own: its package state needs root, and is not ours to change. */
async function privateLists(work: FetchWork): Promise<string> {
  const folder = work.path('apt');
  for (const part of ['state/lists/partial', 'cache/archives/partial', 'log']) {
    await work.files.makeFolder(`${folder}/${part}`);
  }
  await work.files.write(`${folder}/state/status`, '');
  const lines = [
    'Dir::Etc "/etc/apt/";',
    'Dir::Etc::trustedparts "/etc/apt/trusted.gpg.d/";',
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
  return config;
}

/** `'https://…/redis-server_5%3a7.0.15-1_amd64.deb' redis-server_5%3a7.0.15-1_amd64.deb 70000 SHA256:…`. */
export function parseOffers(text: string): readonly Offer[] {
  return text.split('\n').flatMap((line): readonly Offer[] => {
    const match = /^'[^']*' (\S+\.deb) (\d+) SHA256:([0-9a-f]{64})/.exec(line.trim());
    if (!match) return [];
    const [, file = '', bytes = '0', sha256 = ''] = match;
    const [name = '', version = ''] = file.split('_');
    return [{ file, package: name, version: decodeURIComponent(version), bytes: Number(bytes), sha256 }];
  });
}

/** Throws when the sources of this machine are of another time than what is wanted, or a known revision is not itself. */
export function refuseOther(offers: readonly Offer[], { packages, version, sha256 }: DebianSource): void {
  const [main] = packages;
  const found = offers.find((one) => one.package === main)?.version ?? 'none';
  if (!found.startsWith(version)) {
    throw new FetchProblem(`the package sources of this machine have ${main} ${found}, wanted is ${version}`);
  }
  for (const offer of offers) {
    const known = sha256[`${offer.package} ${offer.version}`];
    if (known !== undefined) requireSum(offer.file, offer.sha256, known);
  }
}
