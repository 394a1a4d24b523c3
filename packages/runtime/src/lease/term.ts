/**
 * One time of leadership, from taking the lease to losing it. A write belongs to the term in which it was decided: one of an
 * earlier term is refused also if this process leads again by then.
 */
import type { WriteTerm } from '../client/guard.ts';
import type { Clock } from '../ports/ports.ts';
import { Cancelled } from '../worker/cancelled.ts';

export interface Term extends WriteTerm {
  readonly holder: string;
  /** For whoever cannot see the lease (a database, an agent): refuse what has a lower number than one seen before. */
  readonly transitions: number;
}

export class LeaseTerm implements Term {
  readonly holder: string;
  readonly transitions: number;
  readonly #clock: Clock;
  readonly #renewMs: number;
  readonly #ended = new AbortController();
  #renewedAt: number;

  constructor(clock: Clock, of: { holder: string; transitions: number; renewMs: number; renewedAt: number }) {
    this.#clock = clock;
    this.holder = of.holder;
    this.transitions = of.transitions;
    this.#renewMs = of.renewMs;
    this.#renewedAt = of.renewedAt;
  }

  get token(): string {
    return `${this.transitions}/${this.holder}`;
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Until when a write may begin if nothing is renewed any more. */
  get validUntil(): number {
    return this.#renewedAt + this.#renewMs;
  }

  isValid(): boolean {
    return !this.#ended.signal.aborted && this.#clock.now() <= this.validUntil;
  }

  /** `at`: when the request that renewed it was about to be sent. Others begin to count when they see it, which is later. */
  renewed(at: number): void {
    this.#renewedAt = Math.max(this.#renewedAt, at);
  }

  end(reason: 'lost-lease' | 'shutdown'): void {
    this.#ended.abort(new Cancelled(reason, '*'));
  }
}

/** For managers that run alone by other means: a term that only ends with the process. */
export class SoleTerm implements Term {
  readonly holder = 'alone';
  readonly transitions = 0;
  readonly token = '0/alone';
  readonly #ended = new AbortController();

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  isValid(): boolean {
    return !this.#ended.signal.aborted;
  }

  end(reason: 'lost-lease' | 'shutdown'): void {
    this.#ended.abort(new Cancelled(reason, '*'));
  }
}
