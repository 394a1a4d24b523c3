/** One kind of a controller in one term: from its events to queues, cancelled work, woken owners and observers. */
import type { KubeObject, Stored } from '@reeve/kube';
import { type Api, kindName } from '../client/api.ts';
import { canonicalJson } from '../digest/digest.ts';
import { asReeveError } from '../errors/errors.ts';
import { Changes, type Look } from '../observer/changes.ts';
import { Observers } from '../observer/observers.ts';
import { type Knowledge, known, unknown } from '../plan/known.ts';
import type { WorkQueue } from '../queue/queue.ts';
import { deliver } from '../reflector/route.ts';
import type { DeepReadonly, ResourceEvent } from '../resource/resource.ts';
import type { Environment } from './environment.ts';
import { HotLoop, type HotLoopOptions } from './hot-loop.ts';
import type { AnyObserve, AnyReflection } from './parts.ts';
import { QuietWrites } from './quiet-writes.ts';

type Seen = ResourceEvent<Stored<KubeObject>>;

/** What the workers of a kind want to know of its events. */
export interface KindListener {
  /** Before the key is queued: is there work on it that this makes pointless? */
  changed?(event: Seen): void;
  /** The object is gone. */
  forget(key: string): void;
}

interface Observation {
  readonly text: string;
  readonly knowledge: Knowledge<unknown>;
  readonly look: Look | undefined;
}

export class KindRun {
  readonly of: AnyReflection;
  /** Around writes of a status: their events are nobody's business. */
  readonly quiet: QuietWrites<Stored<KubeObject>>;
  /** Around what an owner writes: it knows, and need not be woken. */
  readonly echo: QuietWrites<Stored<KubeObject>>;
  readonly changes = new Changes();
  readonly hotLoop: HotLoop;
  readonly listeners: KindListener[] = [];
  readonly #controller: string;
  readonly #environment: Environment;
  readonly #queues: Readonly<Record<string, WorkQueue>>;
  readonly #target: KindRun | undefined;
  readonly #observers: Observers<unknown> | undefined;
  readonly #observations = new Map<string, Observation>();
  /** Keys that changed the world and wait for the next look, whatever it shows. */
  readonly #awaited = new Set<string>();

  constructor(
    of: AnyReflection,
    around: {
      readonly controller: string;
      readonly environment: Environment;
      readonly queues: Readonly<Record<string, WorkQueue>>;
      /** Whose keys the events of this kind wake. */
      readonly target: KindRun | undefined;
      readonly observe: AnyObserve | undefined;
      readonly hotLoop: HotLoopOptions | undefined;
    },
  ) {
    this.of = of;
    this.#controller = around.controller;
    this.#environment = around.environment;
    this.#queues = around.queues;
    this.#target = around.target;
    this.hotLoop = new HotLoop(around.hotLoop);
    const { metrics } = around.environment;
    this.quiet = new QuietWrites(
      (event) => this.#deliver(event),
      () => metrics.quietEvents.add({ controller: around.controller }),
    );
    this.echo = new QuietWrites(
      (event) => {
        for (const owner of this.#owners(event)) this.#target?.wake(owner);
      },
      undefined,
      ['added', 'changed'],
    );
    this.#observers = around.observe && this.#observersOf(around.observe);
  }

  /** Every event of the kind, in order. Never throws: others listen, too. */
  take(event: Seen): void {
    this.#observers?.follow(event);
    this.quiet.take(event);
  }

  /** Somebody else has a reason to look at this key: a child changed, an observer saw something, long work ended. */
  wake(key: string): void {
    const object = this.of.cache.get(key);
    const uid = this.of.cache.uidOf(key);
    if (!object || uid === undefined) return; // its own event will come, or it is gone
    this.#route({ change: 'changed', key, uid, object, previous: object, listed: false, own: false });
  }

  /** What the observer saw of this key, if nothing was changed since. */
  observed(key: string): Knowledge<unknown> {
    const seen = this.#observations.get(key);
    if (!seen) return unknown('nobody has looked yet');
    if (seen.look && !this.changes.isCurrent(seen.look)) return unknown('it was changed since it was last looked at');
    return seen.knowledge;
  }

  /** True if there is an observer: it looks soon, and wakes the key whatever it sees. */
  nudge(key: string): boolean {
    if (!this.#observers) return false;
    this.#awaited.add(key);
    this.#observers.nudge(key);
    return true;
  }

  get isObserved(): boolean {
    return this.#observers !== undefined;
  }

  /** Ends the observers. Returns the keys whose update did not end before the patience did. */
  async stop(patience: AbortSignal): Promise<readonly string[]> {
    return (await this.#observers?.stop(patience)) ?? [];
  }

  #deliver(event: Seen): void {
    const { key } = event;
    for (const listener of this.listeners) {
      this.#safely(event, () => listener.changed?.(event));
      if (event.change === 'removed') listener.forget(key);
    }
    if (event.change === 'removed') {
      this.quiet.forget(key);
      this.hotLoop.forget(key);
      this.#observations.delete(key);
      this.#awaited.delete(key);
    }
    this.#route(event);
    this.echo.take(event);
  }

  #route(event: Seen): void {
    const { route } = this.of.options;
    if (!route) return;
    this.#safely(event, () => deliver(event, route, this.#queues));
  }

  #owners(event: Seen): readonly string[] {
    const { wakes } = this.of;
    if (!wakes) return [];
    const keys = new Set<string>();
    this.#safely(event, () => {
      for (const key of wakes.mapping(event.object, event)) keys.add(key);
      // A child that changed its owner concerns the one before, too.
      if (event.previous) for (const key of wakes.mapping(event.previous, event)) keys.add(key);
    });
    return [...keys];
  }

  /** A route, mapping or rule that throws is a bug of the controller; the events after it still count. */
  #safely(event: Seen, work: () => void): void {
    try {
      work();
    } catch (error) {
      const { code, message } = asReeveError(error);
      const fields = { controller: this.#controller, kind: kindName(this.of.kind), key: event.key, code, message };
      this.#environment.log('an event could not be routed', fields);
    }
  }

  #observersOf(options: AnyObserve): Observers<unknown> {
    const { clock, random, metrics } = this.#environment;
    const { everyMs, jitter, timeoutMs } = options;
    return new Observers<unknown>({ clock, random }, this.changes, {
      everyMs,
      ...(jitter !== undefined && { jitter }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      observe: (key, signal) => {
        const object = this.of.cache.get(key);
        return object ? options.observe(object, signal) : Promise.reject(new Error(`${key} is not in the cache`));
      },
      ...(options.update && {
        update: async (key: string, seen: unknown, signal: AbortSignal) => {
          const object = this.of.cache.get(key);
          if (object) await options.update?.(seen, object, until(signal, this.#environment.api), signal);
        },
      }),
      report: (key, seen, look) => this.#seen(options, key, seen, look),
      discarded: () => metrics.discardedObservations.add({ controller: this.#controller }),
      failed: (key, error) => this.#unseen(key, asReeveError(error).message),
    });
  }

  #seen(options: AnyObserve, key: string, seen: unknown, look: Look): void {
    const before = this.#observations.get(key);
    const text = canonicalJson(seen) ?? '';
    this.#observations.set(key, { text, knowledge: known(seen), look });
    const object = this.of.cache.get(key) as DeepReadonly<Stored<KubeObject>> | undefined;
    if (!object) return;
    const isNews = options.wakes ? options.wakes(seen, object) : before?.text !== text;
    if (this.#awaited.delete(key) || isNews) this.wake(key);
  }

  /** What could not be read is unknown, which is news as well. */
  #unseen(key: string, why: string): void {
    const before = this.#observations.get(key);
    if (before && !before.knowledge.known) return;
    this.#observations.set(key, { text: '', knowledge: unknown(why), look: undefined });
    this.wake(key);
  }
}

/** An update that slept past its time has lost the lock: what it decided then must not be written now. */
function until(signal: AbortSignal, api: Api): Api {
  return {
    resource: (kind, namespace) => {
      signal.throwIfAborted();
      return api.resource(kind, namespace);
    },
  };
}
