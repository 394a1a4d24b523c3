/** Which errors pass by themselves, and how long to wait for that. */
import { ReeveError } from '@reeve/runtime';
import { RedisReplyError } from '../../api/port.ts';
import type { RedisContext } from '../context.ts';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

/**
 * Words of error replies that say "not now": a cluster that is just finding its state, a slot in between, a replica
 * that did not confirm in time (Valkey 8 and later let SETSLOT wait for replicas), a server that loads or runs a script.
 */
const PASSING = /\b(?:TRYAGAIN|CLUSTERDOWN|LOADING|MASTERDOWN|BUSY|NOREPLICAS|UNBLOCKED)\b/;

export function passes(error: unknown): boolean {
  return error instanceof RedisReplyError && PASSING.test(error.message);
}

/** Nobody knows whether the server did it, or it certainly did not: in both cases it did not say no. */
export function isSilence(error: unknown): boolean {
  return (
    error instanceof ReeveError &&
    (error.code === 'REDIS_TIMEOUT' || error.code === 'REDIS_CONNECTION_LOST' || error.code === 'REDIS_UNREACHABLE')
  );
}

/** Growing pauses with jitter, a bounded number of them. */
export class Patience {
  readonly #context: RedisContext;
  readonly #most: number;
  #tries = 0;

  constructor(context: RedisContext, most: number) {
    this.#context = context;
    this.#most = most;
  }

  get tries(): number {
    return this.#tries;
  }

  /** False when there were enough tries; otherwise true after a pause. */
  async again(): Promise<boolean> {
    if (this.#tries >= this.#most) return false;
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#tries);
    this.#tries++;
    await this.#context.clock.sleep(pause * (0.5 + this.#context.random.next() / 2));
    return true;
  }

  /** Something went forward: the next trouble is a new one. */
  reset(): void {
    this.#tries = 0;
  }
}
