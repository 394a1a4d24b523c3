/**
 * Whether an agent is heard of, judged from its member's Lease. Pure. Only the manager's own clock counts, and only that a lease changed:
 * never the times in it, nor how long it says that it lasts.
 */
import type { LeaseObject } from '@reeve/runtime';

/** How often an agent renews its lease. */
const TURN_MS = 10_000;
/** So many turns of silence, and it is lost. */
export const LOST_AFTER_TURNS = 3;

/** What the manager remembers of a lease. */
export interface LeaseSight {
  /** Who held it, and which renewal it was. */
  readonly mark: string;
  /** When this was first seen, by the manager's clock. */
  readonly since: number;
  readonly hasHolder: boolean;
  /** It was seen to change: somebody lives who holds it. What is only found may be what a dead agent left. */
  readonly isRenewed: boolean;
}

export type Presence =
  /** No lease was seen: nothing can be said. */
  | { readonly is: 'unknown' }
  /** There is a lease, and no agent ever held it. */
  | { readonly is: 'awaited'; readonly silentMs: number }
  /** `isProved`: seen to renew it; else it may have been silent before anybody looked. */
  | { readonly is: 'heard'; readonly silentMs: number; readonly isProved: boolean }
  | { readonly is: 'lost'; readonly silentMs: number };

/** Call with every state of a lease that is read or told; keep what it gives back. */
export function seeLease(before: LeaseSight | undefined, { metadata, spec }: LeaseObject, now: number): LeaseSight {
  const { holderIdentity = '', renewTime = '' } = spec ?? {};
  const mark = `${metadata.uid ?? ''} ${holderIdentity} ${renewTime}`;
  if (before?.mark === mark) return before;
  return { mark, since: now, hasHolder: holderIdentity !== '', isRenewed: before !== undefined };
}

export function presenceOf(sight: LeaseSight | undefined, now: number): Presence {
  if (!sight) return { is: 'unknown' };
  const silentMs = Math.max(0, now - sight.since);
  if (!sight.hasHolder) return { is: 'awaited', silentMs };
  if (silentMs >= LOST_AFTER_TURNS * TURN_MS) return { is: 'lost', silentMs };
  return { is: 'heard', silentMs, isProved: sight.isRenewed };
}

/** By one look and the times in the lease: for showing only. Clocks differ, and a dead agent's last renewal may be young. */
export function presenceByClock(lease: LeaseObject | undefined, now: number): Presence {
  if (!lease) return { is: 'unknown' };
  const { holderIdentity = '', renewTime = '' } = lease.spec ?? {};
  const since = Date.parse(renewTime);
  const sight = { mark: '', since: Number.isNaN(since) ? 0 : since, hasHolder: holderIdentity !== '', isRenewed: true };
  return presenceOf(sight, now);
}

/** When an agent that is heard of will be lost if it stays silent; undefined when nothing will change by waiting. */
export function lostAt(sight: LeaseSight | undefined, now: number): number | undefined {
  return sight && presenceOf(sight, now).is === 'heard' ? sight.since + LOST_AFTER_TURNS * TURN_MS : undefined;
}
