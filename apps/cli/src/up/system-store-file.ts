/** The file of a store from outside: taken, looked into, copied, put in place. */
import { constants, createReadStream } from 'node:fs';
import { access, link, lstat, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { besideStore, type FileJournal, sqliteJournal } from '@reeve/embedded';
import { asReeveError } from '@reeve/runtime';
import { cliError } from '../errors.ts';
import { fileProblem, fileRefusal } from '../file-problem.ts';

/** Loaded, and ours until it is closed. Undefined: a control plane has it. */
export async function takeStore(path: string): Promise<FileJournal | undefined> {
  const journal = sqliteJournal({ path });
  try {
    await journal.load();
    return journal;
  } catch (error) {
    if (asReeveError(error).code === 'EMBEDDED_STORE_LOCKED') return undefined;
    throw error;
  }
}

export interface StoreSummary {
  readonly objects: number;
  readonly revision: number;
  /** It says what it was made of, and that is what it holds. Else nobody can tell. */
  readonly isChecked: boolean;
}

const MAGIC = 'SQLite format 3\0';

/** Reads all of it; throws BACKUP_UNREADABLE if it is no store of a version that we know, or not what was backed up. */
export async function inspectStore(path: string, name: string): Promise<StoreSummary> {
  const unreadable = (why: string) => cliError('BACKUP_UNREADABLE', `${name}: ${why}`, [name]);
  // An empty file would be made a store.
  if ((await beginningOf(path)) !== MAGIC) throw unreadable('is no backup of a control plane');
  const journal = sqliteJournal({ path });
  try {
    const { rows, compacted } = await journal.load();
    const objects = new Set<string>();
    for (const { key, deleted } of rows) {
      const place = `${key.resource}\n${key.namespace}\n${key.name}`;
      if (deleted) objects.delete(place);
      else objects.add(place);
    }
    const wholeness = await journal.wholeness();
    if (wholeness === 'damaged')
      throw unreadable('was changed or damaged since it was made: its checksum does not fit');
    const revision = Math.max(compacted, rows.at(-1)?.revision ?? 0);
    return { objects: objects.size, revision, isChecked: wholeness === 'whole' };
  } catch (error) {
    const { code, message } = asReeveError(error);
    throw code === 'EMBEDDED_STORE_UNREADABLE' ? unreadable(message) : error;
  } finally {
    await journal.close();
  }
}

async function beginningOf(path: string): Promise<string> {
  await using file = await open(path, 'r');
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
  return buffer.toString('latin1', 0, bytesRead);
}

/** Before anything is done: whoever is to read it finds a file, and may. */
export async function refuseUnreadable(path: string): Promise<void> {
  try {
    await using file = await open(path, 'r');
    if (!(await file.stat()).isFile()) throw cliError('FILE_UNREADABLE', `${path} is no file`, [path]);
  } catch (error) {
    const why = fileProblem(error);
    throw why === undefined ? error : cliError('FILE_UNREADABLE', `${path}: ${why}`, [path]);
  }
}

/** The same of a file that is not there yet: there is a folder for it, in which this user may make one. */
export async function refuseUnwritable(path: string): Promise<void> {
  try {
    // With the dot a file in its place is told as one.
    await access(`${dirname(path)}/.`, constants.W_OK | constants.X_OK);
  } catch (error) {
    const why = fileProblem(error);
    throw why === undefined ? error : cliError('FILE_UNWRITABLE', `${dirname(path)}: ${why}`, [path]);
  }
}

export async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

/** With what lies beside it when its process is killed. */
export async function removeStore(path: string): Promise<void> {
  for (const file of [path, ...besideStore(path)]) await rm(file, { force: true });
}

/** A new file for its owner alone. What is wrong with the chunks is not told of the file. */
export async function writeStore(
  path: string,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<void> {
  const told = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw fileRefusal(error, 'FILE_UNWRITABLE', path);
    });
  await using file = await told(open(path, 'wx', 0o600));
  for await (const chunk of chunks) await told(file.writeFile(chunk));
  await told(file.sync());
}

export function copyStore(from: string, to: string): Promise<void> {
  return writeStore(to, chunksOf(from));
}

async function* chunksOf(path: string): AsyncIterable<Uint8Array> {
  try {
    yield* createReadStream(path) as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw fileRefusal(error, 'FILE_UNREADABLE', path);
  }
}

/** Gives a file its name, unless there is one of that name: nothing is ever overwritten. */
export async function nameStore(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw cliError('FILE_EXISTS', `${to} is there already`, [to]);
  }
  await rm(from);
  await syncFolder(to);
}

/**
 * Puts a store in the place of another, in one step: at no moment is there none. The old one keeps its content under another name, and
 * so does what is not yet written into it, or it would be taken for part of the new one.
 */
export async function replaceStore(next: string, place: string, keepAs: string): Promise<boolean> {
  const wasThere = await isThere(place);
  if (wasThere) await link(place, keepAs);
  const kept = besideStore(keepAs);
  for (const [index, file] of besideStore(place).entries()) {
    if (await isThere(file)) await rename(file, kept[index] as string);
  }
  await rename(next, place);
  await syncFolder(place);
  return wasThere;
}

async function syncFolder(path: string): Promise<void> {
  await using folder = await open(dirname(path), 'r');
  await folder.sync();
}
