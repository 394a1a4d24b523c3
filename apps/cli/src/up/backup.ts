/** `reeve backup`: the store of a control plane in one file, while it runs or not. */
import { resolve } from 'node:path';
import type { CommandLine } from '../command.ts';
import { cliError, type ExitCode, exit, usage } from '../errors.ts';
import { plural } from '../output/format.ts';
import { type DataFolder, defaultDataFolder } from './data-folder.ts';
import { BACKUP_PATH } from './own-paths.ts';
import { askPlane, existingFolder } from './running-plane.ts';
import type { backupOptions } from './spec.ts';
import {
  inspectStore,
  isThere,
  nameStore,
  refuseUnwritable,
  removeStore,
  takeStore,
  writeStore,
} from './system-store-file.ts';

type BackupLine = CommandLine<typeof backupOptions>;

export async function run(line: BackupLine): Promise<ExitCode> {
  const { words, values, io } = line;
  const [file, more] = words;
  if (file === undefined || more !== undefined) throw usage('reeve backup takes one FILE');
  const to = resolve(file);
  const folder = await existingFolder(io, resolve(values.data ?? defaultDataFolder(io.env)));
  if (await isThere(to)) throw cliError('FILE_EXISTS', `${to} is there already`, [to]);
  await refuseUnwritable(to);
  // Not under its name before it is whole and known to be readable.
  const beside = `${to}.new`;
  await removeStore(beside);
  try {
    await copyTo(beside, line, folder);
    const { objects, revision } = await inspectStore(beside, to);
    await nameStore(beside, to);
    io.out(`${to}: ${plural(objects, 'object')}, revision ${revision}\n`);
  } finally {
    await removeStore(beside);
  }
  return exit.ok;
}

/** By whoever has the store. */
async function copyTo(path: string, { io, signal }: BackupLine, folder: DataFolder): Promise<void> {
  const journal = await takeStore(folder.store);
  if (journal) {
    try {
      return await journal.backup(path);
    } finally {
      await journal.close();
    }
  }
  const write = async ({ chunks }: { readonly chunks: Parameters<typeof writeStore>[1] }): Promise<true> => {
    await writeStore(path, chunks);
    return true;
  };
  const isDone = await askPlane(io, folder, BACKUP_PATH, { signal }, write);
  if (isDone) return;
  throw cliError('PLANE_SILENT', `${folder.path} is in use, and nobody answers`, [folder.path]);
}
