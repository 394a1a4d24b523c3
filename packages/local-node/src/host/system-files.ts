/** Files of this machine. Nothing is synced to disk: what the node writes need not outlive the machine's own restart, which ends all pods. */
import {
  chmod,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Entry, HostFiles } from './host.ts';

async function orAbsent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
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

export const systemHostFiles: HostFiles = {
  read: (path) => orAbsent(readFile(path, 'utf8')),
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
  async write(path, content, mode = 0o600) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const beside = `${path}.new`;
    await rm(beside, { force: true });
    await writeFile(beside, content, { mode });
    await chmod(beside, mode); // whatever the umask says
    await rename(beside, path);
  },
  rewrite: (path, content) => writeFile(path, content),
  async claim(path) {
    try {
      await (await open(path, 'wx', 0o600)).close();
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
  },
  async makeFolder(path, mode = 0o700) {
    await mkdir(path, { recursive: true, mode });
  },
  async link(target, path) {
    const beside = `${path}.new`;
    await rm(beside, { force: true });
    await symlink(target, beside);
    await rename(beside, path);
  },
  linkTarget: (path) => orAbsent(readlink(path)),
  setMode: (path, mode) => chmod(path, mode),
  remove: (path) => rm(path, { recursive: true, force: true }),
  async list(path) {
    const entries = await orAbsent(readdir(path, { withFileTypes: true }));
    return entries?.map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
  },
  async kindOf(path) {
    const found = (await orAbsent(stat(path))) ?? (await orAbsent(lstat(path)));
    return found && kindOf(found);
  },
  realPath: (path) => orAbsent(realpath(path)),
  async stat(path) {
    const found = await orAbsent(stat(path));
    return found && { size: found.size, changedAt: found.mtimeMs };
  },
  truncate: (path) => truncate(path, 0),
};
