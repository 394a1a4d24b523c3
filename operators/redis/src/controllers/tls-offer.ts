/**
 * Certificates that somebody else keeps (`tls.mode: secret`). Servers do not mount that Secret but one of ours, which is given what the
 * other one has when that locks nobody out: a Secret that is mounted reaches servers whenever they start, and takes nobody's advice.
 */
import type { DeepReadonly, Refusal } from '@reeve/runtime';
import type { Reconcile } from '@reeve/runtime/manager';
import type { Certificates } from '../api/certificates.ts';
import { type RedisClusterObject, type Secret, secrets } from '../api/kinds.ts';
import { isPlainRenewal, isSame, offerProblem, type TlsParts } from '../plan/tls-offer.ts';
import { findSecret, tlsAccessOf, tlsSecret } from './tls-secret.ts';

export interface Offer {
  /** The Secret that somebody else keeps, and ours. */
  readonly from: string;
  readonly secretName: string;
  readonly certificates: Certificates;
  readonly isShown: (fingerprint: string) => boolean;
}

export interface Taken {
  /** What servers have. */
  readonly secret: DeepReadonly<Secret> | undefined;
  readonly refused?: Refusal;
  /** Why there is nothing to be given. */
  readonly missing?: string;
}

export async function takenTls(work: Reconcile<RedisClusterObject>, offer: Offer): Promise<Taken> {
  const { from, secretName, certificates } = offer;
  if (from === secretName) {
    const missing = `secret ${from} is what the operator gives to servers: keep it under another name`;
    return { secret: undefined, missing };
  }
  const present = await findSecret(work, secretName);
  const [held, offered] = [partsOf(present), partsOf(await findSecret(work, from))];
  if (!offered) {
    const missing = `secret ${from} has not all of tls.crt, tls.key and ca.crt`;
    if (!held) return { secret: undefined, missing };
    return { secret: present, refused: { code: 'TLS_UNFIT', message: missing, subjects: [from] } };
  }
  if (held && isSame(held, offered)) return { secret: present };
  const problem = offerProblem(held, offered, certificates, work.now());
  if (problem) return { secret: held && present, refused: named(from, problem) };
  const before = held && certificates.read(held.cert);
  const isLive = before !== undefined && before.until > work.now();
  // One step at a time: who has not read the last one yet might neither know the authority of the next one nor be known by it.
  if (held && isLive && !isPlainRenewal(held, offered, certificates) && !offer.isShown(before.fingerprint)) {
    return { secret: present };
  }
  const parts = { 'tls.crt': offered.cert, 'tls.key': offered.key, 'ca.crt': offered.ca };
  work.events.normal('CertificateTaken', `servers are given what secret ${from} has`, 'Tls');
  return { secret: await work.apply(secrets, tlsSecret(secretName, work.object.metadata.name, parts)) };
}

function partsOf(secret: DeepReadonly<Secret> | undefined): TlsParts | undefined {
  return tlsAccessOf(secret, '');
}

function named(from: string, { code, message }: Refusal): Refusal {
  return { code, message: `secret ${from}: ${message}`, subjects: [from] };
}
