/** The real implementations of the ports: the one place in `src` that touches clock, timers, randomness and files. */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock, Files, Ids, Ports, Random } from './ports.ts';

export const systemClock: Clock = {
  // Not Date.now(): a step of the wall clock must not move deadlines.
  now: () => performance.timeOrigin + performance.now(),
  sleep(ms, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(
        () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
        Math.max(0, ms),
      );
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  },
};

/**
 * What the system's clock says: the one that can be set, and that goes on while the machine sleeps. Only to compare it with times that the
 * system wrote by it.
 */
export function systemWallNow(): number {
  return Date.now();
}

/** Calls back after `ms` if this process is still there by then. That alone does not keep it. */
export function systemAfterwards(ms: number, call: () => void): void {
  setTimeout(call, ms).unref();
}

export const systemRandom: Random = { next: () => Math.random() };

export const systemIds: Ids = { next: (prefix) => `${prefix}-${randomBytes(6).toString('hex')}` };

/** A word that nobody can guess: passwords, tokens. */
export function systemSecret(): string {
  return randomBytes(24).toString('base64url');
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * A folder, with those above it, which get the usual mode. Nothing if it is there. Not by `recursive` of Node: where the system makes no
 * folders at all and says that the one above is missing (`/proc`), that goes on for ever, and lets nobody end the process.
 */
export async function systemMakeFolder(path: string, mode = 0o777): Promise<void> {
  const above = dirname(path);
  if ((await made(path, mode)) || above === path) return;
  await systemMakeFolder(above);
  await mkdir(path, mode).catch(unlessThere);
}

/** False: one above is missing. */
async function made(path: string, mode: number): Promise<boolean> {
  try {
    await mkdir(path, mode).catch(unlessThere);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

export const systemFiles: Files = {
  async read(path) {
    try {
      return await readFile(path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  },
  async write(path, text) {
    await systemMakeFolder(dirname(path));
    const beside = `${path}.new`;
    const file = await open(beside, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, path);
    await syncFolder(path);
  },
  async append(path, text) {
    await systemMakeFolder(dirname(path));
    const file = await open(path, 'a', 0o600);
    try {
      await file.writeFile(text);
      await file.datasync();
    } finally {
      await file.close();
    }
  },
  async remove(path) {
    await rm(path, { force: true });
  },
};

export const systemPorts: Ports = {
  clock: systemClock,
  random: systemRandom,
  ids: systemIds,
  files: systemFiles,
};
