/**
 * The way of an agent to servers, made anew when the files of its password or of its certificates have changed: an agent runs for years,
 * and what it read at its start ends before that.
 */
import type { ConnectOptions, RedisPort } from '@reeve/redis';
import { type Clock, digest } from '@reeve/runtime';

export interface FreshRedisOptions {
  /** How servers are reached, by the files as they are now. */
  read(): Promise<ConnectOptions>;
  connect(options: ConnectOptions): RedisPort;
  /** Told of what went wrong and is tried again. */
  failed(message: string): void;
}

const LOOK_EVERY_MS = 30_000;
/** Longer than any call waits for its answer. */
const LET_GO_MS = 600_000;

interface Retired {
  readonly port: RedisPort;
  readonly since: number;
}

export class FreshRedis implements RedisPort {
  readonly #clock: Clock;
  readonly #options: FreshRedisOptions;
  #port: RedisPort;
  #access: string;
  #retired: readonly Retired[] = [];

  static async open(clock: Clock, options: FreshRedisOptions): Promise<FreshRedis> {
    return new FreshRedis(clock, options, await options.read());
  }

  private constructor(clock: Clock, options: FreshRedisOptions, first: ConnectOptions) {
    this.#clock = clock;
    this.#options = options;
    this.#port = options.connect(first);
    this.#access = digest(first);
  }

  readonly call: RedisPort['call'] = (...given) => this.#port.call(...given);
  readonly reads: RedisPort['reads'] = (...given) => this.#port.reads(...given);
  readonly transaction: RedisPort['transaction'] = (...given) => this.#port.transaction(...given);
  readonly migrateAuth: RedisPort['migrateAuth'] = () => this.#port.migrateAuth();

  async close(): Promise<void> {
    const all = [this.#port, ...this.#retired.map(({ port }) => port)];
    this.#retired = [];
    await Promise.all(all.map((port) => port.close()));
  }

  /** Follows the files until the signal aborts. */
  async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(LOOK_EVERY_MS, signal).catch(() => undefined);
      if (!signal.aborted) await this.#look();
    }
  }

  async #look(): Promise<void> {
    const { read, connect, failed } = this.#options;
    try {
      await this.#letGo();
      const [options, again] = [await read(), await read()];
      const access = digest(options);
      // Files are replaced while they are read: what is the same twice belongs together.
      if (access === this.#access || access !== digest(again)) return;
      const next = connect(options);
      this.#retired = [...this.#retired, { port: this.#port, since: this.#clock.now() }];
      [this.#port, this.#access] = [next, access];
    } catch (error) {
      failed(`files of password and certificates: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** What was asked on it comes to its end there. */
  async #letGo(): Promise<void> {
    const isOver = ({ since }: Retired) => this.#clock.now() - since >= LET_GO_MS;
    const over = this.#retired.filter(isOver);
    this.#retired = this.#retired.filter((one) => !isOver(one));
    await Promise.all(over.map(({ port }) => port.close()));
  }
}
