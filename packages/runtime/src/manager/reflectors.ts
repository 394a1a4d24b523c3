/** The reflectors of a process: one for each kind and scope, whoever asks for it. They run also while another process leads. */
import type { KubeObject, Stored } from '@reeve/kube';
import { type BackoffOptions, backoffMs } from '../backoff/backoff.ts';
import { ResourceCache } from '../cache/cache.ts';
import { type Api, kindName, listWatchOf } from '../client/api.ts';
import type { Log } from '../controller/environment.ts';
import type { AnyReflection, ReflectionHandle } from '../controller/parts.ts';
import type { EventSource } from '../controller/run.ts';
import { asReeveError } from '../errors/errors.ts';
import type { RuntimeMetrics } from '../metrics/runtime-metrics.ts';
import type { Clock, Random } from '../ports/ports.ts';
import { Reflector } from '../reflector/reflector.ts';
import { Slots } from '../reflector/slots.ts';
import type { ReflectorOptions, ReflectorState } from '../reflector/state.ts';
import type { ResourceEvent } from '../resource/resource.ts';

type Seen = ResourceEvent<Stored<KubeObject>>;

export interface ReflectorsOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly api: Api;
  readonly metrics: RuntimeMetrics;
  readonly log: Log;
  /** How many kinds may be listed at once. */
  readonly syncs: number;
  readonly reflector: Partial<ReflectorOptions>;
}

export interface ReflectorReport {
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly state: ReflectorState;
  readonly isSynced: boolean;
  readonly objects: number;
  readonly bytes: number;
  readonly version: string | undefined;
  /** Objects that `project` or an index could not be asked about. */
  readonly defects: number;
  /** Why it reflects nothing just now: it failed in a way that is nobody's answer, and begins anew after a pause. */
  readonly broken: string | undefined;
}

interface Shared {
  readonly id: string;
  readonly of: AnyReflection;
  readonly cache: ResourceCache<Stored<KubeObject>>;
  readonly reflector: Reflector<Stored<KubeObject>>;
  readonly takers: Set<(event: Seen) => void>;
  readonly waiting: Set<() => void>;
  /** Those who asked for it: without any it ends. */
  readonly users: Set<AnyReflection>;
  broken: string | undefined;
}

/** Before a reflector that failed begins anew. */
const RESTART: BackoffOptions = { baseMs: 1_000, factor: 2, capMs: 60_000, jitter: 0.2 };

export class Reflectors implements EventSource {
  readonly #options: ReflectorsOptions;
  readonly #slots: Slots;
  readonly #shared: Shared[] = [];
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #isStarted = false;

  constructor(options: ReflectorsOptions) {
    this.#options = options;
    this.#slots = new Slots(options.syncs);
    this.#measure();
  }

  /** Finds or makes the reflector that a controller asks for, and gives it its cache. */
  attach(of: ReflectionHandle<KubeObject>): void {
    const id = idOf(of);
    let shared = this.#shared.find((one) => one.id === id && one.of.options.project === of.options.project);
    if (shared) {
      for (const [name, terms] of Object.entries(of.options.indexes ?? {})) shared.cache.addIndex(name, terms);
    } else {
      shared = this.#make(id, of);
      this.#shared.push(shared);
      if (this.#isStarted) this.#run(shared);
    }
    shared.users.add(of as AnyReflection);
    of.attach(shared.cache);
  }

  /** A controller needs it no longer; the last one ends its watch and forgets its cache. */
  detach(of: AnyReflection): void {
    const shared = this.#of(of);
    shared.users.delete(of);
    if (shared.users.size > 0) return;
    this.#shared.splice(this.#shared.indexOf(shared), 1);
    shared.reflector.stop();
  }

  start(): void {
    this.#isStarted = true;
    for (const shared of this.#shared) this.#run(shared);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }

  subscribe(of: AnyReflection, take: (event: Seen) => void): () => void {
    const { cache, takers } = this.#of(of);
    // What is there is told as if it had just been listed: a new leader must look at everything once.
    if (cache.isSynced) {
      for (const key of [...cache.keys()]) {
        const object = cache.get(key);
        const uid = cache.uidOf(key);
        if (object && uid !== undefined) take({ change: 'added', key, uid, object, listed: true, own: false });
      }
    }
    takers.add(take);
    return () => void takers.delete(take);
  }

  ready(of: AnyReflection, signal: AbortSignal): Promise<void> {
    const shared = this.#of(of);
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      if (isReady(shared)) return resolve();
      const onAbort = () => {
        shared.waiting.delete(onReady);
        reject(signal.reason);
      };
      const onReady = () => {
        shared.waiting.delete(onReady);
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      shared.waiting.add(onReady);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  report(): readonly ReflectorReport[] {
    return this.#shared.map(({ of, cache, reflector, broken }) => ({
      kind: kindName(of.kind),
      namespace: of.options.namespace,
      state: reflector.state,
      isSynced: cache.isSynced,
      objects: cache.size,
      bytes: cache.bytes,
      version: cache.version,
      defects: cache.defects.size,
      broken,
    }));
  }

  #make(id: string, of: ReflectionHandle<KubeObject>): Shared {
    const { api, clock, random, reflector: options } = this.#options;
    const { namespace, labelSelector, fieldSelector, unscoped, project, indexes } = of.options;
    const selection = {
      ...(labelSelector !== undefined && { labelSelector }),
      ...(fieldSelector !== undefined && { fieldSelector }),
    };
    const cache = new ResourceCache<Stored<KubeObject>>({
      scope: {
        group: of.kind.group,
        kind: of.kind.kind,
        ...(namespace !== undefined && { namespace }),
        ...selection,
        ...(unscoped !== undefined && { unscoped }),
      },
      ...(project && { project }),
      ...(indexes && { indexes }),
      failed: ({ key, what, error }) => {
        const fields = { kind: kindName(of.kind), key, what, message: asReeveError(error).message };
        this.#options.log('an object could not be taken in as it should be', fields);
      },
    });
    const waiting = new Set<() => void>();
    const reflector: Reflector<Stored<KubeObject>> = new Reflector(
      { clock, random },
      {
        ...options,
        source: listWatchOf(api.resource(of.kind, namespace), selection),
        cache,
        slots: this.#slots,
        told: (input, state) => {
          if (input.type === 'failed') this.#tellFailure(of, input.failure.message, state);
          if (state.isMissing) for (const wake of [...waiting]) wake();
        },
        synced: () => {
          shared.broken = undefined;
          for (const wake of [...waiting]) wake();
        },
      },
    );
    const shared: Shared = {
      id,
      of,
      cache,
      reflector,
      takers: new Set(),
      waiting,
      users: new Set(),
      broken: undefined,
    };
    return shared;
  }

  #run(shared: Shared): void {
    const running = this.#keepReflecting(shared).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** What a server answers is the reflector's to deal with. All else is a bug, and must not end the process nor the kind for good. */
  async #keepReflecting(shared: Shared): Promise<void> {
    const { clock, random, log } = this.#options;
    const { signal } = this.#stop;
    for (let failures = 1; ; failures++) {
      try {
        return await this.#reflect(shared);
      } catch (error) {
        const { code, message } = asReeveError(error);
        if (shared.broken === undefined) failures = 1; // it had come as far as a list
        const pauseMs = backoffMs(failures, RESTART, random.next());
        shared.broken = message;
        log('a reflector failed and begins anew', { kind: kindName(shared.of.kind), code, message, pauseMs });
        await clock.sleep(pauseMs, signal).catch(() => undefined); // stopped
      }
      if (signal.aborted || shared.users.size === 0) return;
    }
  }

  async #reflect({ of, reflector, takers }: Shared): Promise<void> {
    const { clock, metrics } = this.#options;
    const labels = { name: 'reeve', group: of.kind.group, version: of.kind.version, resource: of.kind.plural };
    for await (const batch of reflector.batches(this.#stop.signal)) {
      for (const event of batch) {
        const began = clock.now();
        for (const take of [...takers]) take(event);
        metrics.processing.observe(labels, (clock.now() - began) / 1_000);
      }
    }
  }

  #tellFailure(of: AnyReflection, message: string, { isMissing, failures }: ReflectorState): void {
    const fields = { kind: kindName(of.kind), message, failures };
    this.#options.log(isMissing ? 'a kind is not installed' : 'a list or watch failed', fields);
  }

  #of(of: AnyReflection): Shared {
    const shared = this.#shared.find(({ cache }) => cache === of.cache);
    if (!shared) throw new RangeError(`${of.kind.plural}: not of this manager`);
    return shared;
  }

  #measure(): void {
    const { registry } = this.#options.metrics;
    const read = (name: string, help: string, value: (shared: Shared) => number | undefined, type?: 'counter') =>
      registry.read(name, help, () => this.#readings(value), type);
    read('informer_store_resource_version', 'How far list and watch have come.', ({ cache }) =>
      cache.version === undefined ? undefined : Number(cache.version),
    );
    // Events are taken in one by one as they are read: what waits, waits in the connection.
    read('informer_queued_items', 'Events that were read and not taken in yet.', () => 0);
    read('reeve_cache_objects', 'Objects in the cache.', ({ cache }) => cache.size);
    read('reeve_cache_bytes', 'About how much memory they take.', ({ cache }) => cache.bytes);
    read('reeve_cache_defects', 'Objects that a projection or an index threw for.', ({ cache }) => cache.defects.size);
    read('reeve_reflector_broken', '1 from a failure of the reflector itself to its next list.', ({ broken }) =>
      Number(broken !== undefined),
    );
    read('reeve_reflector_missing', '1 while the kind is not installed.', ({ reflector }) =>
      Number(reflector.state.isMissing),
    );
    read('reeve_reflector_lists_total', 'Lists begun.', ({ reflector }) => reflector.state.lists, 'counter');
    read('reeve_reflector_watches_total', 'Watches begun.', ({ reflector }) => reflector.state.watches, 'counter');
    read(
      'reeve_reflector_short_watches_total',
      'Watches that ended at once.',
      ({ reflector }) => reflector.state.shortWatches,
      'counter',
    );
    read(
      'reeve_reflector_silences_total',
      'Watches given up for silence.',
      ({ reflector }) => reflector.state.silences,
      'counter',
    );
  }

  *#readings(value: (shared: Shared) => number | undefined) {
    for (const shared of this.#shared) {
      const { group, version, plural } = shared.of.kind;
      const reading = value(shared);
      if (reading === undefined) continue;
      const scope = shared.of.options.namespace ?? shared.of.options.labelSelector ?? '';
      yield { labels: { name: 'reeve', group, version, resource: plural, scope }, value: reading };
    }
  }
}

function isReady({ cache, reflector }: Shared): boolean {
  return cache.isSynced || reflector.state.isMissing;
}

function idOf({ kind, options }: AnyReflection): string {
  const { group, version, plural, metadataOnly } = kind;
  const { namespace, labelSelector, fieldSelector } = options;
  return JSON.stringify([group, version, plural, metadataOnly, namespace, labelSelector, fieldSelector]);
}
