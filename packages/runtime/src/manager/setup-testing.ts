/** What managers, controllers and agents are given where it is not what the test is about. */
import type { BudgetRates } from '../client/budget.ts';
import type { Files, Ids } from '../ports/ports.ts';

/** `prefix-1`, `prefix-2` …, counted over all prefixes. */
export function countingIds(): Ids {
  let count = 0;
  return { next: (prefix) => `${prefix}-${++count}` };
}

const unlimited = { perSecond: 1e6, burst: 1e6 };

/** Nobody waits for its turn. */
export const unlimitedRates: Omit<BudgetRates, 'lease'> = {
  write: unlimited,
  delete: unlimited,
  read: unlimited,
  event: unlimited,
};

const refused = () => Promise.reject(new Error('there are no files here'));

/** For whoever must not touch any. */
export const noFiles: Files = { read: refused, write: refused, append: refused, remove: refused };
