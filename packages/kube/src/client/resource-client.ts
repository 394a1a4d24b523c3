/** What can be done with the objects of one resource, in one namespace or in all. */
import { KubeError } from '../errors/errors.ts';
import { parseJson } from '../json/parse.ts';
import { stringifyJson } from '../json/stringify.ts';
import { lazyAnswer, lazyList } from '../object/lazy.ts';
import type { KubeList, KubeObject, Stored } from '../object/object.ts';
import { apiVersionOf, type Resource, resourcePath } from '../object/resource.ts';
import type { Status } from '../object/status.ts';
import type { WatchEvent } from '../object/watch-event.ts';
import type { TransportRequest } from '../transport/transport.ts';
import { type Caller, titleOf } from './caller.ts';
import { LineCutter } from './lines.ts';
import {
  type AnswerOptions,
  type ApplyOptions,
  type CallOptions,
  type DeleteOptions,
  type GetOptions,
  type ListOptions,
  type ReadOptions,
  type Selection,
  selectionQuery,
  type WatchOptions,
  type WriteOptions,
  withQuery,
} from './options.ts';
import { dropManagedFields, isObject, readEvents } from './watch.ts';

export type Patch =
  | { readonly type: 'merge' | 'strategic'; readonly value: object }
  | { readonly type: 'json'; readonly value: readonly JsonPatchStep[] };

export type JsonPatchStep =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

const PATCH_TYPES = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
} as const;
const APPLY_TYPE = 'application/apply-patch+yaml';
const PAGE = 500;

/** The resource `scale` that several kinds have. */
export interface Scale extends KubeObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas: number; readonly selector?: string };
}

export interface WholeList<T extends KubeObject> {
  readonly items: readonly Stored<T>[];
  /** From where to watch on. */
  readonly resourceVersion: string;
}

export class ResourceClient<T extends KubeObject> {
  readonly resource: Resource<T>;
  /** Undefined: all namespaces, or a resource that has none. */
  readonly namespace: string | undefined;
  readonly #caller: Caller;
  readonly #fieldManager: string;

  constructor(resource: Resource<T>, namespace: string | undefined, caller: Caller, fieldManager: string) {
    this.resource = resource;
    this.namespace = namespace;
    this.#caller = caller;
    this.#fieldManager = fieldManager;
  }

  get(name: string, options: GetOptions = {}): Promise<Stored<T>> {
    const { resourceVersion, subresource } = options;
    const path = withQuery(this.#path(name, subresource), { resourceVersion });
    return this.#object({ method: 'GET', path }, options);
  }

  /** The object, or undefined when there is none. Every other failure stays one: unknown is not absent. */
  async find(name: string, options: GetOptions = {}): Promise<Stored<T> | undefined> {
    try {
      return await this.get(name, options);
    } catch (error) {
      if (error instanceof KubeError && error.code === 'KUBE_NOT_FOUND') return undefined;
      throw error;
    }
  }

  /** One page, or everything when no limit is given. Large kinds are better read with `pages`. */
  async list(options: ListOptions = {}): Promise<KubeList<Stored<T>>> {
    const { limit, continue: from, resourceVersion, resourceVersionMatch, signal } = options;
    const request = this.#request('GET', {
      ...selectionQuery(options),
      limit,
      continue: from,
      // A page knows its version; the server refuses another one.
      ...(from === undefined ? { resourceVersion, resourceVersionMatch } : {}),
    });
    const bytes = await this.#caller.answer(withSignal(request, signal));
    const read = options.lazy ? lazyList(bytes, options.dropManagedFields === true) : undefined;
    const answered = (read ?? parseJson(bytes.toString('utf8'))) as unknown as KubeList<Stored<T>>;
    // A list of metadata with nothing in it: the server writes no list at all.
    const list = answered.items === null ? { ...answered, items: [] } : answered;
    if (!Array.isArray(list.items)) {
      throw new KubeError('KUBE_JSON', `${titleOf(request)}: no list`, { subjects: [titleOf(request)] });
    }
    this.#complete(list.items, options);
    return list;
  }

  /** Page after page, all of one version. KUBE_GONE in the middle means: too slow, begin again. */
  async *pages(options: ListOptions = {}): AsyncGenerator<KubeList<Stored<T>>, void, undefined> {
    let from = options.continue;
    do {
      const page = await this.list({ limit: PAGE, ...options, ...(from === undefined ? {} : { continue: from }) });
      yield page;
      from = page.metadata.continue;
    } while (from !== undefined && from !== '');
  }

  /** Everything, read in pages; when their version expires meanwhile, in one piece as client-go does. */
  async listAll(options: Omit<ListOptions, 'continue'> = {}): Promise<WholeList<T>> {
    const items: Stored<T>[] = [];
    let resourceVersion = '';
    let pages = 0;
    try {
      for await (const page of this.pages(options)) {
        // Not spread into one call: a large page would not fit on the stack.
        for (const item of page.items) items.push(item);
        resourceVersion = page.metadata.resourceVersion ?? '';
        pages++;
      }
      return { items, resourceVersion };
    } catch (error) {
      // On the first page it is the caller's own version that expired, which is his to know.
      if (pages === 0 || !(error instanceof KubeError) || error.code !== 'KUBE_GONE') throw error;
    }
    const { limit: _limit, resourceVersion: _version, resourceVersionMatch: _match, ...rest } = options;
    const whole = await this.list(rest);
    return { items: whole.items, resourceVersion: whole.metadata.resourceVersion ?? '' };
  }

  /** Events one by one. Ends when the server ends it in good order; throws KUBE_GONE when the version is too old. */
  async *watch(options: WatchOptions = {}): AsyncGenerator<WatchEvent<T>, void, undefined> {
    for await (const batch of this.watchBatches(options)) yield* batch;
  }

  /** The same, with all events together that arrived together: a cache takes them in one turn. */
  async *watchBatches(options: WatchOptions = {}): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
    const { resourceVersion, bookmarks = true, sendInitialEvents, timeoutSeconds, signal } = options;
    const request = this.#request('GET', {
      watch: true,
      ...selectionQuery(options),
      resourceVersion,
      allowWatchBookmarks: bookmarks || sendInitialEvents === true,
      timeoutSeconds,
      // The server takes one only together with the other.
      ...(sendInitialEvents ? { sendInitialEvents, resourceVersionMatch: 'NotOlderThan' } : {}),
    });
    const what = titleOf(request);
    using stream = await this.#caller.stream({ ...withSignal(request, signal), borrows: true });
    const cutter = new LineCutter(this.#caller.maxBytes);
    const common = new Map<string, string>();
    const read = (lines: readonly Buffer[]) => readEvents<T>(lines, what, options, common);
    for await (const chunk of stream.chunks) {
      const { events, failure } = read(cutter.push(chunk));
      if (events.length > 0) yield events;
      if (failure) throw failure.error;
    }
    const { events, failure } = read(cutter.end());
    if (events.length > 0) yield events;
    if (failure) throw failure.error;
  }

  create(object: T, options: WriteOptions = {}): Promise<Stored<T>> {
    return this.#write('POST', this.#path(), object, options);
  }

  /** Replaces the object. The version is required: a blind update undoes what others did. */
  update(
    object: T & { readonly metadata: { readonly name: string; readonly resourceVersion: string } },
    options: WriteOptions = {},
  ): Promise<Stored<T>> {
    return this.#write('PUT', this.#path(object.metadata.name, options.subresource), object, options);
  }

  patch(name: string, patch: Patch, options: WriteOptions = {}): Promise<Stored<T>> {
    const path = withQuery(this.#path(name, options.subresource), this.#writeQuery(options));
    const body = stringifyJson(patch.value);
    return this.#object({ method: 'PATCH', path, body }, options, PATCH_TYPES[patch.type]);
  }

  /** Server-side apply: exactly these fields are ours from now on. The normal way to write. */
  apply(object: T & { readonly metadata: { readonly name: string } }, options: ApplyOptions = {}): Promise<Stored<T>> {
    const { force, subresource } = options;
    const path = withQuery(this.#path(object.metadata.name, subresource), { ...this.#writeQuery(options), force });
    return this.#object({ method: 'PATCH', path, body: this.#body(object) }, options, APPLY_TYPE);
  }

  async scale(name: string, options: CallOptions = {}): Promise<Scale> {
    const path = this.#path(name, 'scale');
    return (await this.#caller.call(this.#with({ method: 'GET', path }, options.signal))) as unknown as Scale;
  }

  /** Only the number changes, whoever else writes the object. */
  async setScale(name: string, replicas: number, options: WriteOptions = {}): Promise<Scale> {
    const path = withQuery(this.#path(name, 'scale'), this.#writeQuery(options));
    const body = stringifyJson({ spec: { replicas } });
    const request = this.#with({ method: 'PATCH', path, body }, options.signal, PATCH_TYPES.merge);
    return (await this.#caller.call(request)) as unknown as Scale;
  }

  /**
   * Asks for something by a subresource that is an action: `token` of a service account, `eviction` of a pod. What is sent and
   * what comes back are of kinds of their own.
   */
  async post<R extends object = object>(
    name: string,
    subresource: string,
    body: object,
    options: Omit<WriteOptions, 'subresource'> = {},
  ): Promise<R> {
    const path = withQuery(this.#path(name, subresource), this.#writeQuery(options));
    const request = this.#with({ method: 'POST', path, body: stringifyJson(body) }, options.signal);
    return (await this.#caller.call(request)) as unknown as R;
  }

  /** A Status when the object is gone, the object when it stays for now: finalizers, a grace period, dependents. */
  async delete(name: string, options: DeleteOptions = {}): Promise<Stored<T> | Status> {
    const request = this.#with(
      { method: 'DELETE', path: this.#path(name), body: stringifyJson(deleteBody(options)) },
      options.signal,
    );
    return (await this.#caller.call(request)) as unknown as Stored<T> | Status;
  }

  async deleteCollection(options: DeleteOptions & Selection = {}): Promise<void> {
    const path = withQuery(this.#path(), selectionQuery(options));
    const body = stringifyJson(deleteBody(options));
    await this.#caller.call(this.#with({ method: 'DELETE', path, body }, options.signal));
  }

  #write(method: 'POST' | 'PUT', path: string, object: T, options: WriteOptions): Promise<Stored<T>> {
    return this.#object(
      { method, path: withQuery(path, this.#writeQuery(options)), body: this.#body(object) },
      options,
    );
  }

  /** Kind and version are known here, so that callers need not repeat them; managed fields are the server's. */
  #body(object: T): string {
    const { managedFields: _theirs, ...metadata } = object.metadata;
    return stringifyJson({ ...object, apiVersion: apiVersionOf(this.resource), kind: this.resource.kind, metadata });
  }

  #writeQuery({ fieldManager, dryRun, fieldValidation }: WriteOptions) {
    return {
      fieldManager: fieldManager ?? this.#fieldManager,
      fieldValidation: fieldValidation ?? 'Strict',
      ...(dryRun ? { dryRun: 'All' } : {}),
    };
  }

  async #object(request: TransportRequest, options: AnswerOptions, type?: string): Promise<Stored<T>> {
    const { lazy, dropManagedFields: drop = false, signal } = options;
    const bytes = await this.#caller.answer(this.#with(request, signal, type));
    const value: unknown = (lazy && lazyAnswer(bytes, drop)) || parseJson(bytes.toString('utf8'));
    if (isObject(value)) {
      if (drop) dropManagedFields(value);
      return value as Stored<T>;
    }
    throw new KubeError('KUBE_JSON', `${titleOf(request)}: no object`, { subjects: [titleOf(request)] });
  }

  #request(method: 'GET', query: Parameters<typeof withQuery>[1]): TransportRequest {
    return this.#with({ method, path: withQuery(this.#path(), query) });
  }

  #with(request: TransportRequest, signal?: AbortSignal, type = 'application/json'): TransportRequest {
    const headers = {
      accept: this.#accept(request),
      ...(request.body === undefined ? {} : { 'content-type': type }),
    };
    return withSignal({ ...request, headers }, signal);
  }

  #accept({ path, method }: TransportRequest): string {
    if (!this.resource.metadataOnly || method !== 'GET') return 'application/json';
    const isList = path.split('?', 1)[0] === this.#path() && !path.includes('watch=true');
    return `application/json;as=PartialObjectMetadata${isList ? 'List' : ''};g=meta.k8s.io;v=v1`;
  }

  #path(name?: string, subresource?: string): string {
    if (name !== undefined && this.resource.namespaced && this.namespace === undefined) {
      throw new RangeError(`${this.resource.plural} live in namespaces: say in which one '${name}' is`);
    }
    return resourcePath(this.resource, this.namespace, name, subresource);
  }

  /** Servers leave kind and version out of the items of a list; with them a copy from a list equals one from a watch. */
  #complete(items: readonly KubeObject[], { dropManagedFields: drop }: ReadOptions): void {
    const { kind, metadataOnly } = this.resource;
    const apiVersion = apiVersionOf(this.resource);
    for (const item of items as { apiVersion?: string; kind?: string; metadata: KubeObject['metadata'] }[]) {
      if (!metadataOnly) {
        item.apiVersion ??= apiVersion;
        item.kind ??= kind;
      }
      if (drop) dropManagedFields(item);
    }
  }
}

function withSignal(request: TransportRequest, signal: AbortSignal | undefined): TransportRequest {
  return signal === undefined ? request : { ...request, signal };
}

/** In the body, as kubectl sends them: several of them do not exist as query parameters. */
function deleteBody({ uid, resourceVersion, propagationPolicy, gracePeriodSeconds, dryRun }: DeleteOptions): object {
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy,
    gracePeriodSeconds,
    ...(dryRun ? { dryRun: ['All'] } : {}),
    ...(uid === undefined && resourceVersion === undefined ? {} : { preconditions: { uid, resourceVersion } }),
  };
}
