/** Certificates for servers that operators run: the port of the Redis operator, on what makes those of the API server. */
import { X509Certificate } from 'node:crypto';
import { type CertificateFacts, type Certificates, presentedCertificate } from '@reeve/redis';

/** Loaded when the first one is to be made. */
const maker = async () => (await import('./make.ts')).certificateMaker;

export const peerCertificates: Certificates = {
  authority: async (life) => (await maker()).authority(life),
  peer: async (authority, dns, life) => (await maker()).peer(authority, { dns, ips: [] }, life),
  read,
  presentedAt: presentedCertificate,
};

function read(text: string): CertificateFacts | undefined {
  try {
    const { validFrom, validTo, fingerprint256, subjectAltName = '' } = new X509Certificate(text);
    const names = subjectAltName.split(', ').flatMap((name) => (name.startsWith('DNS:') ? [name.slice(4)] : []));
    return { from: Date.parse(validFrom), until: Date.parse(validTo), fingerprint: fingerprint256, names };
  } catch {
    return undefined; // what the parser says could quote a key that was put in the wrong place
  }
}
