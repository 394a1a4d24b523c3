/**
 * Folders that are held open while something is done in them. A path is walked anew by every call, and whoever may write to a folder on
 * the way can put a link there meanwhile: root would then do its work wherever that leads. A folder that is held is that folder,
 * whatever becomes of its name.
 */
import { constants, type Dirent } from 'node:fs';
import { mkdir, open, readdir, realpath, rmdir, stat, unlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

/** No link, and no pipe that somebody would have to write to first. */
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Each level is held while the next one is gone through, and a process has only so many files. */
const DEEPEST = 1_000;

/** Bytes: names need not be text. */
type Path = string | Buffer;
type Entry = Dirent<NonSharedBuffer>;

/** Leads to that very folder (`proc(5)`): the kernel looks up no name for it. */
const heldAt = (fd: number): string => `/proc/self/fd/${fd}`;

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

/** With all that is in it. Links go, and what they lead to stays. The way to it must be nobody else's. */
export async function removeTree(path: Path, depth = 0): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (codeOf(error) === 'EISDIR') await removeFolder(path, depth);
    else if (codeOf(error) !== 'ENOENT') throw error;
  }
}

async function removeFolder(path: Path, depth: number): Promise<void> {
  // First as if it were empty: what is mounted is refused by that, and so nobody looks into it.
  if (await isRemoved(path)) return;
  if (depth === DEEPEST) throw new Error(`${String(path)}: folders lie more than ${DEEPEST} deep in each other`);
  try {
    await empty(path, depth);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error; // somebody else may be removing it, too
  }
  if (!(await isRemoved(path))) throw new Error(`${String(path)}: somebody else put something there meanwhile`);
}

async function empty(path: Path, depth: number): Promise<void> {
  await using folder = await open(path, FOLDER);
  const here = heldAt(folder.fd);
  const entries = await readdir(here, { encoding: 'buffer', withFileTypes: true });
  const at = ({ name }: Entry): Path => Buffer.concat([Buffer.from(`${here}/`), name]);
  const others = entries.filter((entry) => !entry.isDirectory());
  // All of them are waited for, also when one fails: the number of this folder is soon another one's.
  const outcomes = await Promise.allSettled(others.map((entry) => removeTree(at(entry), depth + 1)));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  for (const entry of entries) if (entry.isDirectory()) await removeFolder(at(entry), depth + 1);
}

/** False: it is not empty. */
async function isRemoved(path: Path): Promise<boolean> {
  try {
    await rmdir(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return true;
    if (codeOf(error) === 'ENOTEMPTY' || codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Makes one that is not there, with owner and mode of `like`. The path to it was looked at, and is without links. */
export async function makeFolderLike(path: string, like: string): Promise<void> {
  await using parent = await open(dirname(path), FOLDER);
  const here = heldAt(parent.fd);
  if ((await realpath(here)) !== dirname(path)) throw new Error(`${dirname(path)} leads elsewhere by now`);
  const { uid, gid, mode } = await stat(like);
  const made = `${here}/${basename(path)}`;
  try {
    await mkdir(made, 0o700);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    throw error;
  }
  await using folder = await open(made, FOLDER);
  // One that was put in its place may be what its owner has closed to others.
  if ((await readdir(heldAt(folder.fd))).length > 0) throw new Error(`${path} is another folder by now`);
  await folder.chown(uid, gid);
  await folder.chmod(mode & 0o7777);
}
