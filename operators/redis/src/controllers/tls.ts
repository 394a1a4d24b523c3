/** The certificates of a cluster: its own, made and renewed here, or those of a Secret that somebody else keeps. */
import { type DeepReadonly, digest, type Refusal, type Waiting } from '@reeve/runtime';
import type { Reconcile } from '@reeve/runtime/manager';
import type { CertificateFacts, Certificates, KeyPair, TlsAccess } from '../api/certificates.ts';
import { type RedisClusterObject, type Secret, secrets } from '../api/kinds.ts';
import type { ConnectOptions } from '../client/client.ts';
import { namesOf, serverNameOf, tlsSecretOf } from '../plan/children.ts';
import type { Desired } from '../plan/desired.ts';
import type { PodFacts } from '../plan/pods.ts';
import { authorityLife, certificateNames, serverLife, tlsDue } from '../plan/tls.ts';
import { podsWithout, takenDigest } from '../plan/tls-offer.ts';
import { textOf } from './credentials.ts';
import { isOurs, type Offer, takenTls } from './tls-offer.ts';
import type { Rehearsals } from './tls-rehearsals.ts';
import { findSecret, tlsAccessOf, tlsSecret } from './tls-secret.ts';

type Work = Reconcile<RedisClusterObject>;
type MaybeSecret = DeepReadonly<Secret> | undefined;

export interface ServedTls {
  readonly access: TlsAccess;
  /** What every server should show. */
  readonly fingerprint: string;
}

/** That somebody's certificates were looked at, and why servers are not given them, if they are not. */
export interface JudgedOffer {
  readonly refused?: Refusal;
}

interface OfTheOffer {
  /** Undefined: nobody looked at any. */
  readonly judged?: JudgedOffer;
}

/** Without `served` nobody can be talked to; `off`: everybody can, in clear. */
export type TlsState =
  | { readonly state: 'off' }
  | (OfTheOffer & {
      readonly state: 'served';
      readonly served: ServedTls;
      /** What servers were given of somebody's, as a status keeps it. */
      readonly taken?: string;
      /** Before they are given more. */
      readonly waitingFor?: Waiting;
    })
  | (OfTheOffer & { readonly state: 'waiting'; readonly waitingFor: Waiting });

const OFF: TlsState = { state: 'off' };

export interface TlsTurn {
  readonly desired: Pick<Desired, 'tls'>;
  readonly certificates: Certificates | undefined;
  /** Of a cluster that is paused nothing is renewed. */
  readonly mayMake: boolean;
  readonly pods: readonly PodFacts[];
  /** Fingerprints by the uid of the pod whose server was seen to show them. */
  readonly shown: ReadonlyMap<string, string>;
  readonly rehearsals: Rehearsals;
}

export async function declareTls(work: Work, turn: TlsTurn): Promise<TlsState> {
  const { desired, certificates, mayMake, rehearsals } = turn;
  const { name, namespace = '' } = work.object.metadata;
  const secretName = tlsSecretOf(name, desired);
  if (secretName === undefined) return OFF;
  if (!certificates) return waiting('TlsUnavailable', 'this operator was started without certificates', secretName);
  const servername = serverNameOf(name, namespace, desired.tls);
  if (desired.tls?.mode === 'selfSigned' && mayMake) {
    return stateOf(await renewed(work, desired, certificates), secretName, servername, certificates, work.now());
  }
  if (desired.tls?.mode === 'secret' && mayMake) {
    const from = desired.tls.secretName ?? '';
    return offered(work, { from, secretName, servername, certificates, rehearsals }, turn);
  }
  const present = await findSecret(work, secretName);
  const given = desired.tls?.secretName;
  if (given === undefined) return stateOf(present, secretName, servername, certificates, work.now());
  // Before anything was taken servers have what somebody gave them.
  const own = present && isOurs(work, present, certificates) ? present : await findSecret(work, given);
  return stateOf(own, secretName, servername, certificates, work.now());
}

/** What somebody else keeps, and what came of it. */
async function offered(
  work: Work,
  from: Omit<Offer, 'podsWithout'>,
  { pods, shown }: Pick<TlsTurn, 'pods' | 'shown'>,
): Promise<TlsState> {
  const offer = { ...from, podsWithout: (fingerprint: string) => podsWithout(fingerprint, pods, shown) };
  const { secret, refused, waitingFor, missing } = await takenTls(work, offer);
  const judged = missing === undefined && { judged: refused ? { refused } : {} };
  if (!secret) {
    const [message, subjects] = [refused?.message ?? missing ?? '', refused?.subjects ?? [offer.from]];
    return { state: 'waiting', waitingFor: { reason: 'TlsSecret', message, subjects }, ...judged };
  }
  const { secretName, servername, certificates } = offer;
  const state = stateOf(secret, secretName, servername, certificates, work.now());
  if (state.state !== 'served') return { ...state, ...judged };
  return { ...state, ...judged, taken: takenDigest(state.served.access), ...(waitingFor && { waitingFor }) };
}

function stateOf(
  secret: MaybeSecret,
  secretName: string,
  servername: string,
  certificates: Certificates,
  now: number,
): TlsState {
  const access = tlsAccessOf(secret, servername);
  if (!access) {
    return waiting('TlsSecret', `secret ${secretName} has not all of tls.crt, tls.key and ca.crt`, secretName);
  }
  const facts = certificates.read(access.cert);
  if (!facts) return waiting('TlsSecret', `tls.crt of secret ${secretName} is no certificate`, secretName);
  if (facts.until <= now) {
    const ended = new Date(facts.until).toISOString();
    return waiting('TlsSecret', `the certificate of secret ${secretName} ended at ${ended}`, secretName);
  }
  return { state: 'served', served: { access, fingerprint: facts.fingerprint } };
}

function waiting(reason: string, message: string, secretName: string): TlsState {
  return { state: 'waiting', waitingFor: { reason, message, subjects: [secretName] } };
}

/**
 * The Secret of the servers as it should be. The authority is written first: who dies in between finds an authority that no server
 * trusts yet, and goes on from there.
 */
async function renewed(work: Work, { tls }: Pick<Desired, 'tls'>, certificates: Certificates): Promise<MaybeSecret> {
  const { name, namespace = '' } = work.object.metadata;
  const names = namesOf(name);
  const now = work.now();
  const [authoritySecret, present] = [await findSecret(work, names.authority), await findSecret(work, names.tls)];
  let newest = pairOf(authoritySecret, 'ca', certificates);
  let previous = pairOf(authoritySecret, 'previous', certificates);
  const trusted = bundleOf(textOf(present as Secret | undefined, 'ca.crt') ?? '', certificates);
  const server = certificates.read(textOf(present as Secret | undefined, 'tls.crt') ?? '');
  const wanted = certificateNames(name, namespace, tls);
  const due = tlsDue(
    {
      ...(newest && { authority: newest.facts }),
      ...(previous && { previous: previous.facts }),
      ...(server && { server: { ...server, trusts: trusted.map(({ facts }) => facts.fingerprint) } }),
    },
    wanted,
    now,
  );
  if (due.newAuthority || !newest) {
    previous = newest;
    newest = known(await certificates.authority(authorityLife(now)), certificates);
    await work.apply(
      secrets,
      tlsSecret(names.authority, name, { ...partsOf('ca', newest), ...partsOf('previous', previous) }),
    );
    work.events.normal('AuthorityMade', `a new certificate authority, in secret ${names.authority}`, 'Tls');
  }
  if (!due.newServer) return present;
  const signer = due.signer === 'previous' && previous ? previous : newest;
  const made = await certificates.peer(signer.pair, wanted, serverLife(now, signer.facts));
  // Whoever was trusted is, until it ends: connections to servers that have not read this yet must go on.
  const others = trusted.filter(({ facts }) => facts.until > now && facts.fingerprint !== newest.facts.fingerprint);
  const ca = [newest.pair.certificate, ...others.map(({ text }) => text)].join('');
  work.events.normal('CertificateMade', `a new certificate for the servers, in secret ${names.tls}`, 'Tls');
  const parts = { 'tls.crt': made.certificate, 'tls.key': made.key, 'ca.crt': ca };
  return work.apply(secrets, tlsSecret(names.tls, name, parts));
}

interface KnownPair {
  readonly pair: KeyPair;
  readonly facts: CertificateFacts;
}

function known(pair: KeyPair, certificates: Certificates): KnownPair {
  const facts = certificates.read(pair.certificate);
  if (!facts) throw new Error('a certificate was made that cannot be read');
  return { pair, facts };
}

function pairOf(secret: MaybeSecret, part: string, certificates: Certificates): KnownPair | undefined {
  const [certificate, key] = [`${part}.crt`, `${part}.key`].map((one) => textOf(secret as Secret | undefined, one));
  const facts = certificate === undefined ? undefined : certificates.read(certificate);
  return certificate && key && facts ? { pair: { certificate, key }, facts } : undefined;
}

function partsOf(part: string, held: KnownPair | undefined): Readonly<Record<string, string>> {
  return held ? { [`${part}.crt`]: held.pair.certificate, [`${part}.key`]: held.pair.key } : {};
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g;

/** At most a few: each lives ten years. */
function bundleOf(text: string, certificates: Certificates): readonly { text: string; facts: CertificateFacts }[] {
  return (text.match(CERTIFICATE) ?? []).flatMap((one) => {
    const facts = certificates.read(one);
    return facts ? [{ text: one, facts }] : [];
  });
}

/** A name for how servers are reached: another one needs another connection. Says nothing of what it is made from. */
export function accessDigest({ username = '', password = '', tls }: ConnectOptions): string {
  return digest({ username, password, tls: tls ? [tls.ca, tls.cert, tls.key, tls.servername].map(String) : [] });
}
