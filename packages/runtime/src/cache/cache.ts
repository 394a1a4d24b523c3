/**
 * The objects of one kind as this process knows them: what list and watch told, and over it what this process wrote itself and
 * has not been told yet. Everything is synchronous and in order; nothing is ever copied.
 */
import { asReeveError, ReeveError } from '../errors/errors.ts';
import { type DeepReadonly, keyOf, type Resource, type ResourceEvent } from '../resource/resource.ts';
import { compareVersions, hasReached, isNewer, newest } from '../resource/version.ts';
import { ByteAccount } from './bytes.ts';
import { type IndexFunction, Indexes } from './indexes.ts';
import { Overlay, type OwnWrite } from './overlay.ts';
import { type CacheScope, demandScope } from './scope.ts';

export interface CacheOptions<T extends Resource, P> {
  readonly scope: CacheScope;
  /**
   * What is kept of an object, called once as it comes in. Default: the object without `managedFields`, which are a third of it
   * and of no use to a controller. A small flat projection takes a twentieth of the memory. If it throws, what was known of the
   * object stays as it was (unknown is not absent), and an object that was not known is not there.
   */
  project?(object: T): P;
  /** One that throws for an object does not have it; the cache and the other indexes do. */
  readonly indexes?: Readonly<Record<string, IndexFunction<DeepReadonly<P>>>>;
  /** For logs: `project` or an index threw for this state of an object. The others are not concerned. */
  failed?(failure: CacheFailure): void;
}

export interface CacheFailure {
  readonly key: string;
  /** `project`, or `index NAME`. */
  readonly what: string;
  readonly error: unknown;
}

interface Entry<P> {
  readonly key: string;
  readonly uid: string;
  readonly version: string;
  readonly value: DeepReadonly<P>;
}

/** A tombstone hides the incarnation that was deleted and those before it, not a successor. */
function isSuccessor(entry: Entry<unknown>, own: OwnWrite<unknown>): boolean {
  return own.value === undefined && entry.uid !== own.uid && !isNewer(own.version, entry.version);
}

/** A list that is being read, page by page or as a stream. Nothing of it shows before `commit`. */
export interface Replacement<T, P> {
  add(object: T): void;
  /** An object that was added is gone before the list is complete. */
  remove(object: T): void;
  /** Makes the cache what was added and tells what that changed. The list was true at `version`. */
  commit(version: string): readonly ResourceEvent<P>[];
}

export class ResourceCache<T extends Resource, P = T> {
  readonly scope: CacheScope;
  readonly #project: (object: T) => DeepReadonly<P>;
  readonly #entries = new Map<string, Entry<P>>();
  readonly #indexes: Indexes<DeepReadonly<P>>;
  readonly #overlay = new Overlay<DeepReadonly<P>>();
  readonly #bytes = new ByteAccount();
  /** What the indexes were told of each key. */
  readonly #indexed = new Map<string, DeepReadonly<P>>();
  readonly #failed: (failure: CacheFailure) => void;
  /** Keys whose newest state is not here, and keys that an index does not have; with the reason. */
  readonly #unprojected = new Map<string, string>();
  readonly #unindexed = new Map<string, string>();
  #version: string | undefined;

  constructor(options: CacheOptions<T, P>) {
    demandScope(options.scope);
    this.scope = options.scope;
    const project =
      options.project?.bind(options) ?? (withoutManagedFields as (object: T) => unknown as (object: T) => P);
    this.#project = (object) => project(object) as DeepReadonly<P>;
    this.#failed = options.failed?.bind(options) ?? (() => undefined);
    this.#indexes = new Indexes(options.indexes ?? {}, (key, index, error) => {
      this.#unindexed.set(key, this.#tell(key, `index ${index}`, error));
    });
  }

  /** How far list and watch have come; undefined before the first list is complete. */
  get version(): string | undefined {
    return this.#version;
  }

  get isSynced(): boolean {
    return this.#version !== undefined;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** About how much memory the objects take. */
  get bytes(): number {
    return this.#bytes.of(this.#entries.size + this.#overlay.size);
  }

  /** The keys for which `project` or an index threw, with the reason, until a later state is taken in without. */
  get defects(): ReadonlyMap<string, string> {
    return new Map([...this.#unindexed, ...this.#unprojected]);
  }

  get(key: string): DeepReadonly<P> | undefined {
    const own = this.#overlay.of(key);
    if (!own) return this.#entries.get(key)?.value;
    const entry = this.#entries.get(key);
    return entry && isSuccessor(entry, own) ? entry.value : own.value;
  }

  /** The uid that `get` speaks of. */
  uidOf(key: string): string | undefined {
    const own = this.#overlay.of(key);
    const entry = this.#entries.get(key);
    if (!own || (entry && isSuccessor(entry, own))) return entry?.uid;
    return own.value === undefined ? undefined : own.uid;
  }

  *keys(): Generator<string> {
    for (const key of this.#entries.keys()) if (this.get(key) !== undefined) yield key;
    for (const key of this.#overlay.keys()) if (!this.#entries.has(key) && this.get(key) !== undefined) yield key;
  }

  *values(): Generator<DeepReadonly<P>> {
    for (const key of this.keys()) yield this.get(key) as DeepReadonly<P>;
  }

  /** The objects of which the index function named this term. */
  byIndex(index: string, term: string): readonly DeepReadonly<P>[] {
    if (!this.#indexes.has(index)) {
      throw new ReeveError('CACHE_INDEX_UNKNOWN', `the cache of ${this.scope.kind} has no index ${index}`);
    }
    const found: DeepReadonly<P>[] = [];
    for (const key of this.#indexes.keysOf(index, term)) {
      const value = this.get(key);
      if (value !== undefined) found.push(value);
    }
    return found;
  }

  hasIndex(index: string): boolean {
    return this.#indexes.has(index);
  }

  /** One more index, for those who come to share the cache later. Two functions under one name are an error. */
  addIndex(index: string, termsOf: IndexFunction<DeepReadonly<P>>): void {
    const known = this.#indexes.functionOf(index);
    if (known === termsOf) return;
    if (known)
      throw new ReeveError('CACHE_INDEX_TWICE', `the cache of ${this.scope.kind} has an index ${index} already`);
    // The first index is the first who wants to know what it was told of each key.
    if (this.#indexes.isEmpty) for (const key of this.keys()) this.#indexed.set(key, this.get(key) as DeepReadonly<P>);
    this.#indexes.add(index, termsOf, this.#indexed);
  }

  /** The watch told an object's new state. Empty if that is old news. */
  apply(object: T): readonly ResourceEvent<P>[] {
    const key = keyOf(object);
    const { uid = '', resourceVersion: version = '' } = object.metadata;
    const before = this.#entries.get(key);
    if (before?.uid === uid && (compareVersions(version, before.version) ?? 1) <= 0) return [];
    if (before && before.uid !== uid && isNewer(before.version, version)) return [];
    const entry = this.#entryOf(key, object);
    if (!entry) return this.#applyUnprojected(key, uid, version);
    const own = this.#overlay.seen(entry.uid, entry.version, false);
    this.#put(entry);
    this.#advance(entry.version);
    if (!before) return [event('added', entry, { own, listed: false })];
    if (before.uid === entry.uid)
      return [{ ...event('changed', entry, { own, listed: false }), previous: before.value }];
    // Deleted and created again in a moment: two different objects, whatever the name says.
    return [
      { ...event('removed', before, { own: false, listed: false }), final: false },
      event('added', entry, { own, listed: false }),
    ];
  }

  /** There is a newer state, and it cannot be kept: the one before stays, unless it is of another object. */
  #applyUnprojected(key: string, uid: string, version: string): readonly ResourceEvent<P>[] {
    const before = this.#entries.get(key);
    const isReplaced = before !== undefined && before.uid !== uid;
    if (isReplaced) this.#delete(before);
    this.#advance(version);
    return isReplaced ? [{ ...event('removed', before, { own: false, listed: false }), final: false }] : [];
  }

  /** The watch told that an object is gone (or no longer matches the selector). Empty if it was not there. */
  remove(object: T): readonly ResourceEvent<P>[] {
    const key = keyOf(object);
    const uid = object.metadata.uid ?? '';
    const version = object.metadata.resourceVersion;
    const before = this.#entries.get(key);
    const own = this.#overlay.seen(uid, version, true);
    if (version !== undefined) this.#advance(version);
    if (!before || before.uid === uid) this.#unprojected.delete(key);
    if (before?.uid !== uid) {
      this.#reindex(key);
      return [];
    }
    this.#delete(before);
    return [{ ...event('removed', before, { own, listed: false }), final: true }];
  }

  /** A bookmark: nothing happened up to `version`. */
  bookmark(version: string): void {
    this.#advance(version);
  }

  /** Begins to take in a list; nothing is seen of it until it is complete. */
  replacement(): Replacement<T, P> {
    const staged = new Map<string, Entry<P>>();
    const unprojected = new Set<string>();
    return {
      add: (object) => {
        const key = keyOf(object);
        const entry = this.#entryOf(key, object);
        const known = this.#entries.get(key);
        if (entry) {
          // A list after a gap finds most objects as they were: the old value stays, and with it what others hold of it.
          staged.set(key, known && isSame(known, entry) ? known : entry);
        } else {
          unprojected.add(key);
          if (known && known.uid === object.metadata.uid) staged.set(key, known);
        }
      },
      remove: (object) => {
        const key = keyOf(object);
        unprojected.delete(key);
        if (staged.get(key)?.uid === object.metadata.uid) staged.delete(key); // not a successor of its name
      },
      commit: (version) => {
        for (const key of this.#unprojected.keys()) if (!unprojected.has(key)) this.#unprojected.delete(key);
        return this.#commit(staged, version);
      },
    };
  }

  /** For lists that are in one piece. */
  replace(objects: Iterable<T>, version: string): readonly ResourceEvent<P>[] {
    const list = this.replacement();
    for (const object of objects) list.add(object);
    return list.commit(version);
  }

  /**
   * This process wrote an object and the server answered with this state: it is read from here until the watch has caught up.
   * A late answer changes nothing: what the watch told already is at least as new.
   */
  wrote(object: T): void {
    const key = keyOf(object);
    const { uid, resourceVersion: version } = object.metadata;
    if (uid === undefined || version === undefined || this.caughtUp(key, version)) return;
    const own = this.#entryOf(key, object);
    if (own && this.#overlay.put({ key, uid, version, value: own.value })) this.#reindex(key);
  }

  /** This process deleted an object, and the server said that it is gone. `version`: of the deletion, if it told. */
  deleted(key: string, uid: string, version?: string): void {
    const entry = this.#entries.get(key);
    if (version !== undefined && this.caughtUp(key, version)) return;
    // Not there: the watch told already. Without a version there would be nothing that ever took the tombstone away.
    if (entry?.uid !== uid && this.#overlay.of(key)?.uid !== uid) return;
    if (this.#overlay.put({ key, uid, version, value: undefined })) this.#reindex(key);
  }

  /** The gate of a key: true if this cache has seen `version`, so that a worker does not decide on a state before its own write. */
  caughtUp(key: string, version: string): boolean {
    if (this.#version !== undefined && hasReached(this.#version, version)) return true;
    const entry = this.#entries.get(key);
    return entry !== undefined && hasReached(entry.version, version);
  }

  #commit(staged: ReadonlyMap<string, Entry<P>>, version: string): readonly ResourceEvent<P>[] {
    const wentBack = this.#version !== undefined && isNewer(this.#version, version);
    // Only a restored etcd goes back, and whoever accepted this list knew: own writes of that other time never come.
    const settled = this.#overlay.listed(wentBack ? undefined : version);
    const events: ResourceEvent<P>[] = [];
    for (const before of [...this.#entries.values()]) {
      if (staged.get(before.key)?.uid === before.uid) continue;
      this.#delete(before);
      events.push({ ...event('removed', before, { own: false, listed: true }), final: false });
    }
    for (const entry of staged.values()) {
      const before = this.#entries.get(entry.key);
      if (before === entry) continue;
      this.#put(entry);
      if (before) events.push({ ...event('changed', entry, { own: false, listed: true }), previous: before.value });
      else events.push(event('added', entry, { own: false, listed: true }));
    }
    this.#version = version;
    for (const { key } of settled) this.#reindex(key);
    return events;
  }

  #advance(version: string): void {
    // Before the first list is complete nothing is known up to any version.
    if (this.#version === undefined) return;
    this.#version = newest(this.#version, version);
    for (const { key } of this.#overlay.reached(this.#version)) this.#reindex(key);
  }

  /** Undefined if it cannot be projected, which is told. */
  #entryOf(key: string, object: T): Entry<P> | undefined {
    const { uid = '', resourceVersion: version = '' } = object.metadata;
    try {
      const value = this.#project(object);
      this.#bytes.sample(value);
      this.#unprojected.delete(key);
      return { key, uid, version, value };
    } catch (error) {
      this.#unprojected.set(key, this.#tell(key, 'project', error));
      return undefined;
    }
  }

  #tell(key: string, what: string, error: unknown): string {
    this.#failed({ key, what, error });
    return `${what}: ${asReeveError(error).message}`;
  }

  /** The indexes follow what `get` says; called whenever that may have changed. */
  #reindex(key: string): void {
    if (this.#indexes.isEmpty) return;
    const before = this.#indexed.get(key);
    const after = this.get(key);
    if (before === after) return;
    this.#unindexed.delete(key); // known anew from what follows
    this.#indexes.update(key, before, after);
    if (after === undefined) this.#indexed.delete(key);
    else this.#indexed.set(key, after);
  }

  #put(entry: Entry<P>): void {
    this.#entries.set(entry.key, entry);
    this.#reindex(entry.key);
  }

  #delete(entry: Entry<P>): void {
    this.#entries.delete(entry.key);
    this.#reindex(entry.key);
  }
}

function isSame(a: { uid: string; version: string }, b: { uid: string; version: string }): boolean {
  return a.uid === b.uid && a.version === b.version && a.version !== '';
}

function event<P>(
  change: ResourceEvent<P>['change'],
  entry: Entry<P>,
  how: { readonly own: boolean; readonly listed: boolean },
): ResourceEvent<P> {
  return { change, key: entry.key, uid: entry.uid, object: entry.value, ...how };
}

/** Assigning undefined, not deleting: a deleted field turns the object into a slow and larger one. */
function withoutManagedFields(object: Resource): Resource {
  const metadata = object.metadata as { managedFields?: unknown };
  if (metadata.managedFields !== undefined) metadata.managedFields = undefined;
  return object;
}
