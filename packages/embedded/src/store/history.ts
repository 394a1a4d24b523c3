/** The last events, oldest first: what watchers resume from, and what turns the present back into a recent past. */
import type { Entry, StoreEvent } from './entry.ts';

export interface HistoryLimits {
  /** Events older than this may go, except for the last `leastEvents`. Default 5 minutes, as etcd of Kubernetes. */
  readonly maxAgeMs?: number;
  readonly leastEvents?: number;
  /** More than these are not kept, however young. Default 100,000 events and 64 MB of text. */
  readonly maxEvents?: number;
  readonly maxBytes?: number;
}

export class History {
  readonly #limits: Required<HistoryLimits>;
  #events: StoreEvent[] = [];
  /** Events before this index are gone; the array is cut from time to time, not for each. */
  #start = 0;
  #bytes = 0;
  /** Up to and with this revision nothing can be told any more. */
  #compacted: number;

  constructor(limits: HistoryLimits, compacted: number) {
    this.#limits = { maxAgeMs: 300_000, leastEvents: 1_000, maxEvents: 100_000, maxBytes: 64 * 1024 * 1024, ...limits };
    this.#compacted = compacted;
  }

  get compacted(): number {
    return this.#compacted;
  }

  add(event: StoreEvent): void {
    this.#events.push(event);
    this.#bytes += event.entry.body.length;
  }

  /** Drops what the limits do not keep. Returns the revisions of texts that nobody needs any more. */
  trim(now: number): number[] {
    const { maxAgeMs, leastEvents, maxEvents, maxBytes } = this.#limits;
    const size = (): number => this.#events.length - this.#start;
    const isTooMuch = (oldest: StoreEvent): boolean =>
      size() > maxEvents || this.#bytes > maxBytes || (size() > leastEvents && now - oldest.at > maxAgeMs);
    const garbage: number[] = [];
    for (let oldest = this.#events[this.#start]; oldest !== undefined; oldest = this.#events[this.#start]) {
      if (!isTooMuch(oldest)) break;
      this.#drop(oldest, garbage);
    }
    this.#shorten();
    return garbage;
  }

  /** Forgets everything up to and with `revision`. */
  compact(revision: number): number[] {
    const garbage: number[] = [];
    for (let oldest = this.#events[this.#start]; oldest !== undefined; oldest = this.#events[this.#start]) {
      if (oldest.revision > revision) break;
      this.#drop(oldest, garbage);
    }
    this.#compacted = Math.max(this.#compacted, revision);
    this.#shorten();
    return garbage;
  }

  /** Events after `revision`, oldest first. */
  since(revision: number, resource: string): StoreEvent[] {
    const found: StoreEvent[] = [];
    for (let at = this.#firstAfter(revision); at < this.#events.length; at++) {
      const event = this.#events[at] as StoreEvent;
      if (event.entry.key.resource === resource) found.push(event);
    }
    return found;
  }

  /** What the present must be changed by to be the state of `revision`. */
  undo(revision: number, resource: string): ReadonlyMap<string, Entry | undefined> {
    const undone = new Map<string, Entry | undefined>();
    for (let at = this.#events.length - 1; at >= this.#start; at--) {
      const event = this.#events[at] as StoreEvent;
      if (event.revision <= revision) break;
      if (event.entry.key.resource === resource) undone.set(event.entry.place, event.previous);
    }
    return undone;
  }

  #drop(event: StoreEvent, garbage: number[]): void {
    this.#start++;
    this.#bytes -= event.entry.body.length;
    this.#compacted = event.revision;
    if (event.previous !== undefined) garbage.push(event.previous.revision);
    if (event.deleted) garbage.push(event.revision);
  }

  #shorten(): void {
    if (this.#start < 1_000 && this.#start < this.#events.length) return;
    this.#events = this.#events.slice(this.#start);
    this.#start = 0;
  }

  #firstAfter(revision: number): number {
    let low = this.#start;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle] as StoreEvent).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
