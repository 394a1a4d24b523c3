/** Keys that left a server's memory without a line in its append-only file: a restart brings them back. */
import type { Entry, Keyspace } from './keyspace.ts';

export class Unlogged {
  /** By database. */
  readonly #entries: Map<string, Entry>[] = [];

  /** Takes all keys (or those of a slot) out of the memory; the file keeps them. */
  drop(databases: readonly Keyspace[], slot?: number): void {
    for (const [database, keys] of databases.entries()) {
      const kept = (this.#entries[database] ??= new Map());
      for (const each of slot === undefined ? keys.slots() : [slot]) {
        for (const key of keys.keysInSlot(each)) {
          const entry = keys.get(key, Number.NEGATIVE_INFINITY);
          if (entry) kept.set(key, entry);
          keys.delete(key);
        }
      }
    }
  }

  /** A line about this key is in the file now. */
  logged(database: number, key: string): void {
    this.#entries[database]?.delete(key);
  }

  /** The file was written anew, from the memory. */
  rewritten(): void {
    this.#entries.length = 0;
  }

  /** The file is read at start. */
  restore(databases: readonly Keyspace[]): void {
    for (const [database, entries] of this.#entries.entries()) {
      for (const [key, entry] of entries ?? []) databases[database]?.set(key, entry);
    }
    this.rewritten();
  }
}
