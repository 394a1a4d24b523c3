/** What was fetched, changed so that it runs. It is as it was pinned before this; a text that is not there is a release that nobody has seen. */
import type { Mend } from '../entry.ts';
import { FetchProblem, type FetchWork } from '../fetch/work.ts';
import { changeInZip, ZipProblem } from './zip.ts';

export async function mend(work: FetchWork, one: Mend): Promise<void> {
  const { files } = work;
  if (one.type === 'copy') {
    await work.run(['cp', '-p', work.path(one.from), work.path(one.to)]);
    return;
  }
  const path = work.path(one.file);
  const size = (await files.stat(path))?.size;
  const bytes = size === undefined ? undefined : await files.readFrom(path, 0, size);
  if (!bytes) throw new FetchProblem(`what was fetched has no ${one.file} in it`);
  await files.write(path, changed(Buffer.from(bytes), one), 0o644);
}

function changed(bytes: Buffer, { file, within, from, to }: Extract<Mend, { type: 'text' }>): Buffer {
  const replace = (content: Buffer): Buffer => {
    const parts = content.toString('latin1').split(from);
    if (parts.length === 2) return Buffer.from(parts.join(to), 'latin1');
    throw new FetchProblem(`${file} is not as expected: it has ${JSON.stringify(from)} ${parts.length - 1} times`);
  };
  if (within === undefined) return replace(bytes);
  try {
    return changeInZip(bytes, within, replace);
  } catch (error) {
    if (error instanceof ZipProblem) throw new FetchProblem(`${file} is not as expected: ${error.message}`);
    throw error;
  }
}
