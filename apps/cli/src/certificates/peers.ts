/** Certificates for servers that operators run: the port of the Redis operator, on what makes those of the API server. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type CertificateFacts, type Certificates, presentedCertificate, rehearseTls } from '@reeve/redis';

/** Loaded when the first one is to be made. */
const maker = async () => (await import('./make.ts')).certificateMaker;

export const peerCertificates: Certificates = {
  authority: async (life) => (await maker()).authority(life),
  peer: async (authority, dns, life) => (await maker()).peer(authority, { dns, ips: [] }, life),
  read,
  isTrusted(chain, authorities) {
    const [first, ...between] = certificatesOf(chain);
    return first !== undefined && leadsTo(first, between, certificatesOf(authorities));
  },
  fits(certificate, key) {
    try {
      return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
    } catch {
      return false; // what the parser says could quote the key
    }
  },
  rehearse: rehearseTls,
  presentedAt: presentedCertificate,
};

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Nobody has chains or bundles of more. */
const MOST_CERTIFICATES = 32;

function certificatesOf(text: string): readonly X509Certificate[] {
  const texts = (text.match(CERTIFICATE) ?? []).slice(0, MOST_CERTIFICATES);
  return texts.flatMap((one) => (read(one) ? [new X509Certificate(one)] : []));
}

/** Each is reached once at most: whoever may write a Secret must not keep the operator busy. */
function leadsTo(
  first: X509Certificate,
  between: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
): boolean {
  const isSigned = (one: X509Certificate, by: X509Certificate) => one.checkIssued(by) && one.verify(by.publicKey);
  const reached = [first];
  const left = new Set(between);
  for (const one of reached) {
    if (authorities.some((by) => isSigned(one, by))) return true;
    for (const next of left) {
      if (!isSigned(one, next)) continue;
      left.delete(next);
      reached.push(next);
    }
  }
  return false;
}

function read(text: string): CertificateFacts | undefined {
  try {
    const { validFrom, validTo, fingerprint256, subjectAltName = '' } = new X509Certificate(text);
    const names = subjectAltName.split(', ').flatMap((name) => (name.startsWith('DNS:') ? [name.slice(4)] : []));
    return { from: Date.parse(validFrom), until: Date.parse(validTo), fingerprint: fingerprint256, names };
  } catch {
    return undefined; // what the parser says could quote a key that was put in the wrong place
  }
}
