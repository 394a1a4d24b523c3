/**
 * The ports through which everything that is not pure reaches the outside world.
 * Production passes the `system*` implementations; the simulation passes its own.
 * Nothing in any `src` folder may use a bare clock, timer or random source (lint holds this).
 */

/** Time. `now()` is milliseconds since the epoch and never goes back within one process. */
export interface Clock {
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason if it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Randomness: `next()` is uniform in [0, 1). */
export interface Random {
  next(): number;
}

/** Unique names for operations and journals. */
export interface Ids {
  next(prefix: string): string;
}

/** The few things done with files. Every path is the caller's; writes are durable when the promise resolves. */
export interface Files {
  /** The text of a file, or undefined if there is none. */
  read(path: string): Promise<string | undefined>;
  /** Replaces a file as a whole (write beside, fsync, rename); mode 0600. */
  write(path: string, text: string): Promise<void>;
  /** Appends to a file, fsynced before it resolves; mode 0600. */
  append(path: string, text: string): Promise<void>;
  remove(path: string): Promise<void>;
}

export interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly files: Files;
}
