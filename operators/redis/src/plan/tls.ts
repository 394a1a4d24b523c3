/**
 * When certificates are made anew, and by whom they are signed. An authority is made long before the old one ends, and signs only
 * when every server has been told to trust it: until then its predecessor does. Pure.
 */
import type { CertificateFacts, Life } from '../api/certificates.ts';
import type { RedisClusterSpec } from '../api/cluster.ts';
import { namesOf, serverNameOf } from './children.ts';

type Tls = RedisClusterSpec['tls'];

const DAY_MS = 86_400_000;
const AUTHORITY_MS = 3_650 * DAY_MS;
const SERVER_MS = 90 * DAY_MS;
/** Clocks that are a little behind find it good, too. */
const HEAD_START_MS = 3_600_000;
/** The part of a life that must be left. */
const LEAST_LEFT = { authority: 0.2, server: 1 / 3 } as const;

export interface TlsHeld {
  /** The newest one, and the one before. */
  readonly authority?: CertificateFacts;
  readonly previous?: CertificateFacts;
  readonly server?: CertificateFacts & {
    /** Fingerprints of the authorities that servers are told to trust. */
    readonly trusts: readonly string[];
  };
}

export interface TlsDue {
  readonly newAuthority: boolean;
  readonly newServer: boolean;
  /** Who signs the server's certificate, as it is called after a new authority was made. */
  readonly signer: 'newest' | 'previous';
}

export function tlsDue(held: TlsHeld, names: readonly string[], now: number): TlsDue {
  const { authority, previous, server } = held;
  const newAuthority = !isGood(authority, LEAST_LEFT.authority, now);
  const trustsNewest = authority !== undefined && (server?.trusts.includes(authority.fingerprint) ?? false);
  const newServer =
    newAuthority ||
    !isGood(server, LEAST_LEFT.server, now) ||
    !trustsNewest ||
    !names.every((name) => server?.names.includes(name));
  // Servers learn of an authority and of a new certificate in one go. Those that have not yet done so must still know who signed.
  const before = newAuthority ? authority : trustsNewest || !server ? undefined : previous;
  return { newAuthority, newServer, signer: before && before.until > now ? 'previous' : 'newest' };
}

function isGood(life: Life | undefined, part: number, now: number): boolean {
  return life !== undefined && life.from <= now && life.until - now >= (life.until - life.from) * part;
}

export function authorityLife(now: number): Life {
  return { from: now - HEAD_START_MS, until: now + AUTHORITY_MS };
}

/** Not beyond its signer's. */
export function serverLife(now: number, signer: Pick<Life, 'until'>): Life {
  return { from: now - HEAD_START_MS, until: Math.min(now + SERVER_MS, signer.until) };
}

/** All names under which servers are called on. */
export function certificateNames(cluster: string, namespace: string, tls: Tls): readonly string[] {
  const { clients, nodes } = namesOf(cluster);
  const asked = serverNameOf(cluster, namespace, tls);
  const usual = [clients, `*.${nodes}`].flatMap((name) => [
    name,
    `${name}.${namespace}`,
    `${name}.${namespace}.svc`,
    `${name}.${namespace}.svc.cluster.local`,
  ]);
  return [...new Set([asked, ...usual, 'localhost'])];
}
