/**
 * Whether servers may be given what somebody put into the Secret of their certificates. They read it one after the other: those that have
 * and those that have not must believe each other at every moment, and so must the operator. Pure.
 */
import type { Refusal } from '@reeve/runtime';
import type { Certificates } from '../api/certificates.ts';

/** PEM texts. */
export interface TlsParts {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

type Judge = Pick<Certificates, 'read' | 'isTrusted' | 'fits'>;

/** Undefined: they may. `held`: what they have. Without it, or when that has ended, there is nobody to lock out. */
export function offerProblem(
  held: TlsParts | undefined,
  offered: TlsParts,
  judge: Judge,
  now: number,
): Refusal | undefined {
  const facts = judge.read(offered.cert);
  if (!facts) return refusal('TLS_UNFIT', 'tls.crt is no certificate');
  if (facts.from > now)
    return refusal('TLS_UNFIT', `the certificate is not good before ${new Date(facts.from).toISOString()}`);
  if (facts.until <= now)
    return refusal('TLS_UNFIT', `the certificate ended at ${new Date(facts.until).toISOString()}`);
  if (!judge.fits(offered.cert, offered.key)) return refusal('TLS_UNFIT', 'tls.key is not the key of tls.crt');
  if (!judge.isTrusted(offered.cert, offered.ca)) {
    return refusal('TLS_UNFIT', 'tls.crt was signed by no authority of ca.crt: servers would not believe each other');
  }
  const before = held && judge.read(held.cert);
  if (!held || !before || before.until <= now) return undefined;
  if (before.fingerprint === facts.fingerprint) {
    const message = 'ca.crt or tls.key is another one, and tls.crt is the same: nobody could see who has read it';
    return isSame(held, offered) ? undefined : refusal('TLS_NOT_RENEWED', message);
  }
  if (!judge.isTrusted(held.cert, offered.ca)) {
    const message =
      'ca.crt has not the authority of the certificate that servers show now: whoever read it would not believe the others';
    return refusal('TLS_AUTHORITY_DROPPED', message);
  }
  if (!judge.isTrusted(offered.cert, held.ca)) {
    const message =
      'tls.crt was signed by an authority that servers were not told to trust: they would not believe the first that shows it';
    return refusal('TLS_AUTHORITY_UNKNOWN', message);
  }
  return undefined;
}

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

function refusal(code: string, message: string): Refusal {
  return { code, message, subjects: [] };
}
