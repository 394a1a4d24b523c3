/**
 * Tells people what happened, as Kubernetes Events. `record` never waits and never throws: events are the first thing a busy server
 * may do without. The same thing again is counted in a series, an object that has too much to say is cut short, and what cannot be
 * written is dropped and counted. An event keeps the words that it began with, so it is counted on only by what says the same.
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
   * How many different events an object may have at once, and how often one more. Default 100, and one every minute. Beyond that it is
   * still told of each further reason once: who has said much of one thing must not be silent about another.
   */
  readonly burst?: number;
  readonly refillMs?: number;
  /**
   * How many times the same may be told in other words at once, and how often once more. Default 20, and once every 5 min; a quarter of
   * what the object has is left for what else there may be. What comes faster is held back, and told by its newest words.
   */
  readonly wordings?: number;
  readonly rewordMs?: number;
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

interface Bucket {
  tokens: number;
  at: number;
}

/** The same, in whatever words. */
interface Topic {
  /** What was told last. */
  latest: Series;
  readonly bucket: Bucket;
}

/** Other words of a topic that have no room yet: the newest of them. */
interface Held {
  occurrence: Occurrence;
  count: number;
  lastAt: number;
}

const MOST_FAILURES = 5;
const RETRY_MS = 5_000;

export class EventRecorder implements AsyncDisposable {
  readonly #ports: { readonly clock: Clock; readonly ids: Ids };
  readonly #api: Api;
  readonly #options: Required<Omit<RecorderOptions, 'dropped'>> & Pick<RecorderOptions, 'dropped'>;
  readonly #series = new Map<string, Series>();
  readonly #topics = new Map<string, Topic>();
  /** By topic. */
  readonly #held = new Map<string, Held>();
  readonly #spam = new Map<string, Bucket>();
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
      burst: 100,
      refillMs: 60_000,
      wordings: 20,
      rewordMs: 300_000,
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
    const told = this.#topics.get(topic);
    const before = this.#runningOne(told?.latest, now);
    if (known) {
      known.count++;
      known.lastAt = now;
      known.isBack ||= known !== before;
      if (told) told.latest = known;
    } else if (before) {
      const held = this.#held.get(topic);
      this.#held.set(topic, { occurrence, count: (held?.count ?? 0) + 1, lastAt: now });
      this.#tellHeld(now);
    } else {
      const refusal = this.#refusalOf(occurrence, now);
      if (refusal !== undefined) return this.#options.dropped?.(refusal);
      this.#begin({ key, topic }, occurrence, { at: now, count: this.#takeHeld(topic, key) + 1 });
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
    for (const [topic, held] of this.#held) this.#beginHeld(topic, held);
    for (const series of this.#series.values()) {
      if (series.written < series.count && !limit.signal.aborted) await this.#write(series);
    }
    this.#series.clear();
    this.#topics.clear();
  }

  #runningOne(series: Series | undefined, now: number): Series | undefined {
    return series && now - series.lastAt < this.#options.seriesMs ? series : undefined;
  }

  /** Why no further series may begin; if one may, it is paid for. */
  #refusalOf(occurrence: Occurrence, now: number): 'full' | 'spam' | undefined {
    if (this.#series.size >= this.#options.room) return 'full';
    const of = objectOf(occurrence);
    const bucket = this.#bucketOf(of, now);
    if (bucket.tokens < 1) return this.#isNewReason(of, occurrence.reason) ? undefined : 'spam';
    bucket.tokens--;
    return undefined;
  }

  #bucketOf(object: string, now: number): Bucket {
    const { burst, refillMs } = this.#options;
    const bucket = this.#spam.get(object) ?? { tokens: burst, at: now };
    this.#spam.set(object, bucket);
    return refilled(bucket, now, burst, refillMs);
  }

  /** Those whose time has come. */
  #tellHeld(now: number): void {
    const { room, wordings, rewordMs } = this.#options;
    for (const [topic, held] of this.#held) {
      if (this.#heldUntil(topic, held, now) > now) continue;
      if (this.#series.size >= room) {
        this.#held.delete(topic);
        this.#options.dropped?.('full');
        continue;
      }
      this.#bucketOf(objectOf(held.occurrence), now).tokens--;
      const bucket = this.#topics.get(topic)?.bucket;
      if (bucket) refilled(bucket, now, wordings, rewordMs).tokens--;
      this.#beginHeld(topic, held);
    }
  }

  #heldUntil(topic: string, { occurrence }: Held, now: number): number {
    const { burst, refillMs, wordings, rewordMs } = this.#options;
    const object = this.#bucketOf(objectOf(occurrence), now);
    const words = this.#topics.get(topic)?.bucket;
    const missing = words ? 1 - refilled(words, now, wordings, rewordMs).tokens : 0;
    const wait = Math.max(missing * rewordMs, (1 + burst / 4 - object.tokens) * refillMs);
    return now + Math.max(0, Math.ceil(wait));
  }

  /** How often these words were held back: they must not begin a second time. Other words keep their own time. */
  #takeHeld(topic: string, key: string): number {
    const held = this.#held.get(topic);
    if (!held || seriesKey(held.occurrence) !== key) return 0;
    this.#held.delete(topic);
    return held.count;
  }

  #beginHeld(topic: string, { occurrence, count, lastAt }: Held): void {
    this.#held.delete(topic);
    this.#begin({ key: seriesKey(occurrence), topic }, occurrence, { at: lastAt, count });
  }

  /** Not among the reasons of the series that run, as long as these are not too many for any reader. */
  #isNewReason(object: string, reason: string): boolean {
    const told = [...this.#series.values()].filter(({ event }) => objectOf(event) === object);
    const reasons = new Set(told.map(({ event }) => event.reason));
    return !reasons.has(reason) && reasons.size < this.#options.burst;
  }

  #begin(
    of: Pick<Series, 'key' | 'topic'>,
    { note, regarding, related, ...what }: Occurrence,
    { at, count }: { readonly at: number; readonly count: number },
  ): void {
    const { reportingController, reportingInstance } = this.#options;
    const suffix = this.#ports.ids.next('e');
    const event = {
      // Events about objects without namespace live in `default`, by custom.
      metadata: { name: eventName(regarding, suffix), namespace: regarding.namespace ?? 'default' },
      eventTime: microTimestamp(at),
      reportingController,
      reportingInstance: reportingInstance.slice(0, 128),
      ...what,
      note: clippedNote(note),
      regarding,
      ...(related && { related }),
    };
    const unwritten = { written: 0, writtenAt: Number.NEGATIVE_INFINITY, failures: 0, isBack: false };
    const series = { ...of, event, count, lastAt: at, ...unwritten };
    this.#series.set(of.key, series);
    const topic = this.#topics.get(of.topic);
    // Of words that were held back others may have come again since.
    if (topic && topic.latest.lastAt <= at) topic.latest = series;
    if (!topic) this.#topics.set(of.topic, { latest: series, bucket: { tokens: this.#options.wordings - 1, at } });
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      this.#tellHeld(this.#ports.clock.now());
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
    if (this.#topics.get(series.topic)?.latest === series) this.#topics.delete(series.topic);
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
    for (const [topic, held] of this.#held) next = Math.min(next, this.#heldUntil(topic, held, now));
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

function refilled(bucket: Bucket, now: number, burst: number, refillMs: number): Bucket {
  bucket.tokens = Math.min(burst, bucket.tokens + (now - bucket.at) / refillMs);
  bucket.at = now;
  return bucket;
}
