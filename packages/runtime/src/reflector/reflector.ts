/**
 * Runs the effects of the step function against a client and tells what changed. Pulled, not pushing: whoever is slow makes the
 * connection wait, not a buffer grow. Each object is in the cache before its event is told, in the order of the server.
 */
import type { ResourceCache } from '../cache/cache.ts';
import { ReeveError } from '../errors/errors.ts';
import type { Clock, Random } from '../ports/ports.ts';
import type { Resource, ResourceEvent } from '../resource/resource.ts';
import { failureOf, type ListWatch, type WatchMessage } from './port.ts';
import type { Slots } from './slots.ts';
import {
  type Effect,
  type Input,
  initial,
  type ReflectorOptions,
  type ReflectorState,
  reflectorOptions,
} from './state.ts';
import { step } from './step.ts';
import { Watchdog } from './watchdog.ts';

type Slow = Extract<Effect, { do: 'list' | 'watch' | 'wait' }>;

export interface ReflectorPorts {
  readonly clock: Clock;
  readonly random: Random;
}

export interface ReflectorSetup<T extends Resource, P> extends Partial<ReflectorOptions> {
  readonly source: ListWatch<T>;
  readonly cache: ResourceCache<T, P>;
  /** Shared by the reflectors of a process: how many may list at once (2 to 4). Default: no limit. */
  readonly slots?: Slots;
  /** For logs and metrics: each input that was not an object, with the state that it led to. */
  told?(input: Input, state: ReflectorState): void;
  /** A list is complete and in the cache; its events follow. */
  synced?(): void;
}

export class Reflector<T extends Resource, P = T> {
  readonly cache: ResourceCache<T, P>;
  readonly #ports: ReflectorPorts;
  readonly #setup: ReflectorSetup<T, P>;
  readonly #options: ReflectorOptions;
  #state: ReflectorState = initial;
  #slow: Slow | undefined;
  #staging: ReturnType<ResourceCache<T, P>['replacement']> | undefined;
  #stopSwitch: AbortController | undefined;
  #giveSlotBack: (() => void) | undefined;

  constructor(ports: ReflectorPorts, setup: ReflectorSetup<T, P>) {
    this.#ports = ports;
    this.#setup = setup;
    this.#options = reflectorOptions(setup);
    this.cache = setup.cache;
  }

  get state(): ReflectorState {
    return this.#state;
  }

  /** Ends the events from anywhere; `events` may be called again later and goes on with a list. */
  stop(): void {
    this.#stopSwitch?.abort();
  }

  /** What changes from now on; the first list tells everything that the cache does not have yet. */
  async *events(signal?: AbortSignal): AsyncGenerator<ResourceEvent<P>, void, undefined> {
    for await (const batch of this.batches(signal)) yield* batch;
  }

  /** The same, with all events together that arrived together: the cache has taken in all of them before the first is told. */
  async *batches(signal?: AbortSignal): AsyncGenerator<readonly ResourceEvent<P>[], void, undefined> {
    if (this.#stopSwitch)
      throw new ReeveError('REFLECTOR_RUNNING', `a reflector of ${this.cache.scope.kind} runs already`);
    const stop = new AbortController();
    this.#stopSwitch = stop;
    const onAbort = () => stop.abort();
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      this.#state = { ...this.#state, phase: 'idle' };
      this.#take({ type: 'start' });
      while (this.#slow && !stop.signal.aborted) {
        if (this.#slow.do === 'wait') await this.#wait(this.#slow.ms, stop.signal);
        else if (this.#slow.do === 'list') yield await this.#list(this.#slow, stop.signal);
        else yield* this.#watch(this.#slow, stop.signal);
      }
    } finally {
      signal?.removeEventListener('abort', onAbort);
      stop.abort();
      this.#releaseSlot();
      this.#state = step(this.#state, { type: 'stop' }, this.#moment(), this.#options).state;
      this.#staging = undefined;
      this.#stopSwitch = undefined;
    }
  }

  async #wait(ms: number, stop: AbortSignal): Promise<void> {
    this.#releaseSlot(); // others may list while this one waits
    await this.#ports.clock.sleep(ms, stop).catch(() => undefined);
    if (!stop.aborted) this.#take({ type: 'due' });
  }

  async #list(effect: Extract<Slow, { do: 'list' }>, stop: AbortSignal): Promise<readonly ResourceEvent<P>[]> {
    if (!(await this.#takeSlot(stop))) return [];
    using line = new Line(this.#ports.clock, effect.silenceMs, stop);
    const page = await line.hear(() => this.#setup.source.list({ ...effect.request, signal: line.signal }));
    if (stop.aborted) return [];
    if (!page.ok) return this.#take(page.input);
    const { resourceVersion = '', continue: token } = page.value.metadata;
    return this.#take(
      { type: 'page', version: resourceVersion, token: token || undefined },
      { items: page.value.items },
    );
  }

  async *#watch(
    effect: Extract<Slow, { do: 'watch' }>,
    stop: AbortSignal,
  ): AsyncGenerator<readonly ResourceEvent<P>[]> {
    if (effect.request.sendInitialEvents && !(await this.#takeSlot(stop))) return;
    using line = new Line(this.#ports.clock, effect.silenceMs, stop);
    let messages: AsyncIterator<WatchMessage<T> | readonly WatchMessage<T>[]> | undefined;
    const ask = () => {
      messages ??= this.#setup.source.watch({ ...effect.request, signal: line.signal })[Symbol.asyncIterator]();
      return messages.next();
    };
    try {
      while (this.#slow === effect && !stop.aborted) {
        const next = await line.hear(ask);
        if (stop.aborted) return;
        if (!next.ok) this.#take(next.input);
        else if (next.value.done) this.#take({ type: 'ended' });
        else {
          const told: ResourceEvent<P>[] = [];
          try {
            for (const message of batchOf(next.value.value)) {
              this.#message(message, told);
              if (this.#slow !== effect) break; // the rest is of a watch that counts no more
            }
          } finally {
            // Also if one of them could not be taken in: those before it are in the cache, and are never told again.
            if (told.length > 0) yield told;
          }
        }
      }
    } finally {
      line[Symbol.dispose]();
      // Not awaited: a source that hangs must not hang us. Its signal told it to go.
      messages?.return?.()?.then(undefined, () => undefined);
    }
  }

  #message(message: WatchMessage<T>, told: ResourceEvent<P>[]): void {
    if (message.type === 'BOOKMARK') {
      const { resourceVersion: version, initialEventsEnd: isInitialEnd } = message;
      this.#take({ type: 'bookmark', version, isInitialEnd }, {}, told);
      return;
    }
    const version = message.object.metadata.resourceVersion;
    this.#take({ type: 'event', version }, { items: [message.object], isGone: message.type === 'DELETED' }, told);
  }

  /**
   * One step, its quick effects at once; the slow one, if there is one, is what the loop does next. All of it happens before its
   * events are told: the cache is right also if the reader stops in the middle.
   */
  #take(
    input: Input,
    { items = [], isGone = false }: { readonly items?: Iterable<T>; readonly isGone?: boolean } = {},
    told: ResourceEvent<P>[] = [],
  ): readonly ResourceEvent<P>[] {
    const { state, effects } = step(this.#state, input, this.#moment(), this.#options);
    this.#state = state;
    if (input.type !== 'event') this.#setup.told?.(input, state);
    for (const effect of effects) {
      if (effect.do === 'begin') this.#staging = this.cache.replacement();
      else if (effect.do === 'stage') {
        // A stream of initial events has changes in it, too, until its end is marked.
        for (const object of items) {
          if (isGone) this.#staging?.remove(object);
          else this.#staging?.add(object);
        }
      } else if (effect.do === 'commit') {
        for (const event of this.#staging?.commit(effect.version) ?? []) told.push(event);
        this.#staging = undefined;
        this.#releaseSlot();
        this.#setup.synced?.();
      } else if (effect.do === 'apply') {
        for (const object of items) {
          for (const event of isGone ? this.cache.remove(object) : this.cache.apply(object)) told.push(event);
        }
      } else if (effect.do === 'bookmark') this.cache.bookmark(effect.version);
      else this.#slow = effect.do === 'end' ? undefined : effect;
    }
    return told;
  }

  async #takeSlot(stop: AbortSignal): Promise<boolean> {
    if (!this.#setup.slots || this.#giveSlotBack) return true;
    try {
      this.#giveSlotBack = await this.#setup.slots.take(stop);
      return true;
    } catch {
      return false; // stopped while it waited
    }
  }

  #releaseSlot(): void {
    this.#giveSlotBack?.();
    this.#giveSlotBack = undefined;
  }

  #moment() {
    return { now: this.#ports.clock.now(), random: this.#ports.random.next() };
  }
}

function batchOf<M extends object>(told: M | readonly M[]): readonly M[] {
  return Array.isArray(told) ? (told as readonly M[]) : [told as M];
}

type Heard<R> = { readonly ok: true; readonly value: R } | { readonly ok: false; readonly input: Input };

/** One request: it ends with the stop switch and with silence, even if the client under it does not notice either. */
class Line implements Disposable {
  readonly #controller = new AbortController();
  readonly #watchdog: Watchdog;
  readonly #stop: AbortSignal;
  readonly #onStop = () => this.#controller.abort(this.#stop.reason);
  #isSilent = false;
  #giveUp: ((reason: unknown) => void) | undefined;

  constructor(clock: Clock, silenceMs: number, stop: AbortSignal) {
    this.#stop = stop;
    this.signal.addEventListener('abort', () => this.#giveUp?.(this.signal.reason), { once: true });
    this.#watchdog = new Watchdog(clock, silenceMs, () => {
      this.#isSilent = true;
      this.#controller.abort(new ReeveError('REFLECTOR_SILENT', `nothing came for ${Math.round(silenceMs / 1_000)} s`));
    });
    if (stop.aborted) this.#onStop();
    stop.addEventListener('abort', this.#onStop, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async hear<R>(ask: () => Promise<R>): Promise<Heard<R>> {
    this.#watchdog.listen();
    try {
      return { ok: true, value: await this.#orAborted(ask) };
    } catch (error) {
      return { ok: false, input: this.#isSilent ? { type: 'silent' } : { type: 'failed', failure: failureOf(error) } };
    } finally {
      this.#watchdog.pause();
    }
  }

  [Symbol.dispose](): void {
    this.#watchdog[Symbol.dispose]();
    this.#stop.removeEventListener('abort', this.#onStop);
    this.#controller.abort();
  }

  /** Not Promise.race: each race with a promise that lives as long as the watch would leave a callback behind. */
  #orAborted<R>(ask: () => Promise<R>): Promise<R> {
    return new Promise((resolve, reject) => {
      if (this.signal.aborted) return reject(this.signal.reason);
      this.#giveUp = reject;
      ask().then(resolve, reject);
    });
  }
}
