/**
 * How many requests a process may send: a token bucket for each class of traffic. A class may use what less urgent classes have
 * left, never the other way round: a flood of writes cannot keep a lease from being renewed.
 */
import type { Transport } from '@reeve/kube';
import type { Clock } from '../ports/ports.ts';
import { classOf, type TrafficClass, trafficClasses } from './traffic.ts';

export interface Rate {
  readonly perSecond: number;
  /** How many at once after a pause. */
  readonly burst: number;
}

export type BudgetRates = Readonly<Record<TrafficClass, Rate>>;

/** Below what a server grants a service account by default; a manager that needs more says so. */
export const defaultRates: BudgetRates = {
  lease: { perSecond: 10, burst: 20 },
  delete: { perSecond: 20, burst: 50 },
  write: { perSecond: 50, burst: 100 },
  read: { perSecond: 100, burst: 200 },
  event: { perSecond: 5, burst: 50 },
};

interface Bucket {
  readonly rate: Rate;
  tokens: number;
  at: number;
  /** Those who wait for this class, first come, first served. */
  tail: Promise<void>;
}

export class Budget {
  readonly #clock: Clock;
  readonly #buckets: ReadonlyMap<TrafficClass, Bucket>;

  constructor(ports: { readonly clock: Clock }, rates: Partial<BudgetRates> = {}) {
    this.#clock = ports.clock;
    const at = ports.clock.now();
    this.#buckets = new Map(
      trafficClasses.map((one) => {
        const rate = rates[one] ?? defaultRates[one];
        return [one, { rate, tokens: rate.burst, at, tail: Promise.resolve() }];
      }),
    );
  }

  /** Waits until a request of this class may go; rejects with the signal's reason. */
  async take(of: TrafficClass, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#spend(of)) return;
    const bucket = this.#buckets.get(of) as Bucket;
    const turn = bucket.tail.then(() => this.#wait(of, bucket, signal));
    bucket.tail = turn.catch(() => undefined); // who gave up does not hold up the others
    await turn;
  }

  async #wait(of: TrafficClass, bucket: Bucket, signal: AbortSignal | undefined): Promise<void> {
    while (!this.#spend(of)) {
      const missing = 1 - bucket.tokens;
      await this.#clock.sleep(Math.max(1, (missing / bucket.rate.perSecond) * 1_000), signal);
    }
  }

  /** Own tokens first, then what the less urgent have. */
  #spend(of: TrafficClass): boolean {
    for (const one of trafficClasses.slice(trafficClasses.indexOf(of))) {
      const bucket = this.#buckets.get(one) as Bucket;
      this.#refill(bucket);
      if (bucket.tokens < 1) continue;
      bucket.tokens--;
      return true;
    }
    return false;
  }

  #refill(bucket: Bucket): void {
    const now = this.#clock.now();
    const earned = ((now - bucket.at) / 1_000) * bucket.rate.perSecond;
    bucket.tokens = Math.min(bucket.rate.burst, bucket.tokens + earned);
    bucket.at = now;
  }
}

/** A transport that keeps to a budget. Watches are not counted: they are few, and a reflector paces them itself. */
export function budgeted(
  transport: Transport,
  budget: Budget,
  waited?: (request: { readonly method: string }, ms: number) => void,
  clock?: Clock,
): Transport {
  return async (request) => {
    if (request.streaming) return transport(request);
    const began = clock?.now() ?? 0;
    await budget.take(classOf(request), request.signal);
    waited?.(request, (clock?.now() ?? 0) - began);
    return transport(request);
  };
}
