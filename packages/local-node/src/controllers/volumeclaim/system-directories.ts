/** Directories below a root of this machine. */
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ReeveError } from '@reeve/runtime';
import { removeTree } from '../../host/held-folder.ts';
import { DATA, type Directories, isSafeName, MARKER } from './directories.ts';

export function systemDirectories(root: string): Directories {
  const folderOf = (volume: string) => {
    if (!isSafeName(volume)) throw new ReeveError('VOLUME_FOREIGN', `${volume} is no name of a volume`);
    return join(root, volume);
  };
  return {
    pathOf: (volume) => join(folderOf(volume), DATA),
    async make(volume, claimUid) {
      const folder = folderOf(volume);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const marker = await readIfThere(join(folder, MARKER));
      if (marker !== undefined && marker !== claimUid) {
        throw new ReeveError('VOLUME_FOREIGN', `${volume}: its directory belongs to another claim`);
      }
      // The marker first: data without one would never be removed.
      if (marker === undefined) await writeWhole(join(folder, MARKER), claimUid);
      await mkdir(join(folder, DATA), { recursive: true, mode: 0o700 });
    },
    async remove(volume, claimUid) {
      const folder = folderOf(volume);
      const marker = await readIfThere(join(folder, MARKER));
      if (marker === undefined) return (await isThere(folder)) ? 'foreign' : 'absent';
      if (marker !== claimUid) return 'foreign';
      // The marker last: a removal that stops in the middle can be gone on with.
      await removeTree(join(folder, DATA));
      await removeTree(folder);
      return 'removed';
    },
  };
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return (error as { readonly code?: unknown } | undefined)?.code === 'ENOENT';
}
