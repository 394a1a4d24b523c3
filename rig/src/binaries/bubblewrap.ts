/** bubblewrap, which few machines have and the local node likes best: that of PATH, else Debian's, unpacked and not installed. */
import { delimiter, join } from 'node:path';
import { cached } from './cache.ts';
import { downloadFromSystem, hasDebianTools, unpack } from './debian.ts';
import { findOnPath } from './program.ts';
import { runOrThrow, say } from './run.ts';

/** This process's PATH, on which there is a `bwrap`. */
export async function pathWithBubblewrap(): Promise<string> {
  const path = process.env.PATH ?? '';
  if (findOnPath('bwrap') !== undefined) return path;
  if (!hasDebianTools())
    throw new Error('bwrap is neither on PATH nor is there an apt-get to fetch it; put it on PATH');
  const folder = await cached('bubblewrap-debian', async (building) => {
    say('fetching bubblewrap with apt-get');
    await unpack(building, await downloadFromSystem(building, ['bubblewrap']), join(building, 'root'));
  });
  const programs = join(folder, 'root', 'usr', 'bin');
  await runOrThrow(join(programs, 'bwrap'), ['--version']);
  return `${programs}${delimiter}${path}`;
}
