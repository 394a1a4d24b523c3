/**
 * Files of this machine. Nothing is synced to disk: what the node writes need not outlive the machine's own restart, which ends all pods.
 * The small files of its own folder are read and written at once: that takes less than to have somebody else do it. What may lie on
 * a disk that does not answer (volumes, host paths) and what may be large is left to others.
 */
import { closeSync, fchmodSync, mkdirSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import {
  chmod,
  lchown,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemWallNow } from '@reeve/runtime';
import { makeFolderLike, removeTree } from './held-folder.ts';
import type { Entry, HostFiles, Owner } from './host.ts';

function isAbsent(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

async function orAbsent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

function nowOrAbsent<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** In a folder that is made if it is not there. */
function openToWrite(path: string, mode: number): number {
  try {
    return openSync(path, 'w', mode);
  } catch (error) {
    if (!isAbsent(error)) throw error;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return openSync(path, 'w', mode);
  }
}

interface Typed {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

function kindOf(entry: Typed): Entry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

async function setOwner(path: string, owner: Owner, isDeep: boolean): Promise<void> {
  // A folder after what is in it: from then on its new owner may put links in place of that.
  if (isDeep && (await lstat(path)).isDirectory()) {
    for (const name of await readdir(path)) await setOwner(join(path, name), owner, true);
  }
  await lchown(path, owner.uid, owner.gid); // what a link leads to stays whose it is
}

export const systemHostFiles: HostFiles = {
  read: async (path) => nowOrAbsent(() => readFileSync(path, 'utf8')),
  async readFrom(path, position, most) {
    const file = await orAbsent(open(path, 'r'));
    if (!file) return undefined;
    try {
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(most), position });
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  },
  async open(path) {
    const file = await orAbsent(open(path, 'r'));
    if (!file) return undefined;
    return {
      size: async () => (await file.stat()).size,
      async readFrom(position, most) {
        const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(most), position });
        return buffer.subarray(0, bytesRead);
      },
      [Symbol.asyncDispose]: () => file.close(),
    };
  },
  async write(path, content, mode = 0o600) {
    const beside = `${path}.new`;
    const file = openToWrite(beside, mode);
    try {
      fchmodSync(file, mode); // whatever the umask says, and whoever left one behind
      writeFileSync(file, content);
    } finally {
      closeSync(file);
    }
    renameSync(beside, path);
  },
  rewrite: (path, content) => writeFile(path, content),
  async claim(path) {
    try {
      closeSync(openSync(path, 'wx', 0o600));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
  },
  async makeFolder(path, mode = 0o700) {
    await mkdir(path, { recursive: true, mode });
  },
  makeFolderLike,
  async link(target, path) {
    const beside = `${path}.new`;
    await rm(beside, { force: true });
    await symlink(target, beside);
    await rename(beside, path);
  },
  linkTarget: (path) => orAbsent(readlink(path)),
  setMode: (path, mode) => chmod(path, mode),
  setOwner,
  remove: (path) => removeTree(path),
  move: rename,
  async list(path) {
    const entries = await orAbsent(readdir(path, { withFileTypes: true }));
    return entries?.map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
  },
  async kindOf(path) {
    const found = (await orAbsent(stat(path))) ?? (await orAbsent(lstat(path)));
    return found && kindOf(found);
  },
  realPath: (path) => orAbsent(realpath(path)),
  now: systemWallNow,
  async stat(path) {
    const found = statSync(path, { throwIfNoEntry: false });
    return found && { size: found.size, changedAt: found.mtimeMs };
  },
  truncate: (path) => truncate(path, 0),
};
