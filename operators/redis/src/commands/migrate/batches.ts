/** How many keys go out with one MIGRATE, and how long it may take: it blocks both servers meanwhile. */
import type { Pace } from '../../api/commands.ts';
import { isMovedAlone, type SizedKey } from './big-keys.ts';
import type { BatchLimit } from './throttle.ts';

/** MIGRATE's own timeout is for each step on the wire, in which the source serves nobody: far below the node timeout. */
const SHARE_OF_NODE_TIMEOUT = 0.4;
const LONGEST_STEP_MS = 5_000;
const SHORTEST_STEP_MS = 100;
/** On top of the step timeout, for the answer to get through: after this the outcome is unknown. */
export const CALL_MARGIN_MS = 20_000;

export function stepTimeoutMs(nodeTimeoutMs: number): number {
  const share = Math.floor(nodeTimeoutMs * SHARE_OF_NODE_TIMEOUT);
  return Math.min(LONGEST_STEP_MS, Math.max(SHORTEST_STEP_MS, share));
}

/** Batches by bytes; keys that go alone come last. The limits are asked for each batch: they adapt on the way. */
export function* batches(
  sized: readonly SizedKey[],
  pace: Pace,
  limitNow: () => BatchLimit,
): Generator<readonly SizedKey[]> {
  const alone = sized.filter(({ bytes }) => isMovedAlone(bytes, pace));
  const together = sized.filter(({ bytes }) => !isMovedAlone(bytes, pace));
  let at = 0;
  while (at < together.length) {
    const limit = limitNow();
    let bytes = 0;
    const from = at;
    do {
      bytes += together[at]?.bytes ?? 0;
      at++;
    } while (at < together.length && at - from < limit.keys && bytes + (together[at]?.bytes ?? 0) <= limit.bytes);
    yield together.slice(from, at);
  }
  for (const one of alone) yield [one];
}
