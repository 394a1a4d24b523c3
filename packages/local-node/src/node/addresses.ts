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

export function addressOf(index: number): string {
  const number = FIRST + (((index % COUNT) + COUNT) % COUNT);
  return `127.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
}

export class AddressPool {
  readonly #files: HostFiles;
  readonly #folder: string;
  readonly #random: Random;
  #turn: Promise<unknown> = Promise.resolve();

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
    const path = join(this.#folder, 'next');
    const kept = await this.#files.read(path);
    // Where to begin is left to chance: another user of this machine may have pods of his own.
    let next = kept === undefined ? Math.floor(this.#random.next() * COUNT) : Number(kept);
    for (let tries = 0; tries < MOST_TRIES; tries++, next++) {
      const address = addressOf(next);
      if (address.endsWith('.0') || address.endsWith('.255')) continue;
      if (!(await this.#files.claim(join(this.#folder, address)))) continue;
      await this.#files.write(path, String((next + 1) % COUNT));
      return address;
    }
    throw new ReeveError('NODE_ADDRESSES', `${MOST_TRIES} addresses in a row are in use`, { subjects: [this.#folder] });
  }
}
