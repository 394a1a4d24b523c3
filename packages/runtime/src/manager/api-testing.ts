/**
 * An API server for tests, behind the client's transport: the few rules that controllers rest on (versions, generations, status apart,
 * apply as a merge by one manager, finalizers, preconditions, the fence), on top of the kinds of `server-testing.ts` with all that
 * can go wrong there. Not the embedded server: no schemas, no field ownership, no selectors.
 */
import type { AnyObject, JsonPatchStep, Transport, TransportRequest, TransportResponse } from '@reeve/kube';
import type { Thing } from '../cache/cache-testing.ts';
import { canonicalJson } from '../digest/digest.ts';
import { TestServer } from '../reflector/server-testing.ts';

type Body = Record<string, unknown> & { metadata: Record<string, unknown> };

interface Target {
  readonly kind: TestServer;
  readonly path: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
}

export class Refusal extends Error {
  readonly code: number;
  readonly reason: string;

  constructor(code: number, reason: string, message = reason) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
}

export class TestApi {
  /** `GET apps/statefulsets`, `PATCH test.dev/things/a/status` … writes only, in order of arrival. */
  readonly writes: string[] = [];
  /** Asked before anything else; throw a `Refusal` or anything else. */
  admit: ((request: TransportRequest, what: string) => void | Promise<void>) | undefined;
  /** Asked when the write is done and before it is answered: to let the watch be faster. */
  answering: ((what: string) => void | Promise<void>) | undefined;
  readonly #kinds = new Map<string, TestServer>();
  #uids = 0;

  kind(plural: string, group = 'test.dev'): TestServer {
    const id = `${group}/${plural}`;
    const known = this.#kinds.get(id) ?? new TestServer();
    this.#kinds.set(id, known);
    return known;
  }

  /** An object as the server has it. */
  object(plural: string, key: string, group = 'test.dev'): AnyObject | undefined {
    return this.kind(plural, group).objects.get(key) as AnyObject | undefined;
  }

  /** Another user creates, or changes the spec of, an object. */
  put(plural: string, name: string, spec: object, group = 'test.dev'): AnyObject {
    const before = this.kind(plural, group).objects.get(`ns/${name}`) as unknown as Body | undefined;
    const metadata = { ...before?.metadata, name, namespace: 'ns' };
    return this.#store(this.kind(plural, group), { ...before, metadata, spec }) as AnyObject;
  }

  /** Another user asks for an object's deletion. */
  delete(plural: string, name: string, group = 'test.dev'): void {
    this.#delete(this.kind(plural, group), `ns/${name}`);
  }

  readonly transport: Transport = async (request) => {
    request.signal?.throwIfAborted();
    const target = this.#target(request.path);
    const what = `${request.method} ${target.path}`;
    try {
      if (request.method !== 'GET') this.writes.push(what);
      await this.admit?.(request, what);
      if (target.query.get('watch') === 'true') return answer(200, this.#watch(target, request));
      const body = await this.#serve(target, request);
      if (request.method !== 'GET') await this.answering?.(what);
      request.signal?.throwIfAborted();
      return answer(200, body);
    } catch (error) {
      if (error instanceof Refusal) return answer(error.code, statusOf(error.code, error.reason, error.message));
      const status = (error as { status?: { code?: number } }).status;
      if (typeof status?.code === 'number')
        return answer(status.code, { apiVersion: 'v1', message: String(error), ...status });
      throw error;
    }
  };

  #target(full: string): Target {
    const url = new URL(full, 'http://test');
    const parts = url.pathname.split('/').filter((part) => part !== '');
    const group = parts[0] === 'api' ? '' : (parts[1] ?? '');
    const rest = parts.slice(parts[0] === 'api' ? 2 : 3);
    const namespace = rest[0] === 'namespaces' && rest.length > 2 ? rest[1] : undefined;
    const [plural = '', name, subresource] = namespace === undefined ? rest : rest.slice(2);
    const path = [group, plural, name, subresource].filter((part) => part).join('/');
    return { kind: this.kind(plural, group), path, namespace, name, subresource, query: url.searchParams };
  }

  async #serve(target: Target, request: TransportRequest): Promise<object> {
    const { kind, namespace, name, subresource } = target;
    const key = namespace === undefined ? (name ?? '') : `${namespace}/${name}`;
    const body = request.body === undefined ? undefined : (JSON.parse(request.body) as Body);
    if (request.method === 'GET') return name === undefined ? this.#list(target) : this.#get(kind, key);
    if (request.method === 'DELETE') return this.#delete(kind, key, body?.preconditions as Record<string, string>);
    if (request.method === 'POST') {
      const created = { ...body, metadata: { ...body?.metadata, ...(namespace && { namespace }) } } as Body;
      const named =
        namespace === undefined ? String(created.metadata.name) : `${namespace}/${String(created.metadata.name)}`;
      if (kind.objects.has(named)) throw new Refusal(409, 'AlreadyExists');
      return this.#store(kind, created);
    }
    const before = kind.objects.get(key) as unknown as Body | undefined;
    const type = String(request.headers?.['content-type'] ?? '');
    const isApply = type.startsWith('application/apply-patch');
    if (!before && (!isApply || subresource !== undefined)) throw new Refusal(404, 'NotFound');
    const after = request.method === 'PUT' ? (body as Body) : patched(before, body, type, subresource);
    after.metadata = { ...before?.metadata, ...after.metadata, ...(namespace && { namespace }) };
    const wanted = body?.metadata;
    // As the real one does: nobody looks at the uid of a status write.
    const isOther = wanted?.uid !== undefined && before && wanted.uid !== before.metadata.uid;
    if (isOther && subresource !== 'status') throw new Refusal(409, 'Conflict');
    if (wanted?.resourceVersion !== undefined && wanted.resourceVersion !== before?.metadata.resourceVersion) {
      throw new Refusal(409, 'Conflict');
    }
    // A status write changes nothing but the status, any other write everything but it.
    const kept =
      subresource === 'status'
        ? { ...before, status: after.status }
        : { ...after, ...(before && { status: before.status }) };
    if (target.query.get('dryRun') === 'All') return kept;
    return this.#store(kind, kept as Body);
  }

  #get(kind: TestServer, key: string): object {
    const found = kind.objects.get(key);
    if (!found) throw new Refusal(404, 'NotFound');
    return found;
  }

  async #list({ kind, namespace, query }: Target): Promise<object> {
    const limit = query.get('limit');
    const token = query.get('continue');
    const page = await kind.list({
      resourceVersion: query.get('resourceVersion') ?? '',
      ...(limit !== null && { limit: Number(limit) }),
      ...(token !== null && { continue: token }),
    });
    return { metadata: page.metadata, items: [...page.items].filter((one) => isIn(one, namespace)) };
  }

  async *#watch({ kind, namespace, query }: Target, { signal }: TransportRequest): AsyncGenerator<Uint8Array> {
    const told = kind.watch({
      resourceVersion: query.get('resourceVersion') ?? '',
      allowWatchBookmarks: true,
      timeoutSeconds: Number(query.get('timeoutSeconds') ?? 300),
      ...(query.get('sendInitialEvents') === 'true' && { sendInitialEvents: true as const }),
      signal: signal ?? new AbortController().signal,
    });
    for await (const batch of told) {
      const messages = (Array.isArray(batch) ? batch : [batch]) as readonly Extract<typeof batch, { type: string }>[];
      const lines = messages.flatMap((message) => {
        if (message.type !== 'BOOKMARK') return isIn(message.object, namespace) ? [JSON.stringify(message)] : [];
        const annotations = message.initialEventsEnd ? { 'k8s.io/initial-events-end': 'true' } : {};
        const object = { metadata: { resourceVersion: message.resourceVersion, annotations } };
        return [JSON.stringify({ type: 'BOOKMARK', object })];
      });
      if (lines.length > 0) yield Buffer.from(`${lines.join('\n')}\n`);
    }
  }

  #delete(kind: TestServer, key: string, conditions?: Readonly<Record<string, string>>): object {
    const before = this.#get(kind, key) as Body;
    if (conditions?.uid && conditions.uid !== before.metadata.uid) throw new Refusal(409, 'Conflict');
    if (conditions?.resourceVersion && conditions.resourceVersion !== before.metadata.resourceVersion) {
      throw new Refusal(409, 'Conflict');
    }
    if ((before.metadata.finalizers as unknown[] | undefined)?.length) {
      if (before.metadata.deletionTimestamp !== undefined) return before;
      return this.#store(kind, {
        ...before,
        metadata: { ...before.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
      });
    }
    kind.drop(key);
    return statusOf(200, '', '');
  }

  /** What every write ends with: identity, generation, no new version for no change, and the end of a deletion. */
  #store(kind: TestServer, object: Body): object {
    const { name, namespace } = object.metadata as { name: string; namespace?: string };
    const key = namespace === undefined ? name : `${namespace}/${name}`;
    const before = kind.objects.get(key) as unknown as Body | undefined;
    const isNewSpec = !before || canonicalJson(before.spec) !== canonicalJson(object.spec);
    const generation = Number(before?.metadata.generation ?? 0) + (isNewSpec ? 1 : 0);
    const uid = before?.metadata.uid ?? `uid-${++this.#uids}`;
    const resourceVersion = before?.metadata.resourceVersion;
    const stored = { ...object, metadata: { ...object.metadata, uid, generation, resourceVersion } };
    if (before && canonicalJson(before) === canonicalJson(stored)) return before;
    const finalizers = stored.metadata as { deletionTimestamp?: string; finalizers?: readonly string[] };
    if (finalizers.deletionTimestamp !== undefined && !finalizers.finalizers?.length) {
      kind.drop(key);
      return stored;
    }
    return kind.keep(stored as unknown as Thing);
  }
}

function patched(before: Body | undefined, patch: unknown, type: string, subresource: string | undefined): Body {
  if (type.startsWith('application/json-patch')) return jsonPatched(before as Body, patch as readonly JsonPatchStep[]);
  const merged = merge(before ?? {}, patch) as Body;
  // One manager applies the status: what it leaves out is gone.
  if (type.startsWith('application/apply-patch') && subresource === 'status') merged.status = (patch as Body).status;
  return merged;
}

function merge(before: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const isMap = typeof before === 'object' && before !== null && !Array.isArray(before);
  const out: Record<string, unknown> = isMap ? { ...(before as Record<string, unknown>) } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete out[name];
    else out[name] = merge(out[name], value);
  }
  return out;
}

/** Enough for finalizers: maps and lists below metadata. */
function jsonPatched(before: Body, steps: readonly JsonPatchStep[]): Body {
  const after = structuredClone(before);
  for (const step of steps) {
    const path = step.path.split('/').slice(1);
    const last = path.pop() as string;
    let at: unknown = after;
    for (const part of path) at = (at as Record<string, unknown> | undefined)?.[part];
    if (at === undefined) throw new Refusal(422, 'Invalid', `no ${step.path}`);
    const map = at as Record<string, unknown>;
    if (step.op === 'test' && canonicalJson(map[last]) !== canonicalJson(step.value)) throw new Refusal(422, 'Invalid');
    const list = Array.isArray(at) ? (at as unknown[]) : undefined;
    if (step.op === 'remove' && list) list.splice(Number(last), 1);
    else if (step.op === 'remove') delete map[last];
    if (step.op === 'add' && list) list.push(step.value);
    else if (step.op === 'add') map[last] = step.value;
  }
  return after;
}

function isIn(object: Thing, namespace: string | undefined): boolean {
  return namespace === undefined || object.metadata.namespace === namespace;
}

function statusOf(code: number, reason: string, message: string): object {
  return { kind: 'Status', apiVersion: 'v1', status: code < 300 ? 'Success' : 'Failure', code, reason, message };
}

function answer(status: number, body: object | AsyncIterable<Uint8Array>): TransportResponse {
  const isStream = Symbol.asyncIterator in body;
  return { status, headers: {}, body: isStream ? body : Buffer.from(JSON.stringify(body)) };
}
