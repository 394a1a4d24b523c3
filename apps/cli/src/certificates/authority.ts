/**
 * The certificate authority of a data folder, and the certificate of its API server. Both are kept for as long as they are good and
 * made anew before they are not. Key and certificate lie in one file, so that they are there together or not at all.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Clock, Files } from '@reeve/runtime';
import { cliError } from '../errors.ts';

/** PEM texts. */
export interface Pair {
  readonly certificate: string;
  readonly key: string;
}

/** In milliseconds since the epoch. */
export interface Life {
  readonly from: number;
  readonly until: number;
}

export interface ServerNames {
  readonly dns: readonly string[];
  readonly ips: readonly string[];
}

export interface CertificateMaker {
  authority(life: Life): Promise<Pair>;
  server(authority: Pair, names: ServerNames, life: Life): Promise<Pair>;
  /** For a server that is also a client of others of its kind. */
  peer(authority: Pair, names: ServerNames, life: Life): Promise<Pair>;
}

export interface ServingCertificates {
  /** Whom clients trust. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

interface Places {
  readonly authority: string;
  readonly server: string;
}

/** Names under which pods and people call the server. */
export const serverNames: ServerNames = {
  dns: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
  ips: ['127.0.0.1', '::1'],
};

const DAY_MS = 86_400_000;
const AUTHORITY_MS = 3_650 * DAY_MS;
const SERVER_MS = 730 * DAY_MS;
/** At a start with less than this left, a new one is made: a process would have to run for a year to see its end. */
const LEAST_LEFT_MS = 365 * DAY_MS;
/** Clocks that are a little behind find it good, too. */
const HEAD_START_MS = 3_600_000;

export async function openCertificates(
  { clock, files }: { readonly clock: Clock; readonly files: Files },
  places: Places,
  load: () => Promise<CertificateMaker> = async () => (await import('./make.ts')).certificateMaker,
): Promise<ServingCertificates> {
  const now = clock.now();
  const life = (ms: number): Life => ({ from: now - HEAD_START_MS, until: now + ms });
  const authorityText = await files.read(places.authority);
  let authority = authorityText === undefined ? undefined : readPair(authorityText);
  if (authorityText !== undefined && !authority) {
    // Whoever was given its certificate would trust nobody any more: that is not done behind people's backs.
    throw cliError('CERTIFICATE_FILE', `${places.authority} holds no key with its certificate`, [places.authority]);
  }
  if (!authority || !isGood(authority, now)) {
    authority = await (await load()).authority(life(AUTHORITY_MS));
    await files.write(places.authority, textOf(authority));
  }
  const serverText = await files.read(places.server);
  let server = serverText === undefined ? undefined : readPair(serverText);
  if (!server || !isGood(server, now) || !isIssued(server, authority) || !hasNames(server)) {
    server = await (await load()).server(authority, serverNames, life(SERVER_MS));
    await files.write(places.server, textOf(server));
  }
  return { ca: authority.certificate, cert: server.certificate, key: server.key };
}

const textOf = ({ certificate, key }: Pair): string => key + certificate;

const KEY = /-----BEGIN PRIVATE KEY-----\n[^-]+-----END PRIVATE KEY-----\n/;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----\n[^-]+-----END CERTIFICATE-----\n/;

/** Undefined: something else, or two that do not belong together. */
function readPair(text: string): Pair | undefined {
  const [key, certificate] = [KEY.exec(text)?.[0], CERTIFICATE.exec(text)?.[0]];
  if (key === undefined || certificate === undefined) return undefined;
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key)) ? { certificate, key } : undefined;
  } catch {
    return undefined; // what the parser says could quote the key
  }
}

function isGood({ certificate }: Pair, now: number): boolean {
  const { validFrom, validTo } = new X509Certificate(certificate);
  return Date.parse(validFrom) <= now && Date.parse(validTo) - now >= LEAST_LEFT_MS;
}

function isIssued(server: Pair, authority: Pair): boolean {
  const [one, by] = [new X509Certificate(server.certificate), new X509Certificate(authority.certificate)];
  return one.checkIssued(by) && one.verify(by.publicKey);
}

/** An earlier version may have known fewer. */
function hasNames({ certificate }: Pair): boolean {
  const read = new X509Certificate(certificate);
  const { dns, ips } = serverNames;
  return dns.every((name) => read.checkHost(name) !== undefined) && ips.every((ip) => read.checkIP(ip) !== undefined);
}
