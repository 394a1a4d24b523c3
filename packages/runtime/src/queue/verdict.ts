/** What becomes of a key after a worker had it. A change that came meanwhile runs it again in any case. */
export type Verdict =
  /** Nothing more to do; the failures so far are forgotten. */
  | { readonly next: 'done' }
  /** Again after this long; not a failure. */
  | { readonly next: 'after'; readonly ms: number }
  /** Again at this time of the clock; not a failure. */
  | { readonly next: 'at'; readonly wakeAt: number }
  /** Again as soon as its turn comes; not a failure (it was cancelled because something newer is there). */
  | { readonly next: 'again' }
  /** It failed: again with backoff. */
  | { readonly next: 'retry' };

export const finished: Verdict = { next: 'done' };
export const again: Verdict = { next: 'again' };
export const retry: Verdict = { next: 'retry' };

export function requeueAfter(ms: number): Verdict {
  return { next: 'after', ms };
}

export function wakeAt(time: number): Verdict {
  return { next: 'at', wakeAt: time };
}
