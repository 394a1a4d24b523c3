/**
 * Whether servers may be given what somebody put into the Secret of their certificates. They read it one after the other: those that have
 * and those that have not must believe each other at every moment, and so must the operator. Pure.
 */
import { digest, type Refusal } from '@reeve/runtime';
import type { Certificates, Doubts, TlsParts } from '../api/certificates.ts';
import { excessOf } from '../api/pem-limits.ts';
import type { PodFacts } from './pods.ts';
import { doubtProblem, isDoubted } from './tls-doubts.ts';

type Judge = Pick<Certificates, 'read' | 'isTrusted' | 'fits'>;

/** What those who have it think of each other. */
export interface Rehearsed {
  /** Servers that have what is offered, called on by their name. */
  readonly offered: Doubts;
  /** Servers that have what was taken last, among themselves. Not tried, like the next, if what is offered is doubted already. */
  readonly held?: Doubts;
  /** A server that has what was taken last, called on by one that has what is offered. */
  readonly between?: Doubts;
}

export interface OfferFacts {
  /** What servers have. */
  readonly held: TlsParts | undefined;
  readonly offered: TlsParts;
  /** By which the operator and agents know servers. */
  readonly servername: string;
  readonly rehearsed: Rehearsed;
  readonly now: number;
}

export type OfferVerdict =
  | { readonly is: 'good' }
  /** Good when all servers show the certificate of this fingerprint. */
  | { readonly is: 'next'; readonly after: string }
  | { readonly is: 'refused'; readonly refused: Refusal };

const GOOD: OfferVerdict = { is: 'good' };

export function offerVerdict(facts: OfferFacts, judge: Judge): OfferVerdict {
  const { held, offered, rehearsed, now } = facts;
  const unfit = unfitness(facts, judge);
  if (unfit) return { is: 'refused', refused: unfit };
  const before = held && judge.read(held.cert);
  // When it has ended, or an authority behind it has, there is nobody left to lock out.
  if (!held || !before || before.until <= now) return GOOD;
  // Somebody damaged it: no server could begin with it, and what they run with is something else. Whatever can be used is better.
  if (!judge.fits(held.cert, held.key)) return GOOD;
  // What cannot be tried (a key that is too large, a damaged ca.crt) is judged by signatures: it breaks each rehearsal.
  const isTried = rehearsed.held?.broken === undefined;
  if (isDoubted(isTried ? (rehearsed.held ?? {}) : bySignatures(held, held, judge))) return GOOD;
  if (before.fingerprint === judge.read(offered.cert)?.fingerprint) {
    const message = 'ca.crt or tls.key is another one, and tls.crt is the same: nobody could see who has read it';
    return isSame(held, offered) ? GOOD : refused('TLS_NOT_RENEWED', message);
  }
  const { ofClient, ofServer, broken } = isTried ? (rehearsed.between ?? {}) : bySignatures(held, offered, judge);
  if (ofClient !== undefined) {
    const message =
      'ca.crt has no good authority of the certificate that servers show now: whoever read it would not believe the others';
    return refused('TLS_AUTHORITY_DROPPED', message);
  }
  if (ofServer !== undefined) {
    const message =
      'tls.crt was signed by an authority that servers were not told to trust: they would not believe the first that shows it';
    return refused('TLS_AUTHORITY_UNKNOWN', message);
  }
  if (broken !== undefined) {
    return refused('TLS_UNFIT', `servers that have read it and servers that have not would not meet (${broken})`);
  }
  return isPlainRenewal(held, offered, judge) ? GOOD : { is: 'next', after: before.fingerprint };
}

/** Why it is nothing that a server or a client could use, whatever others think of it. Asked before anything is tried with it. */
export function uselessness(offered: TlsParts, judge: Pick<Judge, 'read' | 'fits'>): Refusal | undefined {
  const excess = excessOf(offered);
  if (excess !== undefined) return refusal('TLS_UNFIT', excess);
  if (!judge.read(offered.cert)) return refusal('TLS_UNFIT', 'tls.crt is no certificate');
  if (!judge.fits(offered.cert, offered.key)) return refusal('TLS_UNFIT', 'tls.key is not the key of tls.crt');
  return undefined;
}

/** What is wrong with it whatever servers have. */
function unfitness({ offered, servername, rehearsed, now }: OfferFacts, judge: Judge): Refusal | undefined {
  const useless = uselessness(offered, judge);
  const facts = useless ? undefined : judge.read(offered.cert);
  if (!facts) return useless;
  const time = (ms: number) => new Date(ms).toISOString();
  if (facts.from > now) return refusal('TLS_UNFIT', `the certificate is not good before ${time(facts.from)}`);
  if (facts.until <= now) return refusal('TLS_UNFIT', `the certificate ended at ${time(facts.until)}`);
  return doubtProblem(rehearsed.offered, servername);
}

/** Whether an authority that the other side knows has signed. */
function bySignatures(server: TlsParts, client: TlsParts, judge: Pick<Judge, 'isTrusted'>): Doubts {
  return {
    ...(!judge.isTrusted(server.cert, client.ca) && { ofClient: UNSIGNED }),
    ...(!judge.isTrusted(client.cert, server.ca) && { ofServer: UNSIGNED }),
  };
}

const UNSIGNED = 'UNABLE_TO_VERIFY_LEAF_SIGNATURE';

/**
 * The same authorities are trusted, and the same of them signed: whoever has read neither this nor the last one is believed, and believes.
 * Else each server must have read the last one first.
 */
export function isPlainRenewal(held: TlsParts, offered: TlsParts, judge: Pick<Judge, 'isTrusted'>): boolean {
  const authorities = held.ca.match(CERTIFICATE) ?? [];
  return (
    held.ca === offered.ca &&
    authorities.every((one) => judge.isTrusted(held.cert, one) === judge.isTrusted(offered.cert, one))
  );
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g;

export function isSame(a: TlsParts, b: TlsParts): boolean {
  return a.cert === b.cert && a.key === b.key && a.ca === b.ca;
}

/** By which what servers were given is known again when it is gone. A certificate has one key: that need not be in it. */
export function takenDigest({ cert, ca }: TlsParts): string {
  return digest({ cert, ca });
}

/** Pods whose servers may live and were not seen to show a certificate. Silent ones may live, too: only one without a process cannot be locked out. */
export function podsWithout(
  fingerprint: string,
  pods: readonly PodFacts[],
  shown: ReadonlyMap<string, string>,
): readonly string[] {
  const isDead = ({ isReady, server }: PodFacts) => !isReady && (server === 'down' || server === 'unstarted');
  return pods.filter((pod) => !isDead(pod) && shown.get(pod.uid) !== fingerprint).map(({ name }) => name);
}

function refused(code: string, message: string): OfferVerdict {
  return { is: 'refused', refused: refusal(code, message) };
}

function refusal(code: string, message: string): Refusal {
  return { code, message, subjects: [] };
}
