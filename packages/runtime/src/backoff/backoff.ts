/** How long to wait after the n-th failure in a row. Pure: randomness is an argument, so that a step function can use it. */
export interface BackoffOptions {
  /** The wait after the first failure, without jitter. */
  readonly baseMs: number;
  /** By how much each further failure multiplies it. */
  readonly factor: number;
  /** The longest wait, jitter included: a limit that people were told is a limit. */
  readonly capMs: number;
  /**
   * Which share is random: the wait is drawn from [d, d × (1 + jitter)). Must be above 0: what failed together must not
   * come back together.
   */
  readonly jitter: number;
}

/** What work queues have always used (client-go), with the jitter it lacks. */
export const queueBackoff: BackoffOptions = { baseMs: 5, factor: 2, capMs: 1_000_000, jitter: 0.2 };

/** What client-go's reflector uses towards an API server. */
export const reflectorBackoff: BackoffOptions = { baseMs: 800, factor: 2, capMs: 30_000, jitter: 1 };

/** `failures` counts from 1; `random` is uniform in [0, 1). */
export function backoffMs(failures: number, options: BackoffOptions, random: number): number {
  if (failures <= 0) return 0;
  // A power beyond the cap would become Infinity for a key that failed for weeks.
  const plain = Math.min(options.capMs, options.baseMs * options.factor ** Math.min(failures - 1, 1_000));
  const jittered = plain * (1 + options.jitter * random);
  // At the cap the jitter goes downwards, else all that wait longest would wait equally long.
  return jittered <= options.capMs ? jittered : options.capMs / (1 + options.jitter * random);
}
