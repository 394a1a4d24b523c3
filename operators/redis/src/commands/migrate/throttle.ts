/**
 * How hard a migration may press the servers. `gentle` keeps the latency of clients: one MIGRATE at a time for each pair,
 * batches that block the servers for about a millisecond, rests that grow when a server answers a PING late. `fast`
 * keeps source and target busy all the time.
 */
import type { Pace } from '../../api/commands.ts';
import type { NodeRef } from '../../api/view.ts';
import type { Migration } from './migration.ts';

export interface BatchLimit {
  readonly keys: number;
  readonly bytes: number;
}

export interface Pacing {
  /** Slots that are opened and handed over together. */
  readonly slotsPerWindow: number;
  /** Windows at work at the same time: while one moves keys, another is opened or handed over. */
  readonly windows: number;
  /** Whether the slots of a window are emptied all at once or one after the other. */
  readonly slotsAtOnce: boolean;
  limit(): BatchLimit;
  /** Runs one MIGRATE when its turn has come. */
  run<T>(migrate: () => Promise<T>): Promise<T>;
  /** Runs another step that the servers feel (SETSLOT for a window) when its turn has come. */
  step<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * A crash leaves at most slotsPerWindow × windows slots open: 8 or 128. Every slot that is handed over makes the target
 * tell all nodes, and each of them look through all slots: some 40 µs for each slot of a window, in one go. Eight of
 * them are not felt beside the write of nodes.conf that comes with them.
 */
const GENTLE = { slotsPerWindow: 8, windows: 1, slotsAtOnce: false };
const FAST = { slotsPerWindow: 64, windows: 2, slotsAtOnce: true };

export function pacingFor(pace: Pace, migration: Migration): Pacing {
  if (pace === 'gentle') return new Gentle(migration);
  return new Fast();
}

const FAST_LIMIT: BatchLimit = { keys: 1_000, bytes: 2_000_000 };
/**
 * MIGRATEs under way at once. A server runs all commands that it has read from one connection before it turns to the
 * next: a few keep it busy, a hundred would keep all other clients waiting.
 */
const FAST_IN_FLIGHT = 4;

class Fast implements Pacing {
  readonly slotsPerWindow = FAST.slotsPerWindow;
  readonly windows = FAST.windows;
  readonly slotsAtOnce = FAST.slotsAtOnce;
  readonly #waiting: (() => void)[] = [];
  #free = FAST_IN_FLIGHT;

  limit(): BatchLimit {
    return FAST_LIMIT;
  }

  async run<T>(migrate: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await migrate();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }

  step<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }
}

/** What a batch should block the servers for; clients wait at most about that much longer. */
const BLOCK_MS = 2;
const SMALLEST_KEYS = 4;
const LARGEST_KEYS = 500;
const FIRST_KEYS = 16;
const SMALLEST_BYTES = 8_000;
const LARGEST_BYTES = 1_000_000;
const FIRST_BYTES = 32_000;

/** Rest after a batch, in multiples of its duration. */
const LEAST_REST = 1.5;
const MOST_REST = 16;
const PROBE_EVERY_MS = 100;
/** A PING that takes this much longer than the quickest one seen means that clients wait, too. */
const LATE_MS = 3;
/** Timers are no finer than this: shorter rests are saved up. */
const SHORTEST_SLEEP_MS = 1;

class Gentle implements Pacing {
  readonly slotsPerWindow = GENTLE.slotsPerWindow;
  readonly windows = GENTLE.windows;
  readonly slotsAtOnce = GENTLE.slotsAtOnce;
  readonly #migration: Migration;
  #keys = FIRST_KEYS;
  #bytes = FIRST_BYTES;
  #rest = LEAST_REST;
  #owed = 0;
  #probedAt = Number.NEGATIVE_INFINITY;
  readonly #quickest = new Map<string, number>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(migration: Migration) {
    this.#migration = migration;
  }

  limit(): BatchLimit {
    return { keys: Math.floor(this.#keys), bytes: Math.floor(this.#bytes) };
  }

  run<T>(migrate: () => Promise<T>): Promise<T> {
    return this.#inTurn(migrate, (took) => this.#adapt(took));
  }

  step<T>(work: () => Promise<T>): Promise<T> {
    return this.#inTurn(work, () => undefined);
  }

  #inTurn<T>(work: () => Promise<T>, learn: (took: number) => void): Promise<T> {
    const mine = this.#turn.then(() => this.#measured(work, learn));
    this.#turn = mine.catch(() => undefined); // whoever waits for its turn does not care how the one before ended
    return mine;
  }

  async #measured<T>(work: () => Promise<T>, learn: (took: number) => void): Promise<T> {
    const { clock } = this.#migration.context;
    const began = clock.now();
    try {
      return await work();
    } finally {
      const took = clock.now() - began;
      learn(took);
      await this.#probe();
      this.#owed += took * this.#rest;
      if (this.#owed >= SHORTEST_SLEEP_MS) {
        const rest = this.#owed;
        this.#owed = 0;
        await clock.sleep(rest);
      }
    }
  }

  /** Halved at once when a batch took too long, grown slowly when there is room. */
  #adapt(took: number): void {
    const factor = took > 1.5 * BLOCK_MS ? 0.5 : took < 0.75 * BLOCK_MS ? 1.2 : 1;
    this.#keys = Math.min(LARGEST_KEYS, Math.max(SMALLEST_KEYS, this.#keys * factor));
    this.#bytes = Math.min(LARGEST_BYTES, Math.max(SMALLEST_BYTES, this.#bytes * factor));
  }

  async #probe(): Promise<void> {
    const { clock } = this.#migration.context;
    if (clock.now() - this.#probedAt < PROBE_EVERY_MS) return;
    this.#probedAt = clock.now();
    const { source, target } = this.#migration.command;
    const late = Math.max(...(await Promise.all([this.#lateness(source), this.#lateness(target)])));
    this.#rest = late > LATE_MS ? Math.min(MOST_REST, this.#rest * 2) : Math.max(LEAST_REST, this.#rest * 0.8);
  }

  async #lateness(node: NodeRef): Promise<number> {
    const { clock, redis } = this.#migration.context;
    const began = clock.now();
    try {
      await redis.call(node.endpoint, ['PING']);
    } catch {
      return Number.POSITIVE_INFINITY; // what is wrong shows in the next command that matters
    }
    const took = clock.now() - began;
    const quickest = Math.min(took, this.#quickest.get(node.id) ?? took);
    this.#quickest.set(node.id, quickest);
    return took - quickest;
  }
}
