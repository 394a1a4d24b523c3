/** The folder where fetched programs live, shared by all checkouts of a user and safe for processes that fetch at the same time. */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

export function cacheFolder(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  if (environment.REEVE_RIG_CACHE) return environment.REEVE_RIG_CACHE;
  return join(environment.XDG_CACHE_HOME || join(homedir(), '.cache'), 'reeve', 'rig');
}

/**
 * The folder `name` in the cache, built by `build` when it is not there. It is built beside and renamed into place, so
 * it is either whole or absent; when two processes build at once, the first rename wins and the other copy is dropped.
 */
export async function cached(name: string, build: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(cacheFolder(), name);
  if (existsSync(folder)) return folder;
  const building = join(cacheFolder(), `.building-${name}-${randomUUID()}`);
  await mkdir(building, { recursive: true, mode: 0o755 });
  try {
    await build(building);
    await rename(building, folder);
  } catch (error) {
    await rm(building, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

export async function sha256OfFile(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}
