/** For work that may take its time on a machine where others may not wait. */
import { readdirSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/**
 * Lets every other process of this machine go first, from now on: servers that share it with us do not wait for us.
 * There is no way back without special rights. Where the system does not let us, all stays as it was.
 */
export function giveWay(): void {
  for (const thread of threads()) {
    try {
      // Somebody may have put us further back already.
      if (getPriority(thread) >= constants.priority.PRIORITY_BELOW_NORMAL) continue;
      setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
    } catch {
      // One that ended since, or a sandbox that forbids it: not worth failing for.
    }
  }
}

/** On Linux a priority belongs to a thread: the ones that compile and collect garbage have their own. 0 is this process. */
function threads(): readonly number[] {
  try {
    return readdirSync('/proc/self/task').map(Number);
  } catch {
    return [0];
  }
}
