import { slotOfKey } from './crc16.ts';

/** A stored value; immutable, so that copies of a keyspace share it. Only strings exist in the model. */
export interface Entry {
  readonly value: string;
  /** Absolute time in ms, or undefined. */
  readonly expireAt?: number | undefined;
  /** What MEMORY USAGE answers; a test may declare a small value to be big. */
  readonly bytes: number;
}

const OVERHEAD_BYTES = 56;

export function entryOf(key: string, value: string, expireAt?: number, bytes?: number): Entry {
  return { value, expireAt, bytes: bytes ?? key.length + value.length + OVERHEAD_BYTES };
}

/** The keys of one database, with an index by slot as the servers keep it. */
export class Keyspace {
  readonly #entries = new Map<string, Entry>();
  readonly #bySlot = new Map<number, Set<string>>();
  #bytes = 0;
  /** Entries with a time to live, so that a keyspace without any is never scanned. */
  #volatile = 0;

  get size(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Keys whose time has come are gone for every reader, as on a real server. */
  get(key: string, now: number): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry?.expireAt !== undefined && entry.expireAt <= now) return undefined;
    return entry;
  }

  set(key: string, entry: Entry): void {
    const before = this.#entries.get(key);
    this.#bytes += entry.bytes - (before?.bytes ?? 0);
    this.#volatile += Number(entry.expireAt !== undefined) - Number(before?.expireAt !== undefined);
    this.#entries.set(key, entry);
    if (before) return;
    const slot = slotOfKey(key);
    const keys = this.#bySlot.get(slot);
    if (keys) keys.add(key);
    else this.#bySlot.set(slot, new Set([key]));
  }

  delete(key: string): boolean {
    const entry = this.#entries.get(key);
    if (!entry) return false;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
    if (entry.expireAt !== undefined) this.#volatile--;
    const slot = slotOfKey(key);
    const keys = this.#bySlot.get(slot);
    keys?.delete(key);
    if (keys?.size === 0) this.#bySlot.delete(slot);
    return true;
  }

  countInSlot(slot: number): number {
    return this.#bySlot.get(slot)?.size ?? 0;
  }

  keysInSlot(slot: number, limit = Number.POSITIVE_INFINITY): string[] {
    const found: string[] = [];
    for (const key of this.#bySlot.get(slot) ?? []) {
      if (found.length >= limit) break;
      found.push(key);
    }
    return found;
  }

  bytesInSlot(slot: number): number {
    let bytes = 0;
    for (const key of this.#bySlot.get(slot) ?? []) bytes += this.#entries.get(key)?.bytes ?? 0;
    return bytes;
  }

  slots(): number[] {
    return [...this.#bySlot.keys()].sort((a, b) => a - b);
  }

  keys(): IterableIterator<string> {
    return this.#entries.keys();
  }

  entries(): IterableIterator<[string, Entry]> {
    return this.#entries.entries();
  }

  clear(): void {
    this.#entries.clear();
    this.#bySlot.clear();
    this.#bytes = 0;
    this.#volatile = 0;
  }

  copyFrom(other: Keyspace): void {
    this.clear();
    for (const [key, entry] of other.entries()) this.set(key, entry);
  }

  /** Removes what has expired; answers the keys removed (a primary tells its replicas). */
  expire(now: number): string[] {
    const gone: string[] = [];
    if (this.#volatile === 0) return gone;
    for (const [key, entry] of this.#entries) {
      if (entry.expireAt !== undefined && entry.expireAt <= now) gone.push(key);
    }
    for (const key of gone) this.delete(key);
    return gone;
  }
}
