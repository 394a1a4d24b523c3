/** Who has the store of a data folder, for whoever waits for it: whom to ask, how long to wait, what to tell a person. */
import { type Host, isMarkedThere, ownMark, type ProcessMark } from '@reeve/local-node';
import type { ReeveError } from '@reeve/runtime';
import { cliError } from '../errors.ts';
import type { DataFolder } from './data-folder.ts';
import { downLine } from './down-line.ts';

export interface Holder extends ProcessMark {
  readonly command: 'up' | 'down';
}

/** For whoever has just taken the store. */
export async function tellHolder(
  { files, processes }: Host,
  folder: DataFolder,
  command: Holder['command'],
): Promise<void> {
  await files.write(folder.holder, JSON.stringify({ ...(await ownMark(processes)), command } satisfies Holder));
}

/** Undefined: whoever had it last has ended, or nothing is known. */
export async function holderOf({ files, processes }: Host, folder: DataFolder): Promise<Holder | undefined> {
  const told = holderIn((await files.read(folder.holder)) ?? '');
  return told && (await isMarkedThere(processes, told)) ? told : undefined;
}

/** That the store is taken, by whom, and what to do about it. */
export async function planeRunning(host: Host, folder: DataFolder): Promise<ReeveError> {
  const holder = await holderOf(host, folder);
  const who = holder ? `\`reeve ${holder.command}\`, process ${holder.pid},` : 'another process';
  const message = `${who} has ${folder.path} in use; \`${downLine(folder.path)}\` ends it with its pods`;
  return cliError('PLANE_RUNNING', message, [folder.path, ...(holder ? [String(holder.pid)] : [])]);
}

function holderIn(text: string): Holder | undefined {
  try {
    return JSON.parse(text) as Holder;
  } catch {
    return undefined; // of an older program there is none, and the machine may have died while it was written
  }
}
