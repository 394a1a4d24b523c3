/**
 * How hard a migration may press the servers. `gentle` keeps the latency of clients: one step at a time on each server,
 * also where several migrations share it; batches that block the servers for about a millisecond; rests that grow when a
 * server answers a PING late. `fast` keeps source and target busy all the time.
 */
import type { Pace } from '../../api/commands.ts';
import type { NodeRef } from '../../api/view.ts';
import { Line } from './line.ts';
import type { Migration } from './migration.ts';

export interface BatchLimit {
  readonly keys: number;
  readonly bytes: number;
}

export interface Pacing {
  /** Windows at work at the same time: while one moves keys, another is opened or handed over. */
  readonly windows: number;
  /** Whether the slots of a window are emptied all at once or one after the other. */
  readonly slotsAtOnce: boolean;
  /** Slots that are opened and handed over together. */
  slotsPerWindow(): number;
  limit(): BatchLimit;
  /** Runs all that a window needs. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Runs one MIGRATE when its turn has come. */
  run<T>(migrate: () => Promise<T>): Promise<T>;
  /** Runs another step that the servers feel when its turn has come. */
  step<T>(work: () => Promise<T>): Promise<T>;
  /** The step in which so many slots change hands. */
  handOver<T>(slots: number, work: () => Promise<T>): Promise<T>;
}

/** A crash leaves at most so many slots open for each pair: 64 at the gentle pace, 128 at the fast one. */
const LARGEST_WINDOW = 64;
const FAST_WINDOWS = 2;

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
  readonly windows = FAST_WINDOWS;
  readonly slotsAtOnce = true;
  readonly #waiting: (() => void)[] = [];
  #free = FAST_IN_FLIGHT;

  alone<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }

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

  slotsPerWindow(): number {
    return LARGEST_WINDOW;
  }

  step<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }

  handOver<T>(_slots: number, work: () => Promise<T>): Promise<T> {
    return work();
  }
}

/** What a batch should block the servers for; clients wait at most about that much longer. */
const BLOCK_MS = 1;
const SMALLEST_KEYS = 4;
const LARGEST_KEYS = 500;
const FIRST_KEYS = 16;
const SMALLEST_BYTES = 8_000;
const LARGEST_BYTES = 1_000_000;
const FIRST_BYTES = 32_000;

/** Rest after a step, in multiples of its duration: a server is left alone for two thirds of the time. */
const LEAST_REST = 2;
const MOST_REST = 16;
/** However slow the servers answer: a rest of this length, and the move goes on. A busy machine must not bring it to a stop. */
const LONGEST_REST_MS = 50;
const PROBE_EVERY_MS = 100;
/** A PING that takes this much longer than the quickest one seen means that clients wait, too. */
const LATE_MS = 3;
/** Timers are no finer than this: shorter rests are saved up. */
const SHORTEST_SLEEP_MS = 1;

/** Different sizes at the start, to learn from. */
const FIRST_WINDOWS: readonly number[] = [4, 2, 6, 1];
const SMALLEST_WINDOW = 2;
/** What the slots of a window may cost the nodes together when they change hands. */
const HAND_OVER_MS = 0.25;

class Gentle implements Pacing {
  readonly windows = 1;
  readonly slotsAtOnce = false;
  readonly #migration: Migration;
  #keys = FIRST_KEYS;
  #bytes = FIRST_BYTES;
  #rest = LEAST_REST;
  #owed = 0;
  #probedAt = Number.NEGATIVE_INFINITY;
  readonly #quickest = new Map<string, number>();
  #turn: Promise<unknown> = Promise.resolve();
  readonly #handOvers = new Line();
  #handedOver = 0;
  #lastWindow = SMALLEST_WINDOW;

  constructor(migration: Migration) {
    this.#migration = migration;
  }

  alone<T>(work: () => Promise<T>): Promise<T> {
    const { context, command } = this.#migration;
    return context.turns.take([command.source.id, command.target.id], work);
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

  /**
   * On some servers every slot that changes hands costs all nodes a look through all slots (some 60 µs on Redis 7), in one
   * go for all slots of a window, and other pairs hand over at the same time. On others it costs next to nothing beside
   * the write of nodes.conf that a window needs anyway. So the cost of a slot is learnt.
   */
  slotsPerWindow(): number {
    const first = FIRST_WINDOWS[this.#handedOver];
    if (first !== undefined) return first;
    const perSlot = this.#handOvers.perPart();
    // Always the same size teaches nothing: now and then one of half the size.
    if (perSlot === undefined) return Math.max(SMALLEST_WINDOW, Math.floor(this.#lastWindow / 2));
    if (perSlot <= 0) return LARGEST_WINDOW;
    return Math.min(LARGEST_WINDOW, Math.max(SMALLEST_WINDOW, Math.round(HAND_OVER_MS / perSlot)));
  }

  handOver<T>(slots: number, work: () => Promise<T>): Promise<T> {
    return this.#inTurn(work, (took) => {
      this.#handedOver++;
      this.#lastWindow = slots;
      this.#handOvers.learn(slots, took);
    });
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
        const rest = Math.min(LONGEST_REST_MS, this.#owed);
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
