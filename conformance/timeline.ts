/**
 * Which step wrote at a time. No two steps that write share a second, so that a time of a server, which knows seconds,
 * belongs to one step of a case. What is compared is the step: a server that keeps a time which it should have changed
 * differs, and so does one that changes what it should have kept, or sorts by times otherwise. The two servers need not
 * be asked in the same second for that.
 */
interface Span {
  readonly step: number;
  /** The second in which it began. */
  readonly from: number;
}

/** Older or later than that, a time is one that a case sent. */
const A_DAY = 24 * 60 * 60;

const secondOf = (ms: number): number => Math.floor(ms / 1000);

export class Timeline {
  readonly #spans: Span[] = [];
  /** The last second in which something may have been written. */
  #written: number;
  #now: number;

  /** @param now when everything was there that the case needs; milliseconds since 1970, as all of them. */
  constructor(now: number) {
    this.#written = secondOf(now);
    this.#now = secondOf(now);
  }

  /** Before that no step that writes may begin. */
  get next(): number {
    return (this.#written + 1) * 1000;
  }

  begin(step: number, now: number): void {
    if (secondOf(now) <= this.#written) throw new Error(`step ${step} begins in the second of the one before it`);
    this.#spans.push({ step, from: secondOf(now) });
    this.#now = secondOf(now);
  }

  /** An answer has come. */
  passed(now: number, wrote: boolean): void {
    this.#now = secondOf(now);
    if (wrote) this.#written = this.#now;
  }

  /** @returns undefined if it is no time of today. What is done in the background belongs to the step before it. */
  told(second: number): string | undefined {
    if (Math.abs(second - this.#now) > A_DAY) return undefined;
    if (second > this.#now) return 'a time to come';
    const span = this.#spans.findLast(({ from }) => from <= second);
    return span === undefined ? 'a time before' : `the time of step ${span.step}`;
  }
}
