/**
 * Which of two resource versions of one kind is newer. They are integers that may grow beyond 2^53 (and since
 * Kubernetes 1.35 are promised to be comparable, KEP-5504): compared by length, then by digits, no conversion.
 */
const integer = /^(?:0|[1-9]\d*)$/;

/** Negative, 0 or positive as `a` is older, equal or newer; undefined when it cannot be told. */
export function compareVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!integer.test(a) || !integer.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

/**
 * Whether `a` is surely at least as new as `b`. Fails open: what cannot be compared counts as new enough, because holding
 * back every event of a server with odd versions would be worse than believing it.
 */
export function isAtLeast(a: string, b: string): boolean {
  return (compareVersions(a, b) ?? 0) >= 0;
}
