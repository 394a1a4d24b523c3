/** Packages of Debian and its kin, from the sources of this machine: downloaded as whoever we are and unpacked, not installed. */
import type { DebianSource } from '../entry.ts';
import { type AptEnvironment, packageLists, removeLists } from './debian-lists.ts';
import { keepLinksWithin } from './links.ts';
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
  const offers = await download(work, source);
  for (const { file, sha256 } of offers) {
    requireSum(file, await work.sha256(file), sha256);
    await work.run(['dpkg-deb', '-x', file, 'root']);
    await work.files.remove(work.path(file));
  }
  await keepLinksWithin(work, 'root');
  // Whoever wonders later what is in this folder.
  const seen = offers.map(({ package: name, version, sha256 }) => ({ package: name, version, sha256 }));
  await work.files.write(work.path('packages.json'), `${JSON.stringify(seen, undefined, 2)}\n`, 0o644);
  await removeLists(work);
}

/** By the first lists that have the packages in the wanted version, and know where they lie: old ones name what mirrors no longer have. */
async function download(work: FetchWork, source: DebianSource): Promise<readonly Offer[]> {
  const { packages, suites } = source;
  const ask = async (env: AptEnvironment): Promise<readonly Offer[]> =>
    parseOffers(await work.run(['apt-get', '-q', ...SANDBOX, '--print-uris', 'download', ...packages], env));
  let problem: unknown;
  for await (const env of packageLists(work, suites)) {
    try {
      const offers = await ask(env);
      refuseOther(offers, source);
      await work.run(['apt-get', '-q', ...SANDBOX, 'download', ...packages], env);
      return offers;
    } catch (error) {
      if (!(error instanceof FetchProblem)) throw error;
      problem = error;
    }
  }
  throw problem;
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

/** Throws when the sources are of another time than what is wanted, have not everything, or a known revision is not itself. */
export function refuseOther(offers: readonly Offer[], source: DebianSource): void {
  const [main] = source.packages;
  if (!isWanted(offers, source)) {
    const found = versionOf(offers, source) ?? 'none';
    throw new FetchProblem(`the package sources of this machine have ${main} ${found}, wanted is ${source.version}`);
  }
  if (offers.length < source.packages.length)
    throw new FetchProblem(`the package sources have not all of ${source.packages.join(', ')}`);
  for (const offer of offers) {
    const known = source.sha256[`${offer.package} ${offer.version}`];
    if (known !== undefined) requireSum(offer.file, offer.sha256, known);
  }
}

function versionOf(offers: readonly Offer[], { packages: [main] }: DebianSource): string | undefined {
  return offers.find((one) => one.package === main)?.version;
}

/** 8.1.1-2 is an 8.1.1; 8.1.10 is none. 8u504 is an 8u. */
function isWanted(offers: readonly Offer[], source: DebianSource): boolean {
  const found = versionOf(offers, source);
  if (found?.startsWith(source.version) !== true) return false;
  return !(/\d$/.test(source.version) && /^\d/.test(found.slice(source.version.length)));
}
