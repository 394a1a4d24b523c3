/**
 * `reeve restore`: a backup takes the place of a store that no control plane uses. A mark in the folder says that it is under way; no
 * control plane starts while it is there, so that a restore that died in the middle is neither overlooked nor gone on upon.
 */
import { resolve } from 'node:path';
import { type Host, systemHost } from '@reeve/local-node';
import { asReeveError, type Files } from '@reeve/runtime';
import type { CommandLine } from '../command.ts';
import { cliError, type ExitCode, exit, usage } from '../errors.ts';
import { plural } from '../output/format.ts';
import { type DataFolder, defaultDataFolder, openSystemFolder } from './data-folder.ts';
import { planeRunning } from './holder.ts';
import type { restoreOptions } from './spec.ts';
import {
  copyStore,
  inspectStore,
  isThere,
  refuseUnreadable,
  removeStore,
  replaceStore,
  takeStore,
} from './system-store-file.ts';

export async function run({ words, values, io }: CommandLine<typeof restoreOptions>): Promise<ExitCode> {
  const [file, more] = words;
  if (file === undefined || more !== undefined) throw usage('reeve restore takes one FILE');
  const from = resolve(file);
  await refuseUnreadable(from);
  const { files, clock } = io.ports;
  const host = systemHost(io.env.PATH);
  const folder = await openSystemFolder(files, resolve(values.data ?? defaultDataFolder(io.env)), host.user);
  // Copied and read before anything is touched.
  const next = `${folder.store}.new`;
  await removeStore(next);
  try {
    await copyStore(from, next);
    const { objects, revision, isChecked } = await inspectStore(next, from);
    if (!isChecked) {
      io.err(`reeve: ${from} has no checksum (an older reeve made it, or a copy by hand): it may be damaged unseen\n`);
    }
    const stamp = new Date(clock.now()).toISOString().replaceAll(':', '-');
    const kept = `${folder.store}.before-${stamp}`;
    await markAndFree(files, host, folder, from);
    const wasThere = await replaceStore(next, folder.store, kept);
    await files.remove(folder.restoring);
    io.out(`${folder.store}: ${plural(objects, 'object')}, revision ${revision}\n`);
    if (wasThere) io.out(`What was there before is ${kept}.\n`);
  } finally {
    await removeStore(next);
  }
  return exit.ok;
}

/** From the mark on no control plane starts; one that did before is found by the second look. */
async function markAndFree(files: Files, host: Host, folder: DataFolder, from: string): Promise<void> {
  await freeStore(host, folder);
  const wasMarked = (await files.read(folder.restoring)) !== undefined;
  await files.write(folder.restoring, `${from}\n`);
  try {
    await freeStore(host, folder);
  } catch (error) {
    // One that an earlier restore left is not ours to take away.
    if (!wasMarked) await files.remove(folder.restoring);
    throw error;
  }
}

/** Nobody has it open, and everything in it is in its one file. */
async function freeStore(host: Host, folder: DataFolder): Promise<void> {
  if (!(await isThere(folder.store))) return;
  try {
    const journal = await takeStore(folder.store);
    if (journal) return await journal.close();
  } catch (error) {
    // Damaged: that is what backups are for. Nobody could have it open.
    if (asReeveError(error).code !== 'EMBEDDED_STORE_UNREADABLE') throw error;
    return;
  }
  throw await planeRunning(host, folder);
}

/** For whoever has just taken the store, and is about to use it. */
export async function refuseHalfRestored(files: Pick<Files, 'read'>, folder: DataFolder): Promise<void> {
  const from = await files.read(folder.restoring);
  if (from === undefined) return;
  throw cliError('RESTORE_UNFINISHED', `a restore of ${from.trim()} into ${folder.path} did not finish`, [folder.path]);
}
