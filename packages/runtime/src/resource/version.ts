/**
 * resourceVersions as a clock. Kubernetes 1.35 promises that those of one kind are comparable integers; they exceed 2^53, so
 * they are compared by length and then as text. What is no number cannot be compared: then callers go on as if there were
 * no clock (fail open), because refusing to work is worse than working with what the watch told.
 */
const whole = /^(?:0|[1-9][0-9]*)$/;

export function isComparable(version: string | undefined): version is string {
  return version !== undefined && whole.test(version);
}

/** Negative, 0 or positive; undefined if one of them is no number. */
export function compareVersions(a: string | undefined, b: string | undefined): number | undefined {
  if (!isComparable(a) || !isComparable(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a === b ? 0 : a < b ? -1 : 1;
}

/** True if a reader at `seen` has seen `wanted`; also if that cannot be known. */
export function hasReached(seen: string | undefined, wanted: string): boolean {
  if (seen === undefined) return !isComparable(wanted);
  const order = compareVersions(seen, wanted);
  return order === undefined || order >= 0;
}

/** True only if it is known that `a` is newer. */
export function isNewer(a: string | undefined, b: string | undefined): boolean {
  return (compareVersions(a, b) ?? 0) > 0;
}

/** The newer of two; the second if that cannot be known, because it came later. */
export function newest(before: string | undefined, now: string): string {
  return before !== undefined && isNewer(before, now) ? before : now;
}
