/** Looks at the real world of one resource again and again, and hands on what it saw, if that still counts. */
import type { Clock, Random } from '../ports/ports.ts';
import { deadline, orAborted } from '../ports/deadline.ts';
import { ReeveError } from '../errors/errors.ts';
import type { Changes, Look } from './changes.ts';

export interface ObserverOptions<O> {
  /** How long between the end of one look and the begin of the next, before jitter. */
  readonly everyMs: number;
  /** The pause is drawn from everyMs × [1 − jitter, 1 + jitter). Default 0.2: a thousand resources must not be polled in step. */
  readonly jitter?: number;
  /** A look that takes longer is given up. Default: everyMs, at least 10 s. */
  readonly timeoutMs?: number;
  /** Read only. What it throws is told to `failed` and is no observation: unknown is not absent. */
  observe(key: string, signal: AbortSignal): Promise<O>;
  /**
   * What was seen, and still counts: put the key into its queue. Runs at once, without the lock: the worker will look at
   * the stamp itself when it uses the observation.
   */
  report?(key: string, observation: O, look: Look): void;
  /**
   * Or update the API oneself: runs under the lock that the worker takes, with a last look at the stamp. It must end with its
   * signal: then the lock is given back whether it did or not, and the key is not looked at again before it has.
   */
  update?(key: string, observation: O, signal: AbortSignal): Promise<void>;
  /** For metrics: an observation that a change overtook. */
  discarded?(key: string): void;
  failed?(key: string, error: unknown): void;
}

export interface ObserverPorts {
  readonly clock: Clock;
  readonly random: Random;
}

/** One resource, observed from `start` until disposed. */
export class Observer<O> implements AsyncDisposable {
  readonly key: string;
  readonly #ports: ObserverPorts;
  readonly #changes: Changes;
  readonly #options: ObserverOptions<O>;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  /** An update that has begun and not ended, also one that nobody waits for any more. */
  #updating: Promise<void> | undefined;
  #hurry: AbortController | undefined;

  constructor(ports: ObserverPorts, changes: Changes, key: string, options: ObserverOptions<O>) {
    this.#ports = ports;
    this.#changes = changes;
    this.#options = options;
    this.key = key;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Look soon: after a change, or because somebody waits. */
  nudge(): void {
    this.#hurry?.abort();
  }

  /** One look, whether or not it runs. True if what was seen counted. */
  async once(): Promise<boolean> {
    const { key } = this;
    const {
      observe,
      report,
      update,
      discarded,
      failed,
      everyMs,
      timeoutMs = Math.max(everyMs, 10_000),
    } = this.#options;
    const tooLong = () =>
      new ReeveError('OBSERVER_TIMEOUT', `no observation of ${key} in ${timeoutMs} ms`, { subjects: [key] });
    using limit = deadline(this.#ports.clock, timeoutMs, tooLong, this.#stop.signal);
    const look = this.#changes.look(key);
    try {
      if (this.#updating) throw tooLong(); // two updates of one key would each not know of the other
      const observation = await orAborted(observe.call(this.#options, key, limit.signal), limit.signal);
      let counting = this.#changes.isCurrent(look) ? look : undefined;
      if (counting && update) {
        const deliver = () =>
          this.#update(() => update.call(this.#options, key, observation, limit.signal), limit.signal);
        counting = await orAborted(this.#changes.deliver(counting, deliver), limit.signal);
      }
      if (counting) report?.call(this.#options, key, observation, counting);
      else discarded?.call(this.#options, key);
      return counting !== undefined;
    } catch (error) {
      if (!this.#stop.signal.aborted) failed?.call(this.#options, key, error);
      return false;
    }
  }

  /** Ends when nothing of it goes on any more; that is never, if an update does not heed its signal. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new ReeveError('OBSERVER_STOPPED', `${this.key} is observed no longer`));
    await this.#running;
    await this.#updating;
  }

  async #update(update: () => Promise<void>, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted(); // the lock came too late
    const running = update();
    const ended = () => {
      this.#updating = undefined;
    };
    this.#updating = running.then(ended, ended);
    await orAborted(running, signal);
  }

  async #run(): Promise<void> {
    const { everyMs, jitter = 0.2 } = this.#options;
    // The first look comes at a random time too: all resources are found in one list.
    let pauseMs = everyMs * this.#ports.random.next() * Math.min(1, jitter);
    while (!this.#stop.signal.aborted) {
      await this.#pause(pauseMs);
      if (this.#stop.signal.aborted) return;
      await this.once();
      pauseMs = everyMs * (1 + jitter * (2 * this.#ports.random.next() - 1));
    }
  }

  async #pause(ms: number): Promise<void> {
    const hurry = new AbortController();
    this.#hurry = hurry;
    const onStop = () => hurry.abort();
    this.#stop.signal.addEventListener('abort', onStop, { once: true });
    await this.#ports.clock.sleep(ms, hurry.signal).catch(() => undefined); // nudged or stopped
    this.#stop.signal.removeEventListener('abort', onStop);
    this.#hurry = undefined;
  }
}
