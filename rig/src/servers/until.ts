/** Waiting for a condition, with a deadline: never a bare sleep. */
import { setTimeout as delay } from 'node:timers/promises';

export interface UntilOptions {
  readonly timeoutMs?: number;
  readonly everyMs?: number;
}

/**
 * Asks until the answer is not undefined and not false, and gives it back. An error of the question counts as "not yet";
 * after the deadline it becomes the cause.
 */
export async function until<T>(
  what: string,
  question: () => Promise<T | undefined | false> | T | undefined | false,
  options: UntilOptions = {},
): Promise<T> {
  const { timeoutMs = 60_000, everyMs = 25 } = options;
  const end = performance.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const answer = await question();
      if (answer !== undefined && answer !== false) return answer;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    if (performance.now() >= end) {
      const why = lastError instanceof Error ? `: ${lastError.message}` : '';
      throw new Error(`not within ${timeoutMs} ms: ${what}${why}`, { cause: lastError });
    }
    await delay(everyMs);
  }
}
