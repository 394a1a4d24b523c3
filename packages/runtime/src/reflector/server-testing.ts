/** An API server for one kind, as a reflector meets it: versions, a log that is compacted, and everything that goes wrong. */
import { type Thing, thing } from '../cache/cache-testing.ts';
import { keyOf } from '../resource/resource.ts';
import type { Abortable, ListPage, ListRequest, ListWatch, WatchMessage, WatchRequest } from './port.ts';

interface Logged {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: Thing;
  readonly before: Thing | undefined;
}

export class ServerError extends Error {
  readonly status: object;

  constructor(code: number, more: { reason?: string; message?: string; details?: object } = {}) {
    super(more.message ?? `status ${code}`);
    this.status = { kind: 'Status', code, ...more };
  }
}

export const gone = () => new ServerError(410, { reason: 'Expired' });

export class TestServer implements ListWatch<Thing> {
  version = 100;
  readonly objects = new Map<string, Thing>();
  /** Thrown by the next requests, one each. */
  readonly refusals: unknown[] = [];
  readonly requests: string[] = [];
  canStream = true;
  /** Takes the wish for initial events as an old server does: not at all. */
  ignoresStreaming = false;
  isInstalled = true;
  /** The selector of whoever lists and watches. */
  selects: (object: Thing) => boolean = () => true;
  /** Connections stay open and nothing comes any more. */
  isHalfOpen = false;
  open = 0;
  #log: Logged[] = [];
  #compacted = 100;
  #cuts = 0;
  readonly #wake = new Set<() => void>();
  readonly #snapshots = new Map<string, { readonly version: number; readonly rest: readonly Thing[] }>();

  put(name: string, more: { uid?: string; color?: string } = {}): Thing {
    const before = this.objects.get(`ns/${name}`);
    const uid = more.uid ?? before?.metadata.uid ?? `${name}-${this.version + 1}`;
    return this.keep(thing(name, this.version, { ...more, uid }));
  }

  /** Keeps an object of any kind: it gets the next version. */
  keep(object: Thing): Thing {
    this.version++;
    const kept = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.version) } };
    const before = this.objects.get(keyOf(object));
    this.objects.set(keyOf(object), kept);
    this.#tell({ version: this.version, type: before ? 'MODIFIED' : 'ADDED', object: kept, before });
    return kept;
  }

  delete(name: string): void {
    this.drop(`ns/${name}`);
  }

  drop(key: string): void {
    const before = this.objects.get(key);
    if (!before) return;
    this.version++;
    this.objects.delete(key);
    const object = { ...before, metadata: { ...before.metadata, resourceVersion: String(this.version) } };
    this.#tell({ version: this.version, type: 'DELETED', object, before });
  }

  /** Forgets its history and all tokens: whoever is behind gets 410. */
  compact(): void {
    this.#compacted = this.version;
    this.#log = [];
    this.#snapshots.clear();
  }

  /** Ends all watches in good order. */
  cut(): void {
    this.#cuts++;
    this.#wakeAll();
  }

  bookmark(): void {
    this.#bookmarks++;
    this.#wakeAll();
  }
  #bookmarks = 0;

  async list(request: ListRequest): Promise<ListPage<Thing>> {
    this.requests.push(
      `list ${request.continue ?? (request.resourceVersion || 'newest')}${request.limit ? '' : ' whole'}`,
    );
    this.#admit();
    if (request.resourceVersion !== '' && Number(request.resourceVersion) > this.version) throw tooLarge();
    const snapshot = request.continue ? this.#snapshots.get(request.continue) : undefined;
    if (request.continue && !snapshot) throw gone();
    const { version, rest } = snapshot ?? { version: this.version, rest: this.#selected() };
    const items = rest.slice(0, request.limit ?? rest.length);
    const left = rest.slice(items.length);
    const token = left.length > 0 ? `token-${version}-${left.length}` : '';
    if (token) this.#snapshots.set(token, { version, rest: left });
    return { items, metadata: { resourceVersion: String(version), continue: token } };
  }

  async *watch(
    request: WatchRequest & Abortable,
  ): AsyncGenerator<WatchMessage<Thing> | readonly WatchMessage<Thing>[]> {
    const { signal } = request;
    const streams = request.sendInitialEvents === true;
    this.requests.push(`${streams ? 'stream' : 'watch'} ${request.resourceVersion || 'newest'}`);
    this.#admit();
    if (streams && !this.canStream) throw new ServerError(422, { reason: 'Invalid' });
    const wanted = request.resourceVersion === '' ? this.version : Number(request.resourceVersion);
    if (wanted > this.version) throw tooLarge();
    if (!streams && wanted < this.#compacted) throw gone();
    this.open++;
    const cuts = this.#cuts;
    try {
      let at = streams ? this.version : wanted;
      if (streams) {
        // In no order, as the real one.
        yield this.#selected()
          .reverse()
          .map((object) => ({ type: 'ADDED', object }) as const);
        if (!this.ignoresStreaming) yield { type: 'BOOKMARK', resourceVersion: String(at), initialEventsEnd: true };
      }
      let bookmarks = this.#bookmarks;
      for (;;) {
        while (this.isHalfOpen) await this.#news(signal);
        if (this.#cuts > cuts) return;
        if (at < this.#compacted) throw gone(); // what it has not been told is forgotten
        const next = this.#log.find(({ version }) => version > at);
        if (next) {
          at = next.version;
          const type = this.#typeOf(next);
          if (type) yield { type, object: next.object };
        } else if (bookmarks < this.#bookmarks) {
          bookmarks = this.#bookmarks;
          at = this.version;
          yield { type: 'BOOKMARK', resourceVersion: String(at), initialEventsEnd: false };
        } else await this.#news(signal);
      }
    } finally {
      this.open--;
    }
  }

  #admit(): void {
    if (this.refusals.length > 0) throw this.refusals.shift();
    if (!this.isInstalled) throw new ServerError(404, { reason: 'NotFound' });
  }

  #selected(): Thing[] {
    return [...this.objects.values()].filter((object) => this.selects(object));
  }

  /** As the real one tells it: what no longer matches is DELETED, in its new state, although it is there. */
  #typeOf({ type, object, before }: Logged): Logged['type'] | undefined {
    const was = before !== undefined && this.selects(before);
    const is = type !== 'DELETED' && this.selects(object);
    if (is) return was ? 'MODIFIED' : 'ADDED';
    return was ? 'DELETED' : undefined;
  }

  #tell(logged: Logged): void {
    this.#log.push(logged);
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const wake of [...this.#wake]) wake();
  }

  #news(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const wake = () => {
        this.#wake.delete(wake);
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = () => {
        this.#wake.delete(wake);
        reject(signal.reason);
      };
      this.#wake.add(wake);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}

function tooLarge(): ServerError {
  return new ServerError(504, { reason: 'Timeout', details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } });
}
