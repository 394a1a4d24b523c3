/** What it means that those who have a certificate would not believe each other, in words that say what to do. Pure. */
import type { Refusal } from '@reeve/runtime';
import type { Doubts } from '../api/certificates.ts';

/** That the certificate itself is good now is judged before: these words are about those that stand behind it. */
const OF_AUTHORITIES = new Map([
  ['CERT_HAS_EXPIRED', 'an authority that stands behind tls.crt has ended'],
  ['CERT_NOT_YET_VALID', 'an authority that stands behind tls.crt is not good yet'],
  ['INVALID_CA', 'who signed tls.crt is no authority: its own certificate does not say CA:TRUE'],
  ['PATH_LENGTH_EXCEEDED', 'an authority that stands behind tls.crt may not have another one below it'],
]);

const UNSIGNED = new Set([
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_SIGNATURE_FAILURE',
]);

const WRONG_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';
const WRONG_USAGE = 'INVALID_PURPOSE';

/** Of servers that have all the same, called on by a name. Undefined: they believe each other. */
export function doubtProblem(doubts: Doubts, servername: string): Refusal | undefined {
  const { ofClient, ofServer, broken } = doubts;
  const doubt = ofClient ?? ofServer ?? broken;
  if (doubt === undefined) return undefined;
  if (doubt === WRONG_NAME) {
    const message = `tls.crt does not stand for ${servername}, the name by which the operator and agents know the servers`;
    return refusal('TLS_WRONG_NAME', message);
  }
  if (doubt === WRONG_USAGE) {
    const lacks = [ofClient === WRONG_USAGE && 'server auth', ofServer === WRONG_USAGE && 'client auth'];
    const usages = lacks.filter((usage) => usage !== false).join(' and ');
    return refusal('TLS_WRONG_USAGE', `tls.crt, or an authority behind it, may not be used for ${usages}`);
  }
  const ofAuthority = OF_AUTHORITIES.get(doubt);
  if (ofAuthority !== undefined) return refusal('TLS_AUTHORITY_UNFIT', ofAuthority);
  if (UNSIGNED.has(doubt)) {
    const message =
      'tls.crt does not lead to an authority of ca.crt that signed itself: servers would not believe each other';
    return refusal('TLS_UNFIT', message);
  }
  return refusal('TLS_UNFIT', `servers that have it would not believe each other (${doubt})`);
}

/** One of both sides looked at the other's certificate and does not believe it. */
export function isDoubted({ ofClient, ofServer }: Doubts): boolean {
  return ofClient !== undefined || ofServer !== undefined;
}

function refusal(code: string, message: string): Refusal {
  return { code, message, subjects: [] };
}
