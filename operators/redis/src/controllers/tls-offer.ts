/**
 * Certificates that somebody else keeps (`tls.mode: secret`). Servers do not mount that Secret but one of ours, which is given what the
 * other one has when that locks nobody out: a Secret that is mounted reaches servers whenever they start, and takes nobody's advice.
 */
import type { DeepReadonly, Refusal, Waiting } from '@reeve/runtime';
import type { Reconcile } from '@reeve/runtime/manager';
import type { Certificates, TlsParts } from '../api/certificates.ts';
import { type RedisClusterObject, type Secret, secrets } from '../api/kinds.ts';
import { excessOf } from '../api/pem-limits.ts';
import { isSame, offerVerdict, takenDigest, uselessness } from '../plan/tls-offer.ts';
import { lostTls } from './tls-lost.ts';
import type { Rehearsals } from './tls-rehearsals.ts';
import { findSecret, tlsAccessOf, tlsSecret } from './tls-secret.ts';

type Work = Reconcile<RedisClusterObject>;

export interface Offer {
  /** The Secret that somebody else keeps, and ours. */
  readonly from: string;
  readonly secretName: string;
  /** The name that clients of ours ask for. */
  readonly servername: string;
  readonly certificates: Certificates;
  readonly rehearsals: Rehearsals;
  /** Names of the pods whose servers may live and were not seen to show the certificate of a fingerprint. */
  podsWithout(fingerprint: string): readonly string[];
}

export interface Taken {
  /** What servers have. */
  readonly secret: DeepReadonly<Secret> | undefined;
  readonly refused?: Refusal;
  /** Who must show what was taken last before there is more. */
  readonly waitingFor?: Waiting;
  /** Nothing is offered, and nothing was. */
  readonly missing?: string;
}

export async function takenTls(work: Work, offer: Offer): Promise<Taken> {
  const { from, secretName, certificates, servername } = offer;
  if (from === secretName) {
    const missing = `secret ${from} is what the operator gives to servers: keep it under another name`;
    return { secret: undefined, missing };
  }
  const present = await findSecret(work, secretName);
  if (present && !isOurs(work, present, certificates)) {
    const message = `secret ${secretName} does not belong to this cluster, and is not written over: it is the name of what its servers are given`;
    return { secret: undefined, refused: { code: 'TLS_TAKEN_FOREIGN', message, subjects: [secretName] } };
  }
  const held = tlsAccessOf(present, servername);
  const offered = tlsAccessOf(await findSecret(work, from), servername);
  if (!offered) {
    const missing = `secret ${from} has not all of tls.crt, tls.key and ca.crt`;
    if (!held) return { secret: undefined, missing };
    return { secret: present, refused: { code: 'TLS_UNFIT', message: missing, subjects: [from] } };
  }
  if (held && isSame(held, offered)) return { secret: present };
  const given = held && present;
  const useless = uselessness(offered, certificates);
  if (useless) return { secret: given, refused: named(from, useless) };
  const rehearsed = await offer.rehearsals.of(certificates, { held, offered, servername }, work.now());
  const take = () => give(work, offer, offered, present?.metadata.uid);
  // With what breaks a rehearsal nobody is asked either.
  const isLost = !held && rehearsed.offered.broken === undefined;
  const lost = isLost ? await lostTls(work, offer, offered) : undefined;
  // What they have already is not judged anew.
  if (lost?.was === 'same') return { secret: await take() };
  const verdict = offerVerdict({ held, offered, servername, rehearsed, now: work.now() }, certificates);
  if (verdict.is === 'refused') return { secret: given, refused: named(from, verdict.refused) };
  if (lost?.was === 'other') return { secret: given, refused: named(from, lost.refused) };
  // One step at a time: who has not read the last one yet might neither know the authority of the next one nor be known by it.
  const late = verdict.is === 'next' ? offer.podsWithout(verdict.after) : [];
  return late.length > 0 ? { secret: given, waitingFor: stepWait(from, late) } : { secret: await take() };
}

/** Exactly the Secret that was found, or none: who made one of this name in between keeps it. */
function give(
  work: Work,
  { from, secretName }: Offer,
  { cert, key, ca }: TlsParts,
  uid: string | undefined,
): Promise<DeepReadonly<Secret>> {
  work.events.normal('CertificateTaken', `servers are given what secret ${from} has`, 'Tls');
  const parts = { 'tls.crt': cert, 'tls.key': key, 'ca.crt': ca };
  const { metadata, ...rest } = tlsSecret(secretName, work.object.metadata.name, parts);
  const exact = { ...rest, metadata: { ...metadata, ...(uid !== undefined && { uid }) } };
  return work.apply(secrets, exact, { force: uid !== undefined });
}

/** This very cluster made it; or a person brought a copy back of exactly what that had. Its key is not in what the status knows. */
export function isOurs(
  { object }: Pick<Work, 'object'>,
  secret: DeepReadonly<Secret>,
  certificates: Pick<Certificates, 'fits'>,
): boolean {
  const { ownerReferences = [] } = secret.metadata;
  if (ownerReferences.some(({ uid }) => uid === object.metadata.uid)) return true;
  const parts = tlsAccessOf(secret, '');
  if (!parts || excessOf(parts) !== undefined || takenDigest(parts) !== object.status?.tls?.taken) return false;
  return certificates.fits(parts.cert, parts.key);
}

function stepWait(from: string, late: readonly string[]): Waiting {
  const more = late.length > 5 ? ` and ${late.length - 5} more` : '';
  const message = `${late.slice(0, 5).join(', ')}${more} to show the certificate that servers were given last, before they are given what secret ${from} has`;
  return { reason: 'CertificateStep', message, subjects: late.slice(0, 16) };
}

function named(from: string, { code, message, subjects }: Refusal): Refusal {
  return { code, message: `secret ${from}: ${message}`, subjects: subjects.length > 0 ? subjects : [from] };
}
