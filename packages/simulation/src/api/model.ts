/**
 * A small model of an API server: objects with versions, conflicts, finalizers, a status of its own, a log to watch. It refuses as
 * the real one does (404, 409, 410, 422) and keeps no schemas: a kind may bring a function that judges its objects.
 */
export interface ApiKind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** What is wrong with an object: the server answers 422. */
  judge?(object: ApiObject, before: ApiObject | undefined): string | undefined;
}

export interface ApiObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly generation?: number;
    readonly creationTimestamp?: string | null;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** A write that happened. `after` is undefined when the object is gone. */
export interface ApiWrite {
  readonly verb: 'create' | 'update' | 'status' | 'delete';
  readonly plural: string;
  readonly key: string;
  readonly before: ApiObject | undefined;
  readonly after: ApiObject | undefined;
}

export interface LogEntry {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly plural: string;
  readonly object: ApiObject;
}

/** What the server refuses, as a Status. */
export class Refusal extends Error {
  readonly status: { readonly [field: string]: unknown; readonly code: number };

  constructor(code: number, reason: string, message: string) {
    super(message);
    this.status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message };
  }
}

export interface DeleteWish {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export class ApiModel {
  readonly kinds: readonly ApiKind[];
  /** All writes, in order: what checks look at. */
  onWrite: ((write: ApiWrite) => void) | undefined;
  readonly #now: () => number;
  readonly #objects = new Map<string, ApiObject>();
  #version = 100;
  #uids = 0;
  #log: LogEntry[] = [];
  #compacted = 100;
  readonly #listeners = new Set<() => void>();

  constructor(kinds: readonly ApiKind[], now: () => number) {
    this.kinds = kinds;
    this.#now = now;
  }

  get version(): number {
    return this.#version;
  }

  /** What happened after this version, or undefined if that is no longer kept. */
  since(version: number, plural: string): readonly LogEntry[] | undefined {
    if (version < this.#compacted) return undefined;
    return this.#log.filter((entry) => entry.version > version && entry.plural === plural);
  }

  /** The last things that happened to this kind, once more. */
  last(count: number, plural: string): readonly LogEntry[] {
    return this.#log.filter((entry) => entry.plural === plural).slice(-count);
  }

  /** Forgets the history: whoever is behind gets 410. */
  compact(): void {
    this.#compacted = this.#version;
    this.#log = [];
    this.#tell();
  }

  /** Calls back at the next news; what it returns forgets the callback. */
  listen(news: () => void): () => void {
    this.#listeners.add(news);
    return () => this.#listeners.delete(news);
  }

  list(plural: string, namespace?: string): readonly ApiObject[] {
    const within = `${plural} ${namespace === undefined ? '' : `${namespace}/`}`;
    return [...this.#objects].filter(([id]) => id.startsWith(within)).map(([, object]) => object);
  }

  get(plural: string, key: string): ApiObject {
    const object = this.find(plural, key);
    if (!object) throw new Refusal(404, 'NotFound', `${plural} "${key}" not found`);
    return object;
  }

  find(plural: string, key: string): ApiObject | undefined {
    return this.#objects.get(`${plural} ${key}`);
  }

  create(plural: string, key: string, given: ApiObject): ApiObject {
    if (this.find(plural, key)) throw new Refusal(409, 'AlreadyExists', `${plural} "${key}" already exists`);
    const { status: _status, ...rest } = given;
    const { resourceVersion: _version, deletionTimestamp: _deletion, ...metadata } = given.metadata;
    const object: ApiObject = {
      ...rest,
      metadata: {
        ...metadata,
        uid: `uid-${String(++this.#uids).padStart(4, '0')}`,
        generation: 1,
        creationTimestamp: this.#time(),
      },
    };
    this.#demand(plural, object, undefined);
    return this.#store('create', plural, key, undefined, object);
  }

  /** Replaces the object, or its status: never both. */
  update(plural: string, key: string, given: ApiObject, subresource?: string): ApiObject {
    const before = this.get(plural, key);
    const { uid, resourceVersion, finalizers, labels } = given.metadata;
    if (resourceVersion === undefined) throw new Refusal(422, 'Invalid', 'metadata.resourceVersion must be specified');
    if (resourceVersion !== before.metadata.resourceVersion || (uid ?? before.metadata.uid) !== before.metadata.uid) {
      throw new Refusal(409, 'Conflict', `${plural} "${key}": the object has been modified`);
    }
    if (subresource === 'status') {
      const after = { ...before, status: given.status };
      this.#demand(plural, after, before);
      return this.#store('status', plural, key, before, after);
    }
    const { deletionTimestamp, finalizers: old = [] } = before.metadata;
    if (deletionTimestamp !== undefined && finalizers?.some((name) => !old.includes(name))) {
      throw new Refusal(
        422,
        'Invalid',
        'metadata.finalizers: no new finalizers can be added if the object is being deleted',
      );
    }
    const isSameSpec = JSON.stringify(before.spec) === JSON.stringify(given.spec);
    const { finalizers: _finalizers, labels: _labels, generation = 0, ...metadata } = before.metadata;
    const after: ApiObject = {
      ...before,
      spec: given.spec,
      metadata: {
        ...metadata,
        generation: isSameSpec ? generation : generation + 1,
        ...(labels && { labels }),
        ...(finalizers?.length && { finalizers }),
      },
    };
    this.#demand(plural, after, before);
    if (deletionTimestamp !== undefined && !finalizers?.length) return this.#remove(plural, key, after);
    return this.#store('update', plural, key, before, after);
  }

  /** The object if it stays for now, because of its finalizers. */
  delete(plural: string, key: string, wish: DeleteWish = {}): ApiObject | undefined {
    const before = this.get(plural, key);
    const { uid, resourceVersion, finalizers, deletionTimestamp, generation = 0 } = before.metadata;
    if ((wish.uid ?? uid) !== uid || (wish.resourceVersion ?? resourceVersion) !== resourceVersion) {
      throw new Refusal(409, 'Conflict', `${plural} "${key}": the precondition does not hold`);
    }
    if (!finalizers?.length) {
      this.#remove(plural, key, before);
      return undefined;
    }
    if (deletionTimestamp !== undefined) return before;
    const metadata = { ...before.metadata, generation: generation + 1, deletionTimestamp: this.#time() };
    return this.#store('delete', plural, key, before, { ...before, metadata });
  }

  #demand(plural: string, object: ApiObject, before: ApiObject | undefined): void {
    const problem = this.kinds.find((kind) => kind.plural === plural)?.judge?.(object, before);
    if (problem !== undefined)
      throw new Refusal(422, 'Invalid', `${plural} "${object.metadata.name}" is invalid: ${problem}`);
  }

  #store(
    verb: ApiWrite['verb'],
    plural: string,
    key: string,
    before: ApiObject | undefined,
    given: ApiObject,
  ): ApiObject {
    if (before && JSON.stringify(before) === JSON.stringify(given)) return before; // as the real one: nothing changed
    const version = ++this.#version;
    const after = { ...given, metadata: { ...given.metadata, resourceVersion: String(version) } };
    this.#objects.set(`${plural} ${key}`, after);
    this.#log.push({ version, type: before ? 'MODIFIED' : 'ADDED', plural, object: after });
    this.onWrite?.({ verb, plural, key, before, after });
    this.#tell();
    return after;
  }

  #remove(plural: string, key: string, last: ApiObject): ApiObject {
    const version = ++this.#version;
    const gone = { ...last, metadata: { ...last.metadata, resourceVersion: String(version) } };
    this.#objects.delete(`${plural} ${key}`);
    this.#log.push({ version, type: 'DELETED', plural, object: gone });
    this.onWrite?.({ verb: 'delete', plural, key, before: last, after: undefined });
    this.#tell();
    return gone;
  }

  /** In whole seconds, as the real one: objects of one second are told apart by uid. */
  #time(): string {
    return new Date(Math.floor(this.#now() / 1_000) * 1_000).toISOString().replace('.000Z', 'Z');
  }

  #tell(): void {
    for (const news of [...this.#listeners]) news();
  }
}
