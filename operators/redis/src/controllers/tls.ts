/** The certificates of a cluster: its own, made and renewed here, or those of a Secret that somebody else keeps. */
import { type DeepReadonly, digest, type Refusal, type Waiting } from '@reeve/runtime';
import type { Reconcile } from '@reeve/runtime/manager';
import type { CertificateFacts, Certificates, KeyPair, TlsAccess } from '../api/certificates.ts';
import { type RedisClusterObject, type Secret, secrets } from '../api/kinds.ts';
import type { ConnectOptions } from '../client/client.ts';
import { namesOf, tlsSecretOf } from '../plan/children.ts';
import type { Desired } from '../plan/desired.ts';
import { authorityLife, certificateNames, serverLife, serverNameOf, tlsDue } from '../plan/tls.ts';
import { textOf } from './credentials.ts';
import { takenTls } from './tls-offer.ts';
import { findSecret, tlsAccessOf, tlsSecret } from './tls-secret.ts';

type Work = Reconcile<RedisClusterObject>;
type MaybeSecret = DeepReadonly<Secret> | undefined;

export interface ServedTls {
  readonly access: TlsAccess;
  /** What every server should show. */
  readonly fingerprint: string;
}

/** Without `served` nobody can be talked to; `off`: everybody can, in clear. */
export type TlsState =
  | { readonly state: 'off' }
  /** `refused`: why servers are not given what somebody wants them to have. */
  | { readonly state: 'served'; readonly served: ServedTls; readonly refused?: Refusal }
  | { readonly state: 'waiting'; readonly waitingFor: Waiting };

const OFF: TlsState = { state: 'off' };

export interface TlsTurn {
  readonly desired: Pick<Desired, 'tls'>;
  readonly certificates: Certificates | undefined;
  /** Of a cluster that is paused nothing is renewed. */
  readonly mayMake: boolean;
  /** Whether all servers that may live were seen to show the certificate of this fingerprint. */
  readonly isShown: (fingerprint: string) => boolean;
}

export async function declareTls(work: Work, turn: TlsTurn): Promise<TlsState> {
  const { desired, certificates, mayMake } = turn;
  const { name, namespace = '' } = work.object.metadata;
  const secretName = tlsSecretOf(name, desired);
  if (secretName === undefined) return OFF;
  if (!certificates) return waiting('TlsUnavailable', 'this operator was started without certificates', secretName);
  const servername = serverNameOf(name, namespace, desired.tls);
  if (desired.tls?.mode === 'selfSigned' && mayMake) {
    return stateOf(await renewed(work, desired, certificates), secretName, servername, certificates, work.now());
  }
  if (desired.tls?.mode === 'secret' && mayMake) {
    const offer = { from: desired.tls.secretName ?? '', secretName, certificates, isShown: turn.isShown };
    const { secret, refused, missing } = await takenTls(work, offer);
    if (!secret) return waiting('TlsSecret', refused?.message ?? missing ?? '', offer.from);
    const state = stateOf(secret, secretName, servername, certificates, work.now());
    return state.state === 'served' && refused ? { ...state, refused } : state;
  }
  // Before anything was taken servers have what somebody gave them.
  const given = desired.tls?.secretName;
  const present =
    (await findSecret(work, secretName)) ?? (given === undefined ? undefined : await findSecret(work, given));
  return stateOf(present, secretName, servername, certificates, work.now());
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
