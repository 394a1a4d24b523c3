/**
 * When files were written, on the clock of this process. The system's clock, by which files are dated, goes on while the machine sleeps,
 * and can be set; ours, by which everything is waited for, does neither. Read as they are, times of files would lie hours ahead: a
 * container that ended a moment ago would wait as long until it runs again.
 */
import type { HostFiles } from '../host/host.ts';

/** Clocks that differ by less are not worth another second in what is told of a run. */
const TOLERATED_MS = 1_000;

export class FileTimes {
  readonly #files: Pick<HostFiles, 'now' | 'stat'>;
  readonly #now: () => number;
  /** By how much files are dated ahead. Kept until it is another one: times must not change with each look. */
  #ahead = 0;

  constructor(files: Pick<HostFiles, 'now' | 'stat'>, now: () => number) {
    this.#files = files;
    this.#now = now;
  }

  /** Undefined if there is no such file. */
  async changedAt(path: string): Promise<number | undefined> {
    const found = await this.#files.stat(path);
    if (!found) return undefined;
    const ahead = this.#files.now() - this.#now();
    if (Math.abs(ahead - this.#ahead) > TOLERATED_MS) this.#ahead = ahead;
    return found.changedAt - this.#ahead;
  }
}
