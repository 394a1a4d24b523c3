/**
 * Fetched programs of a user, shared by all that run as him: `FOLDER/NAME/VERSION`. A folder of that name is whole, because it was
 * made under another name and renamed. Whoever fetches is named by the folder he works in, so that another sees whether he still lives:
 * a process that was killed leaves a name that nobody answers to, and the next one clears it away.
 */
import { join } from 'node:path';
import type { Ids } from '@reeve/runtime';
import type { Host } from '../host/host.ts';

export interface CachePorts {
  readonly host: Host;
  readonly ids: Ids;
}

const PART = '.part-';

/** Who works in a folder, as far as its name says. */
interface Worker {
  readonly pid: number;
  readonly startTime: string;
  readonly boot: string;
}

export function partName({ pid, startTime, boot }: Worker, id: string): string {
  return `${PART}${pid}-${startTime}-${boot}-${id}`;
}

export function workerOf(name: string): Worker | undefined {
  const match = /^\.part-(\d+)-(\d+)-([0-9a-f]+)-/.exec(name);
  return match ? { pid: Number(match[1]), startTime: match[2] ?? '', boot: match[3] ?? '' } : undefined;
}

export class ImageCache {
  readonly folder: string;
  readonly #ports: CachePorts;

  constructor(ports: CachePorts, folder: string) {
    this.#ports = ports;
    this.folder = folder;
  }

  pathOf(name: string, version: string): string {
    return join(this.folder, name, version);
  }

  async has(name: string, version: string): Promise<boolean> {
    return (await this.#ports.host.files.kindOf(this.pathOf(name, version))) === 'folder';
  }

  /**
   * Makes it, unless it is there or somebody else makes something of that name. Nothing is left if it fails.
   * @param make gets an empty folder, and fills it
   */
  async make(name: string, version: string, make: (folder: string) => Promise<void>): Promise<'made' | 'elsewhere'> {
    const { host, ids } = this.#ports;
    const { files } = host;
    if (await this.has(name, version)) return 'made';
    const part = join(this.folder, name, partName(await this.#self(), ids.next('f')));
    await files.makeFolder(join(this.folder, name), 0o755);
    await files.makeFolder(part, 0o755);
    try {
      // One's own name is there before one looks for others': of two at once, none goes on or one does, never both.
      if (await this.#isSomebodyElseHere(name, part)) return 'elsewhere';
      if (await this.has(name, version)) return 'made';
      await make(part);
      await files.remove(join(part, 'tmp'));
      await files.move(part, this.pathOf(name, version));
      return 'made';
    } finally {
      await files.remove(part);
    }
  }

  /** Bytes that are there by now, of whoever is at it. */
  async underWay(name: string): Promise<number> {
    const { files } = this.#ports.host;
    const entries = (await files.list(join(this.folder, name))) ?? [];
    let bytes = 0;
    for (const { name: part } of entries) {
      if (part.startsWith(PART)) bytes += await this.#sizeOf(join(this.folder, name, part));
    }
    return bytes;
  }

  /** Names of the dead are removed on the way. */
  async #isSomebodyElseHere(name: string, own: string): Promise<boolean> {
    const { files } = this.#ports.host;
    let isFound = false;
    for (const { name: entry } of (await files.list(join(this.folder, name))) ?? []) {
      const path = join(this.folder, name, entry);
      if (path === own || !entry.startsWith(PART)) continue;
      if (await this.#isAlive(workerOf(entry))) isFound = true;
      else await files.remove(path);
    }
    return isFound;
  }

  async #isAlive(worker: Worker | undefined): Promise<boolean> {
    if (!worker || worker.boot !== (await this.#boot())) return false;
    const row = this.#ports.host.processes.find(worker.pid);
    return row?.startTime === worker.startTime && !row.isZombie;
  }

  async #self(): Promise<Worker> {
    const { pid, startTime } = this.#ports.host.processes.self();
    return { pid, startTime, boot: await this.#boot() };
  }

  /** Short enough for a file's name. */
  async #boot(): Promise<string> {
    return Buffer.from(await this.#ports.host.processes.bootId())
      .toString('hex')
      .slice(0, 32);
  }

  async #sizeOf(folder: string): Promise<number> {
    const { files } = this.#ports.host;
    let bytes = 0;
    for (const { name, kind } of (await files.list(folder)) ?? []) {
      const path = join(folder, name);
      if (kind === 'folder') bytes += await this.#sizeOf(path);
      else if (kind === 'file') bytes += (await files.stat(path))?.size ?? 0;
    }
    return bytes;
  }
}

/** Where a user keeps what can be fetched again. */
export function imageCacheFolder(environment: Readonly<Record<string, string | undefined>>, home: string): string {
  return join(environment.XDG_CACHE_HOME || join(home, '.cache'), 'reeve', 'images');
}
