import type { Ids } from '@reeve/runtime';

/** Names in the order they were asked for: `journal-1`, `run-2`. Unique over all lives of all processes of a run. */
export function countedIds(): Ids {
  let last = 0;
  return { next: (prefix) => `${prefix}-${++last}` };
}
