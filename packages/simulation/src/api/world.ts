/**
 * The API server of a simulated world: the embedded server, in memory. What it does needs no time and no thread, so that a request is
 * one moment of the run: begun by an effect, over before the next.
 */
import { ApiServer, type Entry, memoryJournal, Store, type StoreEvent } from '@reeve/embedded';
import {
  type Clock,
  KubeClient,
  type Random,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from '@reeve/kube';
import type { Feed } from './feed.ts';
import type { Snapshot } from './snapshot.ts';

export interface ApiObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** A write that happened. `after` is undefined when the object is gone. */
export interface ApiWrite {
  /** `status`: the status changed. */
  readonly verb: 'create' | 'update' | 'status' | 'delete';
  /** As the store names them: `clusters.sample.dev`, `pods`. */
  readonly resource: string;
  readonly before: ApiObject | undefined;
  readonly after: ApiObject | undefined;
}

export interface ApiWorldOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly snapshot: Snapshot;
  /** Told of every write to these resources, when it is visible. */
  readonly follow?: readonly string[];
  readonly onWrite?: (write: ApiWrite) => void;
  /** Told of every request of a simulated transport and the status of its answer, before anything else happens. */
  readonly onServed?: (request: TransportRequest, status: number) => void;
  /** The server failed at something that nobody foresaw. */
  readonly onError?: (error: unknown) => void;
}

export class ApiWorld {
  readonly store: Store;
  /** Requests are carried out at once: those of people, of the world itself, of tests that need no accidents. */
  readonly transport: Transport;
  readonly client: KubeClient;
  readonly #feeds = new Set<Feed>();
  readonly #parsed = new WeakMap<Entry, ApiObject>();
  readonly #onServed: ApiWorldOptions['onServed'];
  #refusals = 0;

  static async open(options: ApiWorldOptions): Promise<ApiWorld> {
    const { clock, random, snapshot, onError = () => undefined } = options;
    const store = await Store.open({ journal: memoryJournal(snapshot.kept), clock, onError });
    const server = await ApiServer.open({ store, clock, random, customRules: snapshot.rules, onError });
    return new ApiWorld(store, server, options);
  }

  private constructor(store: Store, server: ApiServer, options: ApiWorldOptions) {
    const { clock, random, follow = [], onWrite, onServed } = options;
    this.store = store;
    this.#onServed = onServed;
    this.transport = server.transport();
    this.client = new KubeClient({ clock, random, transport: this.transport, retries: 0 });
    if (!onWrite) return;
    for (const resource of follow) {
      store.listen(resource, (events) => {
        for (const event of events) onWrite(this.#writeOf(event));
      });
    }
  }

  find<T = ApiObject>(resource: string, namespace: string, name: string): T | undefined {
    const entry = this.store.get({ resource, namespace, name });
    return entry && (this.#objectOf(entry) as T);
  }

  list<T = ApiObject>(resource: string, namespace?: string): readonly T[] {
    return this.store.range({ resource, namespace }).map((entry) => this.#objectOf(entry) as T);
  }

  /** The next requests are answered with 429. */
  throttle(count: number): void {
    this.#refusals += count;
  }

  /** Forgets the history and breaks all watches: whoever resumes from an old version gets 410. */
  compact(): void {
    this.store.compact(this.store.revision);
    this.breakWatches();
  }

  /** Ends all watches in good order. */
  endWatches(): void {
    for (const feed of this.#feeds) feed.end();
  }

  /** Breaks all watches; the events under way are lost. */
  breakWatches(): void {
    for (const feed of this.#feeds) feed.break();
  }

  /** All watches tell their last events once more. */
  replay(count: number): void {
    for (const feed of this.#feeds) feed.replay(count);
  }

  /** @internal What the server answers to what arrives there now. Whoever sent it may be gone: it is carried out all the same. */
  async serve(request: TransportRequest): Promise<TransportResponse> {
    if (this.#refusals > 0) {
      this.#refusals--;
      return tooMany();
    }
    const { signal: _signal, ...sent } = request;
    const response = await this.transport(sent);
    this.#onServed?.(sent, response.status);
    return response;
  }

  /** @internal Keeps a watch until it is closed; closes those whose readers are gone. */
  keep(feed: Feed): Disposable {
    for (const other of this.#feeds) {
      if (!other.isAbandoned) continue;
      other.end();
      this.#feeds.delete(other);
    }
    this.#feeds.add(feed);
    return {
      [Symbol.dispose]: () => {
        feed.end();
        this.#feeds.delete(feed);
      },
    };
  }

  #writeOf({ entry, previous, deleted }: StoreEvent): ApiWrite {
    const before = previous && this.#objectOf(previous);
    const { resource } = entry.key;
    if (deleted) return { verb: 'delete', resource, before, after: undefined };
    const after = this.#objectOf(entry);
    if (!before) return { verb: 'create', resource, before, after };
    const isStatus = JSON.stringify(before.status) !== JSON.stringify(after.status);
    return { verb: isStatus ? 'status' : 'update', resource, before, after };
  }

  /** The store keeps texts without the opening brace; an entry never changes. */
  #objectOf(entry: Entry): ApiObject {
    const known = this.#parsed.get(entry);
    if (known) return known;
    const object = JSON.parse(`{${entry.body}`) as ApiObject;
    this.#parsed.set(entry, object);
    return object;
  }
}

function tooMany(): TransportResponse {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code: 429,
    reason: 'TooManyRequests',
    message: 'the server has received too many requests and has asked us to try again later',
    details: { retryAfterSeconds: 1 },
  };
  return {
    status: 429,
    headers: { 'content-type': 'application/json', 'retry-after': '1' },
    body: Buffer.from(JSON.stringify(status)),
  };
}
