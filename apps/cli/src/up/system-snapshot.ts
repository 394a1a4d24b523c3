/** The bytes of a copy of the store, made while it is in use. */
import { createReadStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { FileJournal } from '@reeve/embedded';

/** @param path where the copy lies meanwhile; nobody else uses it, and nothing is left of it. */
export async function* snapshotOf(
  journal: Pick<FileJournal, 'backup'>,
  path: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await journal.backup(path);
    for await (const chunk of createReadStream(path)) yield chunk as Uint8Array;
  } finally {
    await rm(path, { force: true });
  }
}
