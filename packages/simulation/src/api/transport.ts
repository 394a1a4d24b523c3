/**
 * The model behind the port of the Kubernetes client: requests go in, answers and streams of events come out. Who carries them, and
 * what may go wrong on the way, is the caller's: a simulation makes each an effect.
 */
import { type ApiKind, ApiModel, type ApiObject, type DeleteWish, type LogEntry, Refusal } from './model.ts';

/** The client's request, as far as it matters here. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

/** One contact with the server. `label` is its kind: verb and plural. */
export interface Contact<T> {
  readonly label: string;
  readonly detail: string;
  apply(): T;
  /** For streams: there is nothing to tell before this holds. */
  when?(): boolean;
}

/** Carries contacts to the server and answers back. */
export type Carrier = <T>(contact: Contact<T>) => Promise<T>;

interface Target {
  readonly kind: ApiKind;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
}

export interface ApiServerOptions {
  /** Asked before each request; what it throws is the answer. */
  admit?(label: string): void;
}

export class ApiServer {
  readonly model: ApiModel;
  readonly #options: ApiServerOptions;
  readonly #streams = new Set<Stream>();

  constructor(model: ApiModel, options: ApiServerOptions = {}) {
    this.model = model;
    this.#options = options;
  }

  get openStreams(): number {
    return this.#streams.size;
  }

  /** Ends all streams in good order. */
  cutStreams(): void {
    for (const stream of this.#streams) stream.isCut = true;
  }

  /** All streams tell the last events once more. */
  replay(count: number): void {
    for (const stream of this.#streams) stream.replay(this.model.last(count, stream.plural));
  }

  /** A transport of which each contact is carried by `carrier`. */
  transport(carrier: Carrier): (request: ApiRequest) => Promise<ApiResponse> {
    return async (request) => {
      request.signal?.throwIfAborted();
      const target = this.#targetOf(request.path);
      if (!target) return refused(new Refusal(404, 'NotFound', 'the server could not find the requested resource'));
      const isWatch = target.query.get('watch') === 'true';
      const label = `${labelOf(request, target, isWatch)} ${target.kind.plural}`;
      const detail = target.name ?? '';
      const carried = carrier({
        label,
        detail,
        apply: () => {
          try {
            this.#options.admit?.(label);
            return isWatch ? this.#open(target) : ok(this.#call(request, target));
          } catch (error) {
            if (error instanceof Refusal) return refused(error);
            throw error;
          }
        },
      });
      const answer = await orAborted(carried, request.signal);
      if (!(answer instanceof Stream)) return answer;
      return { status: 200, headers: {}, body: this.#events(answer, carrier, request.signal) };
    };
  }

  #call({ method, body }: ApiRequest, target: Target): unknown {
    const { kind, namespace, name, subresource, query } = target;
    const key = namespace === undefined ? (name ?? '') : `${namespace}/${name}`;
    const { model } = this;
    if (method === 'GET' && name !== undefined) return model.get(kind.plural, key);
    if (method === 'GET') {
      const items = model.list(kind.plural, namespace).filter((object) => isSelected(object, query));
      return { kind: `${kind.kind}List`, metadata: { resourceVersion: String(model.version) }, items };
    }
    const given = (body === undefined ? {} : JSON.parse(body)) as ApiObject & { readonly preconditions?: DeleteWish };
    if (method === 'POST') {
      const metadata = { ...given.metadata, ...(namespace !== undefined && { namespace }) };
      return model.create(kind.plural, `${namespace === undefined ? '' : `${namespace}/`}${metadata.name}`, {
        ...given,
        metadata,
      });
    }
    if (method === 'PUT') return model.update(kind.plural, key, given, subresource);
    if (method === 'DELETE') {
      const left = model.delete(kind.plural, key, given.preconditions ?? {});
      return left ?? { kind: 'Status', apiVersion: 'v1', status: 'Success' };
    }
    throw new Refusal(405, 'MethodNotAllowed', `${method} is not served`);
  }

  #open({ kind, namespace, query }: Target): Stream {
    const wanted = query.get('resourceVersion') ?? '';
    const isInitial = query.get('sendInitialEvents') === 'true';
    const version = wanted === '' || isInitial ? this.model.version : Number(wanted);
    if (version > this.model.version) throw new Refusal(504, 'Timeout', 'Too large resource version');
    const stream = new Stream(
      this.model,
      kind.plural,
      version,
      (object) => (namespace === undefined || object.metadata.namespace === namespace) && isSelected(object, query),
    );
    if (isInitial) stream.begin(this.model.list(kind.plural));
    this.#streams.add(stream);
    return stream;
  }

  async *#events(stream: Stream, carrier: Carrier, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const lines = await orAborted(
          carrier({
            label: `watch ${stream.plural}`,
            detail: '',
            when: () => stream.hasNews || stream.isCut || signal?.aborted === true,
            apply: () => stream.take(),
          }),
          signal,
        );
        if (lines === undefined) return;
        yield Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      }
    } finally {
      this.#streams.delete(stream);
    }
  }

  #targetOf(path: string): Target | undefined {
    const url = new URL(path, 'http://server');
    const parts = url.pathname.split('/').slice(1).map(decodeURIComponent);
    const [group, version, ...rest] = parts[0] === 'api' ? ['', ...parts.slice(1)] : parts.slice(1);
    const namespace = rest[0] === 'namespaces' && rest.length > 2 ? rest[1] : undefined;
    const [plural, name, subresource] = namespace === undefined ? rest : rest.slice(2);
    const kind = this.model.kinds.find(
      (one) => one.group === group && one.version === version && one.plural === plural,
    );
    return kind && { kind, namespace, name, subresource, query: url.searchParams };
  }
}

/** What one watch has still to tell. */
class Stream {
  readonly plural: string;
  isCut = false;
  readonly #model: ApiModel;
  readonly #wants: (object: ApiObject) => boolean;
  #version: number;
  #pending: object[] = [];

  constructor(model: ApiModel, plural: string, version: number, wants: (object: ApiObject) => boolean) {
    this.#model = model;
    this.plural = plural;
    this.#version = version;
    this.#wants = wants;
  }

  get hasNews(): boolean {
    if (this.#pending.length > 0) return true;
    const news = this.#model.since(this.#version, this.plural);
    return news === undefined || news.some(({ object }) => this.#wants(object));
  }

  begin(objects: readonly ApiObject[]): void {
    for (const object of objects) if (this.#wants(object)) this.#pending.push({ type: 'ADDED', object });
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const metadata = { resourceVersion: String(this.#version), annotations };
    this.#pending.push({ type: 'BOOKMARK', object: { metadata } });
  }

  replay(entries: readonly LogEntry[]): void {
    for (const { type, object, version } of entries) {
      if (version <= this.#version && this.#wants(object)) this.#pending.push({ type, object });
    }
  }

  /** The next lines; undefined: the stream is over. */
  take(): readonly object[] | undefined {
    if (this.isCut) return undefined;
    const lines = this.#pending;
    this.#pending = [];
    const news = this.#model.since(this.#version, this.plural);
    if (news === undefined) return [...lines, { type: 'ERROR', object: gone().status }];
    for (const { type, object, version } of news) {
      this.#version = version;
      if (this.#wants(object)) lines.push({ type, object });
    }
    return lines;
  }
}

function gone(): Refusal {
  return new Refusal(410, 'Expired', 'too old resource version');
}

function isSelected({ metadata }: ApiObject, query: URLSearchParams): boolean {
  const field = /^metadata\.name=(.+)$/.exec(query.get('fieldSelector') ?? '')?.[1];
  return field === undefined || metadata.name === field;
}

function labelOf({ method }: ApiRequest, { name, subresource }: Target, isWatch: boolean): string {
  if (isWatch) return 'open';
  if (method === 'GET') return name === undefined ? 'list' : 'get';
  if (method === 'PUT') return subresource === undefined ? 'update' : `update ${subresource}`;
  return method === 'POST' ? 'create' : method.toLowerCase();
}

function ok(body: unknown): ApiResponse {
  return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(body)) };
}

function refused({ status }: Refusal): ApiResponse {
  const retryAfter = status.code === 429 ? { 'retry-after': '1' } : {};
  return { status: status.code, headers: retryAfter, body: Buffer.from(JSON.stringify(status)) };
}

/** The caller gives up; what it asked for is still on its way. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
