/**
 * Differences that are known. Each row must really be one: a row whose case has no such difference any more fails the
 * run. `by design` counts as explained; `not there yet` is a difference that is to go, and is counted as one.
 */
export interface Explanation {
  readonly area: string;
  /** The name of the case. */
  readonly case: string;
  /** The number of the step (or `*`) and the way to the value; what lies below it belongs to it. */
  readonly field: string;
  readonly why: string;
  readonly kind: 'by design' | 'not there yet';
}

export const explanations: readonly Explanation[] = [];
