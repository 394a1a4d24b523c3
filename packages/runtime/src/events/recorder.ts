/**
 * Tells people what happened, as Kubernetes Events. `record` never waits and never throws: events are the first thing a busy server
 * may do without. The same thing again is counted in a series, an object that has too much to say is cut short, and what cannot be
 * written is dropped and counted.
 */
import type { Api } from '../client/api.ts';
import { microTimestamp } from '../conditions/conditions.ts';
import { deadline } from '../ports/deadline.ts';
import type { Clock, Ids } from '../ports/ports.ts';
import { failureOf } from '../reflector/port.ts';
import { clippedNote, eventName, type KubeEvent, kubeEvents, type Occurrence, seriesKey, topicKey } from './event.ts';

export interface RecorderOptions {
  /** `redis.reeve.dev/cluster-controller`. */
  readonly reportingController: string;
  /** The process: a pod's name. */
  readonly reportingInstance: string;
  /** After so long without a further one a series is over. Default 6 min. */
  readonly seriesMs?: number;
  /** A running series is written at most this often. Default 60 s. */
  readonly refreshMs?: number;
  /** The same of one that is told again after other words of the same: people should see that it is the newest. Default 10 s. */
  readonly returnMs?: number;
  /**
   * How many different events an object may have at once, and how often one more. Default 25, and one every 5 min. Beyond that it is
   * still told of each further reason once: who has said much of one thing must not be silent about another. Further words of what is
   * told already may take half of it, and are counted with the words before beyond that.
   */
  readonly burst?: number;
  readonly refillMs?: number;
  /** How many may wait to be written. Default 1,000. */
  readonly room?: number;
  /** How long the end may take to write what is left. Default 5 s. */
  readonly flushMs?: number;
  dropped?(why: 'spam' | 'full' | 'failed'): void;
}

interface Series {
  readonly key: string;
  readonly topic: string;
  readonly event: KubeEvent & { readonly metadata: { readonly name: string; readonly namespace: string } };
  count: number;
  lastAt: number;
  /** How many of them the server knows of; 0: the event is not there yet. */
  written: number;
  writtenAt: number;
  failures: number;
  /** It was told again after other words of the same, and the server does not know yet. */
  isBack: boolean;
}

const MOST_FAILURES = 5;
const RETRY_MS = 5_000;

export class EventRecorder implements AsyncDisposable {
  readonly #ports: { readonly clock: Clock; readonly ids: Ids };
  readonly #api: Api;
  readonly #options: Required<Omit<RecorderOptions, 'dropped'>> & Pick<RecorderOptions, 'dropped'>;
  readonly #series = new Map<string, Series>();
  /** What was told last, by topic. */
  readonly #latest = new Map<string, Series>();
  readonly #spam = new Map<string, { tokens: number; at: number }>();
  readonly #stop = new AbortController();
  readonly #giveUp = new AbortController();
  #running: Promise<void> | undefined;
  #wake: AbortController | undefined;
  #forgetAt = 0;

  constructor(ports: { readonly clock: Clock; readonly ids: Ids }, api: Api, options: RecorderOptions) {
    this.#ports = ports;
    this.#api = api;
    const defaults = {
      seriesMs: 360_000,
      refreshMs: 60_000,
      returnMs: 10_000,
      burst: 25,
      refillMs: 300_000,
      room: 1_000,
      flushMs: 5_000,
    };
    this.#options = { ...defaults, ...options };
  }

  /** How many objects it remembers for having had something to say. */
  get remembered(): number {
    return this.#spam.size;
  }

  record(occurrence: Occurrence): void {
    if (this.#stop.signal.aborted) return;
    const now = this.#ports.clock.now();
    const key = seriesKey(occurrence);
    const topic = topicKey(occurrence);
    const known = this.#runningOne(this.#series.get(key), now);
    const before = this.#runningOne(this.#latest.get(topic), now);
    if (known) {
      this.#count(known, now);
      known.isBack ||= known !== before;
      this.#latest.set(topic, known);
    } else {
      const refusal = this.#refusalOf(occurrence, now, before ? this.#options.burst / 2 : 0);
      if (refusal === undefined) {
        const series = this.#begin({ key, topic }, occurrence, now);
        this.#series.set(key, series);
        this.#latest.set(topic, series);
      } else if (before) this.#count(before, now);
      else return this.#options.dropped?.(refusal);
    }
    this.#running ??= this.#run();
    this.#wake?.abort();
  }

  /** Writes what is left, once, and ends. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#wake?.abort();
    using limit = deadline(this.#ports.clock, this.#options.flushMs, () => new Error('no time left'));
    limit.signal.addEventListener('abort', () => this.#giveUp.abort(limit.signal.reason), { once: true });
    await this.#running;
    for (const series of this.#series.values()) {
      if (series.written < series.count && !limit.signal.aborted) await this.#write(series);
    }
    this.#series.clear();
    this.#latest.clear();
  }

  #runningOne(series: Series | undefined, now: number): Series | undefined {
    return series && now - series.lastAt < this.#options.seriesMs ? series : undefined;
  }

  #count(series: Series, now: number): void {
    series.count++;
    series.lastAt = now;
  }

  /** Why no further series may begin; if one may, it is paid for. `spare` is to be left. */
  #refusalOf(occurrence: Occurrence, now: number, spare: number): 'full' | 'spam' | undefined {
    const { burst, refillMs, room } = this.#options;
    if (this.#series.size >= room) return 'full';
    const of = objectOf(occurrence);
    const bucket = this.#spam.get(of) ?? { tokens: burst, at: now };
    bucket.tokens = Math.min(burst, bucket.tokens + (now - bucket.at) / refillMs);
    bucket.at = now;
    this.#spam.set(of, bucket);
    if (bucket.tokens < spare + 1) return this.#isNewReason(of, occurrence.reason) ? undefined : 'spam';
    bucket.tokens--;
    return undefined;
  }

  /** Not among the reasons of the series that run, as long as these are not too many for any reader. */
  #isNewReason(object: string, reason: string): boolean {
    const told = [...this.#series.values()].filter(({ event }) => objectOf(event) === object);
    const reasons = new Set(told.map(({ event }) => event.reason));
    return !reasons.has(reason) && reasons.size < this.#options.burst;
  }

  #begin(of: Pick<Series, 'key' | 'topic'>, { note, regarding, related, ...what }: Occurrence, now: number): Series {
    const { reportingController, reportingInstance } = this.#options;
    const suffix = this.#ports.ids.next('e');
    const event = {
      // Events about objects without namespace live in `default`, by custom.
      metadata: { name: eventName(regarding, suffix), namespace: regarding.namespace ?? 'default' },
      eventTime: microTimestamp(now),
      reportingController,
      reportingInstance: reportingInstance.slice(0, 128),
      ...what,
      note: clippedNote(note),
      regarding,
      ...(related && { related }),
    };
    const unwritten = { written: 0, writtenAt: Number.NEGATIVE_INFINITY, failures: 0, isBack: false };
    return { ...of, event, count: 1, lastAt: now, ...unwritten };
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      for (const series of [...this.#series.values()]) {
        if (this.#stop.signal.aborted) return;
        if (this.#isDue(series)) await this.#write(series);
        this.#endIfOver(series);
      }
      this.#forgetSpam();
      await this.#pause();
    }
  }

  #isDue(series: Series): boolean {
    const since = this.#ports.clock.now() - series.writtenAt;
    if (series.written === 0 && series.failures === 0) return true;
    if (series.written === series.count && series.failures === 0) return false;
    return since >= this.#pauseOf(series);
  }

  /** Between two writes of it. */
  #pauseOf({ failures, isBack }: Series): number {
    if (failures > 0) return RETRY_MS;
    return isBack ? this.#options.returnMs : this.#options.refreshMs;
  }

  #endIfOver(series: Series): void {
    const isOver = this.#ports.clock.now() - series.lastAt >= this.#options.seriesMs;
    if (isOver && series.written === series.count) this.#forget(series);
  }

  #forget(series: Series): void {
    if (this.#series.get(series.key) === series) this.#series.delete(series.key);
    if (this.#latest.get(series.topic) === series) this.#latest.delete(series.topic);
  }

  async #pause(): Promise<void> {
    const { clock } = this.#ports;
    const now = clock.now();
    let next = now + this.#options.seriesMs;
    for (const series of this.#series.values()) {
      if (this.#isDue(series)) return; // came while the others were written
      const isBehind = series.written < series.count;
      next = Math.min(
        next,
        isBehind ? series.writtenAt + this.#pauseOf(series) : series.lastAt + this.#options.seriesMs,
      );
    }
    const wake = new AbortController();
    this.#wake = wake;
    if (this.#stop.signal.aborted) return;
    await clock.sleep(Math.max(1, next - now), wake.signal).catch(() => undefined); // something to write
    this.#wake = undefined;
  }

  async #write(series: Series): Promise<void> {
    const { event, count, isBack } = series;
    const api = this.#api.resource(kubeEvents, event.metadata.namespace);
    const now = this.#ports.clock.now();
    const repeated = { series: { count, lastObservedTime: microTimestamp(series.lastAt) } };
    const { signal } = this.#giveUp;
    series.writtenAt = now;
    series.isBack = false; // unless it comes back meanwhile
    try {
      if (series.written === 0) await api.create(count > 1 ? { ...event, ...repeated } : event, { signal });
      else await api.patch(event.metadata.name, { type: 'merge', value: repeated }, { signal });
      series.written = count;
      series.failures = 0;
    } catch (error) {
      const { status } = failureOf(error);
      series.failures++;
      series.isBack ||= isBack;
      if (status === 404 && series.written > 0)
        series.written = 0; // the server forgot it: it begins anew
      else if (status === 409) series.written = count; // it is there: only the answer was lost
      const isHopeless = status !== undefined && status >= 400 && status < 500 && ![404, 409, 429].includes(status);
      if (!isHopeless && series.failures < MOST_FAILURES) return;
      this.#forget(series);
      this.#options.dropped?.('failed');
    }
  }

  /** Objects that have long been quiet have all their tokens back: nothing to remember. Looked at as often as that can be. */
  #forgetSpam(): void {
    const { burst, refillMs } = this.#options;
    const now = this.#ports.clock.now();
    if (now < this.#forgetAt) return;
    this.#forgetAt = now + refillMs;
    for (const [of, { tokens, at }] of this.#spam) {
      if (tokens + (now - at) / refillMs >= burst) this.#spam.delete(of);
    }
  }
}

function objectOf({ regarding }: Pick<Occurrence, 'regarding'>): string {
  return regarding.uid ?? `${regarding.namespace}/${regarding.name}`;
}
