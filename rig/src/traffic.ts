/**
 * Writers and readers that run against a cluster all the time, through a client that handles redirects as documented:
 * MOVED (go there, remember), ASK (ASKING, once), TRYAGAIN and CLUSTERDOWN (a little later), a broken connection (ask
 * others where the slot is now). Only what is left after that is an error.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { RedirectingClient, type Retries } from './redirecting-client.ts';
import type { Access, Endpoint, Reply } from './servers/connection.ts';

export interface Latency {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface Regression {
  readonly key: string;
  /** The number of the write that was acknowledged before the read began, and of the one that was read (0: nothing). */
  readonly acknowledged: number;
  readonly read: number;
}

export interface TrafficResult {
  /** Last acknowledged value of each key. A key whose last write got no answer is left out: both values are right then. */
  readonly acknowledged: Map<string, string>;
  /** With `waitMs`: the last value of each key that was known to be at a replica, too, when it was acknowledged. */
  readonly replicated: ReadonlyMap<string, string>;
  readonly writes: number;
  readonly reads: number;
  /** What was left after redirects and retries were handled as documented. */
  readonly errors: readonly string[];
  /** A read that gave an older value than one acknowledged before the read began. */
  readonly regressions: readonly Regression[];
  /** When each of the last acknowledged writes was acknowledged (performance.now()). */
  readonly acknowledgedAt: ReadonlyMap<string, number>;
  readonly retries: Retries;
  readonly latency: { readonly writes: Latency; readonly reads: Latency };
}

export interface TrafficOptions {
  readonly access?: Access;
  /** Number of different keys. Default 2000. */
  readonly keys?: number;
  readonly keyPrefix?: string;
  readonly valueBytes?: number;
  /** Writers at once, each with keys of its own. Default 4, and as many readers. */
  readonly writers?: number;
  readonly readers?: number;
  /** Pause after each operation of each writer and reader, so that the machine is not full. Default 1 ms. */
  readonly pauseMs?: number;
  /** Each write is followed by `WAIT 1` for so long: a replica that has it cannot lose it by taking over. Default: no. */
  readonly waitMs?: number;
  /** How long one operation is tried before it counts as an error. Default 15 s. */
  readonly patienceMs?: number;
}

export interface Traffic {
  /** Values acknowledged until now. */
  readonly acknowledged: ReadonlyMap<string, string>;
  readonly writes: number;
  readonly errors: readonly string[];
  /** Begins a new window of latency figures, for a table of phases. */
  mark(): { readonly writes: Latency; readonly reads: Latency };
  /** Lets each client finish what it is at. */
  stop(): Promise<TrafficResult>;
  /** Breaks off at once: the test has failed already. */
  abandon(): Promise<void>;
}

export async function startTraffic(seeds: readonly Endpoint[], options: TrafficOptions = {}): Promise<Traffic> {
  const run = new Run(seeds, options);
  await run.client.refresh();
  run.start();
  return run;
}

class Run implements Traffic {
  readonly client: RedirectingClient;
  readonly acknowledged = new Map<string, string>();
  readonly errors: string[] = [];
  readonly #regressions: Regression[] = [];
  readonly #acknowledgedAt = new Map<string, number>();
  readonly #replicated = new Map<string, string>();
  readonly #unsure = new Set<string>();
  readonly #options: TrafficOptions;
  readonly #loops: Promise<void>[] = [];
  #writeTimes: number[] = [];
  #readTimes: number[] = [];
  readonly #allWriteTimes: number[] = [];
  readonly #allReadTimes: number[] = [];
  #stopped = false;
  writes = 0;
  #reads = 0;

  constructor(seeds: readonly Endpoint[], options: TrafficOptions) {
    this.#options = options;
    this.client = new RedirectingClient(seeds, options.access ?? {}, options.patienceMs ?? 15_000);
  }

  start(): void {
    const { writers = 4, readers = 4 } = this.#options;
    for (let index = 0; index < writers; index++) this.#loops.push(this.#write(index, writers));
    for (let index = 0; index < readers; index++) this.#loops.push(this.#read(index, readers));
  }

  #key(number: number): string {
    return `${this.#options.keyPrefix ?? 'traffic'}:${number}`;
  }

  /** Writer `index` owns the keys whose number is `index` modulo `of`: one key is never written by two. */
  async #write(index: number, of: number): Promise<void> {
    const { keys = 2000, valueBytes = 32, pauseMs = 1 } = this.#options;
    for (let sequence = 1; !this.#stopped; sequence++) {
      const key = this.#key((sequence % Math.floor(keys / of)) * of + index);
      const value = `${sequence}`.padEnd(valueBytes, '.');
      const began = performance.now();
      this.#unsure.add(key);
      try {
        if (await this.#set(key, value)) this.#replicated.set(key, value);
        this.acknowledged.set(key, value);
        this.#acknowledgedAt.set(key, performance.now());
        this.#unsure.delete(key);
        this.writes += 1;
      } catch (error) {
        if (!this.#stopped) this.errors.push(`SET ${key}: ${message(error)}`);
      }
      const took = performance.now() - began;
      this.#writeTimes.push(took);
      this.#allWriteTimes.push(took);
      await delay(pauseMs);
    }
  }

  /** Whether a replica is known to have it. */
  async #set(key: string, value: string): Promise<boolean> {
    const { waitMs } = this.#options;
    const set = ['SET', key, value];
    if (waitMs === undefined) {
      await this.client.command(key, set);
      return false;
    }
    const [, replicas] = await this.client.commandThen(key, set, ['WAIT', '1', String(waitMs)]);
    return Number(replicas) >= 1;
  }

  async #read(index: number, of: number): Promise<void> {
    const { keys = 2000, pauseMs = 1 } = this.#options;
    for (let number = index; !this.#stopped; number += of) {
      const key = this.#key((number * 7919) % keys);
      const known = this.acknowledged.get(key);
      const began = performance.now();
      try {
        const value = await this.client.command(key, ['GET', key]);
        if (known !== undefined && sequenceOf(value) < sequenceOf(known)) {
          this.#regressions.push({ key, acknowledged: sequenceOf(known), read: sequenceOf(value) });
        }
        this.#reads += 1;
      } catch (error) {
        if (!this.#stopped) this.errors.push(`GET ${key}: ${message(error)}`);
      }
      const took = performance.now() - began;
      this.#readTimes.push(took);
      this.#allReadTimes.push(took);
      await delay(pauseMs);
    }
  }

  mark(): { readonly writes: Latency; readonly reads: Latency } {
    const window = { writes: summarize(this.#writeTimes), reads: summarize(this.#readTimes) };
    this.#writeTimes = [];
    this.#readTimes = [];
    return window;
  }

  async abandon(): Promise<void> {
    this.#stopped = true;
    this.client.close();
    await Promise.all(this.#loops);
  }

  async stop(): Promise<TrafficResult> {
    this.#stopped = true;
    await Promise.all(this.#loops);
    this.client.close();
    const acknowledged = new Map([...this.acknowledged].filter(([key]) => !this.#unsure.has(key)));
    return {
      acknowledged,
      replicated: this.#replicated,
      writes: this.writes,
      reads: this.#reads,
      errors: this.errors,
      regressions: this.#regressions,
      acknowledgedAt: this.#acknowledgedAt,
      retries: this.client.retries,
      latency: { writes: summarize(this.#allWriteTimes), reads: summarize(this.#allReadTimes) },
    };
  }
}

function sequenceOf(value: Reply | undefined): number {
  return typeof value === 'string' ? Number.parseInt(value, 10) : 0;
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function summarize(times: readonly number[]): Latency {
  const sorted = Float64Array.from(times).sort();
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 };
}
