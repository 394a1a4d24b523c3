/**
 * A queue of keys. A key is in it once however often it was added; it is with one worker at most; added while a worker
 * has it, it runs once more afterwards. Nothing but keys travels: whoever takes one reads the newest state.
 */
import { backoffMs } from '../backoff/backoff.ts';
import { ReeveError } from '../errors/errors.ts';
import type { Clock, Random } from '../ports/ports.ts';
import { DelayHeap } from './delay-heap.ts';
import { FairShare, type Ticket } from './fair-share.ts';
import type { QueueStats } from './metrics.ts';
import { type QueueOptions, type Settings, settingsOf } from './options.ts';
import { type Taken, Takers } from './takers.ts';
import type { Verdict } from './verdict.ts';

/** All that is known of one key; there is none for a key that is idle and did not fail. */
interface Entry {
  lane: number;
  /** Set while it waits for a worker. */
  ready: { readonly route: string; readonly ticket: Ticket; readonly since: number } | undefined;
  startedAt: number | undefined;
  /** Added while a worker has it. */
  isDirty: boolean;
  failures: number;
  /** A failed key is not run before this time, whatever is added. */
  notBefore: number;
  /** What the last run asked for: the next run replaces it. */
  ownWakeAt: number;
  /** What others asked for: it stays until then. */
  askedWakeAt: number;
}

const NEVER = Number.POSITIVE_INFINITY;
/** A timer of Node holds 24 days at most; looking once an hour costs nothing. */
const LONGEST_SLEEP_MS = 3_600_000;

export interface AddOptions {
  /** Default: the least urgent lane. A key that waits already moves up, never down. */
  readonly lane?: string;
}

export interface CloseOptions {
  /** `running` (default): hand nothing out any more. `ready`: what is ready now is still handed out. */
  readonly finish?: 'running' | 'ready';
  /** Give up waiting when this aborts. */
  readonly signal?: AbortSignal;
}

export class WorkQueue {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #settings: Settings;
  readonly #entries = new Map<string, Entry>();
  readonly #running = new Set<string>();
  readonly #ready: ReadonlyMap<string, FairShare>;
  readonly #delays = new DelayHeap();
  readonly #takers = new Takers();
  #rotation = 0;
  #alarm: { readonly at: number; readonly cancel: AbortController } | undefined;
  #closing: 'running' | 'ready' | undefined;
  readonly #whenIdle: (() => void)[] = [];

  constructor(ports: { readonly clock: Clock; readonly random: Random }, options: QueueOptions) {
    this.#clock = ports.clock;
    this.#random = ports.random;
    this.#settings = settingsOf(options);
    const { routes, lanes, weightOf } = this.#settings;
    this.#ready = new Map(routes.map((route) => [route, new FairShare(lanes, weightOf)]));
  }

  get name(): string {
    return this.#settings.name;
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /** Adds a key: it will be taken after this call at least once. False if the queue is closed. */
  add(key: string, options: AddOptions = {}): boolean {
    if (this.#closing !== undefined) return false;
    const lane = this.#laneOf(options);
    const entry = this.#entryOf(key, lane);
    if (entry.startedAt !== undefined) {
      if (!entry.isDirty) this.#settings.metrics?.added?.(key, this.#laneName(lane));
      entry.lane = entry.isDirty ? Math.min(entry.lane, lane) : lane;
      entry.isDirty = true;
      return true;
    }
    if (entry.ready) {
      if (lane < entry.ready.ticket.lane) this.#moveUp(key, entry, lane);
      return true;
    }
    entry.lane = lane;
    if (entry.failures > 0 && entry.notBefore > this.#clock.now()) {
      this.#own(key, entry, Math.min(entry.ownWakeAt, entry.notBefore));
      return true;
    }
    this.#makeReady(key, entry);
    return true;
  }

  /** Adds a key at a time of the clock. Asked for several times, the earliest counts. */
  addAt(key: string, time: number, options: AddOptions = {}): boolean {
    if (this.#closing !== undefined) return false;
    if (time <= this.#clock.now()) return this.add(key, options);
    const lane = this.#laneOf(options);
    const entry = this.#entryOf(key, lane);
    entry.lane = Math.min(entry.lane, lane);
    this.#ask(key, entry, time);
    return true;
  }

  addAfter(key: string, ms: number, options: AddOptions = {}): boolean {
    return this.addAt(key, this.#clock.now() + ms, options);
  }

  /**
   * The next key for a worker of this route (default: any key). Undefined when the queue is closed and has nothing more
   * to give; rejects with the signal's reason. Whoever takes a key must say `done`.
   */
  async take(signal?: AbortSignal, route?: string): Promise<string | undefined> {
    return (await takeFrom([this], signal, route))?.key;
  }

  /** The next key if there is one now. */
  takeNow(route?: string): string | undefined {
    if (route !== undefined && !this.#ready.has(route)) throw this.#unknownRoute(route);
    if (this.#closing === 'running') return undefined;
    const key = this.#shift(route);
    if (key === undefined) return undefined;
    const entry = this.#entries.get(key) as Entry;
    const now = this.#clock.now();
    const waitedMs = now - (entry.ready?.since ?? now);
    entry.ready = undefined;
    entry.startedAt = now;
    entry.ownWakeAt = NEVER;
    this.#schedule(key, entry);
    this.#running.add(key);
    this.#settings.metrics?.started?.(key, waitedMs);
    return key;
  }

  /** A worker gives its key back and says what becomes of it. */
  done(key: string, verdict: Verdict): void {
    const entry = this.#entries.get(key);
    if (entry?.startedAt === undefined) {
      throw new ReeveError('QUEUE_NOT_TAKEN', `queue ${this.name}: ${key} is with no worker`, { subjects: [key] });
    }
    const now = this.#clock.now();
    this.#settings.metrics?.finished?.(key, now - entry.startedAt);
    entry.startedAt = undefined;
    this.#running.delete(key);
    this.#judge(key, entry, verdict, now);
    const runsAgain = entry.isDirty || verdict.next === 'again';
    entry.isDirty = false;
    if (runsAgain && (this.#closing === undefined || this.#closing === 'ready')) {
      if (entry.notBefore > now && verdict.next === 'retry')
        this.#own(key, entry, Math.min(entry.ownWakeAt, entry.notBefore));
      else this.#makeReady(key, entry);
    }
    this.#forgetIdle(key, entry);
    this.#noticeIdle();
  }

  /** How often a key failed in a row. */
  failures(key: string): number {
    return this.#entries.get(key)?.failures ?? 0;
  }

  /** True if the key is with a worker and was added since: what the worker works on is old. */
  isDirty(key: string): boolean {
    return this.#entries.get(key)?.isDirty ?? false;
  }

  /**
   * Takes nothing in any more and resolves when no worker has a key: with the keys that were still out when the signal
   * gave up. What is delayed is dropped: whoever starts next lists everything anyway.
   */
  async close(options: CloseOptions = {}): Promise<readonly string[]> {
    this.#closing ??= options.finish ?? 'running';
    this.#delays.clear();
    this.#alarm?.cancel.abort();
    this.#alarm = undefined;
    if (this.#isDrained()) this.#takers.closeAll();
    const { signal } = options;
    if (!this.#isIdle() && !signal?.aborted) {
      await new Promise<void>((resolve) => {
        this.#whenIdle.push(resolve);
        signal?.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    return [...this.#running];
  }

  stats(): QueueStats {
    const now = this.#clock.now();
    const depths = this.#settings.lanes.map(({ name }, lane): [string, number] => {
      let depth = 0;
      for (const share of this.#ready.values()) depth += share.depths()[lane] ?? 0;
      return [name, depth];
    });
    const ran = [...this.#running].map((key) => now - (this.#entries.get(key)?.startedAt ?? now));
    return {
      depth: Object.fromEntries(depths),
      routes: Object.fromEntries([...this.#ready].map(([route, share]) => [route, share.size])),
      delayed: this.#delays.size,
      running: ran.length,
      unfinishedMs: ran.reduce((sum, ms) => sum + ms, 0),
      longestRunningMs: ran.reduce((most, ms) => Math.max(most, ms), 0),
    };
  }

  /** @internal For `takeFrom`: true when nothing will ever come from here again. */
  get isExhausted(): boolean {
    return this.#isDrained();
  }

  /** @internal */
  get takers(): Takers {
    return this.#takers;
  }

  #judge(key: string, entry: Entry, verdict: Verdict, now: number): void {
    if (verdict.next !== 'retry') {
      entry.failures = 0;
      entry.notBefore = 0;
      if (!entry.isDirty) entry.lane = this.#settings.lanes.length - 1; // only a failed key keeps its urgency
      if (this.#closing !== undefined) return;
      if (verdict.next === 'at') this.#own(key, entry, verdict.wakeAt);
      else if (verdict.next === 'after') this.#own(key, entry, now + verdict.ms);
      return;
    }
    this.#fail(key, entry, now);
  }

  #fail(key: string, entry: Entry, now: number): void {
    entry.failures++;
    const delayMs = backoffMs(entry.failures, this.#settings.backoff, this.#random.next());
    entry.notBefore = now + Math.min(delayMs, this.#settings.eagerMs);
    this.#settings.metrics?.retried?.(key, entry.failures, delayMs);
    if (this.#closing === undefined) this.#own(key, entry, now + delayMs);
  }

  #own(key: string, entry: Entry, time: number): void {
    // A time that is no number would never come, and the key would be lost.
    entry.ownWakeAt = Number.isNaN(time) ? this.#clock.now() : time;
    this.#schedule(key, entry);
  }

  #ask(key: string, entry: Entry, time: number): void {
    entry.askedWakeAt = Math.min(entry.askedWakeAt, time);
    this.#schedule(key, entry);
  }

  #schedule(key: string, entry: Entry): void {
    const at = Math.min(entry.ownWakeAt, entry.askedWakeAt);
    if (at === NEVER) this.#delays.delete(key);
    else this.#delays.set(key, at);
    this.#setAlarm();
  }

  #setAlarm(): void {
    const at = this.#delays.nextAt;
    // An alarm that rings too early is harmless; cancelling it each time a key is taken is not free.
    if (at === undefined || (this.#alarm && this.#alarm.at <= at)) return;
    this.#alarm?.cancel.abort('an earlier alarm'); // without a reason an exception is made for it
    const alarm = { at, cancel: new AbortController() };
    this.#alarm = alarm;
    const ms = Math.min(LONGEST_SLEEP_MS, Math.max(0, at - this.#clock.now()));
    this.#clock.sleep(ms, alarm.cancel.signal).then(
      () => {
        if (this.#alarm !== alarm) return;
        this.#alarm = undefined;
        this.#wakeDue();
      },
      () => undefined, // cancelled: an earlier alarm or the end
    );
  }

  #wakeDue(): void {
    const now = this.#clock.now();
    for (let key = this.#delays.popDue(now); key !== undefined; key = this.#delays.popDue(now)) {
      const entry = this.#entries.get(key) as Entry;
      entry.ownWakeAt = entry.ownWakeAt <= now ? NEVER : entry.ownWakeAt;
      entry.askedWakeAt = entry.askedWakeAt <= now ? NEVER : entry.askedWakeAt;
      this.#schedule(key, entry);
      if (entry.startedAt !== undefined) entry.isDirty = true;
      else if (!entry.ready) this.#makeReady(key, entry);
    }
    this.#setAlarm();
  }

  #makeReady(key: string, entry: Entry): void {
    const route = this.#settings.routeOf(key);
    const share = this.#ready.get(route);
    if (!share) {
      // Not given to a worker that is not meant for it, and not lost either: asked again later, and told.
      this.#settings.metrics?.misrouted?.(key, route);
      this.#fail(key, entry, this.#clock.now());
      return;
    }
    const ticket = share.push(key, entry.lane, this.#settings.groupOf(key));
    entry.ready = { route, ticket, since: this.#clock.now() };
    this.#settings.metrics?.added?.(key, this.#laneName(entry.lane));
    this.#takers.offer(this, route);
  }

  #moveUp(key: string, entry: Entry, lane: number): void {
    const { route, ticket, since } = entry.ready as NonNullable<Entry['ready']>;
    const share = this.#ready.get(route) as FairShare;
    share.remove(ticket);
    entry.lane = lane;
    entry.ready = { route, ticket: share.push(key, lane, ticket.group), since };
  }

  #shift(route: string | undefined): string | undefined {
    if (route !== undefined) return this.#ready.get(route)?.shift();
    // A worker for everything serves the routes in turn.
    const shares = [...this.#ready.values()];
    for (let i = 0; i < shares.length; i++) {
      const key = shares[(this.#rotation + i) % shares.length]?.shift();
      if (key === undefined) continue;
      this.#rotation = (this.#rotation + i + 1) % shares.length;
      return key;
    }
    return undefined;
  }

  #entryOf(key: string, lane: number): Entry {
    let entry = this.#entries.get(key);
    if (!entry) {
      entry = {
        lane,
        ready: undefined,
        startedAt: undefined,
        isDirty: false,
        failures: 0,
        notBefore: 0,
        ownWakeAt: NEVER,
        askedWakeAt: NEVER,
      };
      this.#entries.set(key, entry);
    }
    return entry;
  }

  #forgetIdle(key: string, entry: Entry): void {
    const isWaiting = entry.ready !== undefined || Math.min(entry.ownWakeAt, entry.askedWakeAt) < NEVER;
    if (!isWaiting && entry.startedAt === undefined) this.#entries.delete(key);
  }

  #isDrained(): boolean {
    if (this.#closing === undefined) return false;
    if (this.#closing === 'running') return true;
    // A key that is out may come back for one more run.
    return this.#isIdle();
  }

  #isIdle(): boolean {
    if (this.#running.size > 0) return false;
    return this.#closing === 'running' || [...this.#ready.values()].every((share) => share.size === 0);
  }

  #noticeIdle(): void {
    if (this.#closing === undefined || !this.#isIdle()) return;
    this.#takers.closeAll();
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #laneOf(options: AddOptions): number {
    const { lanes } = this.#settings;
    if (options.lane === undefined) return lanes.length - 1;
    const index = lanes.findIndex(({ name }) => name === options.lane);
    if (index < 0) {
      throw new ReeveError('QUEUE_LANE_UNKNOWN', `queue ${this.name} has no lane ${options.lane}`);
    }
    return index;
  }

  #laneName(lane: number): string {
    return this.#settings.lanes[lane]?.name ?? '';
  }

  #unknownRoute(route: string): ReeveError {
    return new ReeveError('QUEUE_ROUTE_UNKNOWN', `queue ${this.name} has no route ${JSON.stringify(route)}`);
  }
}

/**
 * The next key of any of these queues; of several that have one, the first named. No key can be lost between two of them: a taker that waits at
 * several queues is answered by one. Undefined when all are closed and empty.
 */
export async function takeFrom(
  queues: readonly WorkQueue[],
  signal?: AbortSignal,
  route?: string,
): Promise<Taken<WorkQueue> | undefined> {
  signal?.throwIfAborted();
  for (const queue of queues) {
    const key = queue.takeNow(route);
    if (key !== undefined) return { queue, key };
  }
  const open = queues.filter((queue) => !queue.isExhausted);
  if (open.length === 0) return undefined;
  return Takers.wait(open, signal, route);
}
