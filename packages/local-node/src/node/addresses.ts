/**
 * Addresses of pods, out of 127.0.0.0/8: each one is a file that exists while a pod has it, so that nodes, processes and restarts agree.
 * A new one each time, and the ones before come round again only after all others.
 */
import { join } from 'node:path';
import { ReeveError } from '@reeve/runtime';
import type { Random } from '@reeve/runtime';
import type { HostFiles } from '../host/host.ts';

/** From 127.1.0.0 up to 127.255.0.0: the addresses below are the machine's own business. */
const FIRST = 1 << 16;
const COUNT = 254 << 16;
const MOST_TRIES = 1_000;
const AT_ONCE = 64;

export function addressOf(index: number): string {
  const number = FIRST + (((index % COUNT) + COUNT) % COUNT);
  return `127.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
}

export class AddressPool {
  readonly #files: HostFiles;
  readonly #folder: string;
  readonly #random: Random;
  #turn: Promise<unknown> = Promise.resolve();
  /** Numbers that this process may use: from, and up to. */
  #next = 0;
  #end = 0;

  /** `folder` may be shared by all nodes of a machine. */
  constructor(files: HostFiles, random: Random, folder: string) {
    this.#files = files;
    this.#random = random;
    this.#folder = folder;
  }

  claim(): Promise<string> {
    const claimed = this.#turn.then(() => this.#claim());
    this.#turn = claimed.catch(() => undefined);
    return claimed;
  }

  async release(address: string): Promise<void> {
    await this.#files.remove(join(this.#folder, address));
  }

  async #claim(): Promise<string> {
    if (!(await this.#files.stat(this.#folder))) await this.#files.makeFolder(this.#folder);
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const address = addressOf(await this.#number());
      if (address.endsWith('.0') || address.endsWith('.255')) continue;
      if (await this.#files.claim(join(this.#folder, address))) return address;
    }
    throw new ReeveError('NODE_ADDRESSES', `${MOST_TRIES} addresses in a row are in use`, { subjects: [this.#folder] });
  }

  /** Taken from the shared count many at a time: to replace a file is what takes longest in giving out an address. */
  async #number(): Promise<number> {
    if (this.#next >= this.#end) {
      const path = join(this.#folder, 'next');
      const kept = await this.#files.read(path);
      // Where to begin is left to chance: another user of this machine may have pods of his own.
      this.#next = kept === undefined ? Math.floor(this.#random.next() * COUNT) : Number(kept);
      this.#end = this.#next + AT_ONCE;
      await this.#files.write(path, String(this.#end % COUNT));
    }
    return this.#next++;
  }
}
