/**
 * Own writes that the watch has not told yet. Keyed by uid: a namesake that was created later is somebody else. An entry goes
 * when the watch has reached its version, for this object or as a whole; reading never needs a copy.
 */
import { hasReached, isComparable, isNewer } from '../resource/version.ts';

export interface OwnWrite<P> {
  readonly key: string;
  readonly uid: string;
  /** Undefined for a deletion whose version the server did not tell. */
  readonly version: string | undefined;
  /** Undefined if the object was deleted: a tombstone. */
  readonly value: P | undefined;
}

/** Of two uids under one name the older one is dead. A deletion may not know when it was. */
function isOfPredecessor(write: OwnWrite<unknown>, known: OwnWrite<unknown>): boolean {
  return known.value === undefined ? isNewer(known.version, write.version) : !isNewer(write.version, known.version);
}

export class Overlay<P> {
  /** In the order of the writes, which is nearly the order of their versions. */
  readonly #byUid = new Map<string, OwnWrite<P>>();
  readonly #byKey = new Map<string, OwnWrite<P>>();

  get size(): number {
    return this.#byUid.size;
  }

  of(key: string): OwnWrite<P> | undefined {
    return this.#byKey.get(key);
  }

  keys(): Iterable<string> {
    return this.#byKey.keys();
  }

  /** False if it is not newer than what is there. Two responses may come in the wrong order. */
  put(write: OwnWrite<P>): boolean {
    if (write.value !== undefined && !isComparable(write.version)) return false;
    const known = this.#byKey.get(write.key);
    const isOlder = known?.uid === write.uid && (known.value === undefined || !isNewer(write.version, known.version));
    if (known && isOlder && write.value !== undefined) return false;
    if (known && known.uid !== write.uid && isOfPredecessor(write, known)) return false;
    if (known) this.#drop(known);
    this.#byUid.set(write.uid, write);
    this.#byKey.set(write.key, write);
    return true;
  }

  /** The watch told that this uid is at `version`, or gone; true if that was exactly our own write. */
  seen(uid: string, version: string | undefined, isGone: boolean): boolean {
    const write = this.#byUid.get(uid);
    if (!write) return false;
    if (isGone) {
      this.#drop(write);
      return write.value === undefined;
    }
    if (write.version === undefined || version === undefined || !hasReached(version, write.version)) return false;
    this.#drop(write);
    return write.value !== undefined && write.version === version;
  }

  /** The watch as a whole has reached `version`: everything up to there has been told. Returns what went. */
  reached(version: string): readonly OwnWrite<P>[] {
    if (this.#byUid.size === 0) return [];
    const gone: OwnWrite<P>[] = [];
    for (const write of this.#byUid.values()) {
      if (write.version === undefined) continue;
      if (!hasReached(version, write.version)) break; // nearly sorted: what is left behind goes with the next one
      gone.push(write);
    }
    for (const write of gone) this.#drop(write);
    return gone;
  }

  /**
   * A list told everything: tombstones without version have done their duty, and so has all that the list has reached.
   * Without a version all goes. Returns what went.
   */
  listed(version: string | undefined): readonly OwnWrite<P>[] {
    const gone = [...this.#byUid.values()].filter(
      (write) => write.version === undefined || version === undefined || hasReached(version, write.version),
    );
    for (const write of gone) this.#drop(write);
    return gone;
  }

  #drop(write: OwnWrite<P>): void {
    this.#byUid.delete(write.uid);
    if (this.#byKey.get(write.key) === write) this.#byKey.delete(write.key);
  }
}
