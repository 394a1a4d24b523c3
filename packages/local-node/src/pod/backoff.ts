/** How long a container that ended waits before it runs again. */
import { type Instance, LOST_REASON, PUT_AWAY } from '../shim/instance.ts';
import { CHANGED } from './progress.ts';

export interface RestartBackoff {
  /** Default 10 s. The first restart is at once. */
  readonly firstMs: number;
  /** Default 5 min. */
  readonly mostMs: number;
  /** A run this long makes good for the ones before it. Default 10 min. */
  readonly resetMs: number;
}

export const restartBackoff: RestartBackoff = { firstMs: 10_000, mostMs: 300_000, resetMs: 600_000 };

/** Ends that are no failure of the program. */
const BLAMELESS: readonly (string | undefined)[] = [CHANGED, PUT_AWAY];

/** Also of a run that went with its machine, or had succeeded there and is done again. */
function isBlameless({ stop, end, isPast }: Instance): boolean {
  return BLAMELESS.includes(stop?.why) || (isPast === true && (end?.code === 0 || end?.reason === LOST_REASON));
}

/** Of the next run, counted from the end of this one. */
export function restartDelay(ended: Instance, { firstMs, mostMs, resetMs }: RestartBackoff): number {
  if (ended.attempt === 0 || isBlameless(ended)) return 0;
  const ran = (ended.end?.at ?? 0) - (ended.startedAt ?? 0);
  if (ran >= resetMs) return 0;
  return ended.delayMs === 0 ? firstMs : Math.min(mostMs, ended.delayMs * 2);
}

export function restartAt(ended: Instance, backoff: RestartBackoff): number {
  return (ended.end?.at ?? 0) + restartDelay(ended, backoff);
}
