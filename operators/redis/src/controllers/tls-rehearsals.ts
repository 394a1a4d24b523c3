/**
 * Rehearsals of what somebody offers to the servers of one cluster. Each takes signatures, and a cluster is looked at every few seconds:
 * what came of the last one counts for a minute. Losing it costs a rehearsal.
 */
import { hash } from 'node:crypto';
import { canonicalJson } from '@reeve/runtime';
import type { Certificates, TlsParts } from '../api/certificates.ts';
import { doubtProblem } from '../plan/tls-doubts.ts';
import type { Rehearsed } from '../plan/tls-offer.ts';

interface Rehearsing {
  readonly held: TlsParts | undefined;
  readonly offered: TlsParts;
  readonly servername: string;
}

const FRESH_MS = 60_000;

export class Rehearsals {
  #last: { readonly of: string; readonly at: number; readonly rehearsed: Rehearsed } | undefined;

  async of(
    certificates: Pick<Certificates, 'rehearse'>,
    { held, offered, servername }: Rehearsing,
    now: number,
  ): Promise<Rehearsed> {
    // Whole: what it stands for is somebody's, who must not find two that have the same.
    const of = hash('sha256', canonicalJson({ held: held ?? null, offered, servername }), 'hex');
    const last = this.#last;
    if (last?.of === of && Math.abs(now - last.at) < FRESH_MS) return last.rehearsed;
    const rehearsed = await rehearse(certificates, { held, offered, servername });
    this.#last = { of, at: now, rehearsed };
    return rehearsed;
  }
}

async function rehearse(
  certificates: Pick<Certificates, 'rehearse'>,
  { held, offered, servername }: Rehearsing,
): Promise<Rehearsed> {
  const ofOffered = await certificates.rehearse(offered, offered, servername);
  // It is refused already.
  if (!held || doubtProblem(ofOffered, servername)) return { offered: ofOffered };
  const [ofHeld, between] = [await certificates.rehearse(held, held), await certificates.rehearse(held, offered)];
  return { offered: ofOffered, held: ofHeld, between };
}
