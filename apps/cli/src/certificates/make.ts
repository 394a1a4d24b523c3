/** Makes certificates: the one file that knows how they are written. Loaded only when one is to be made. */
import { createHash, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_clientAuth,
  id_kp_serverAuth,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';
import type { CertificateMaker, Life, Pair, ServerNames } from './authority.ts';

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const COMMON_NAME = '2.5.4.3';
const AUTHORITY_NAME = 'reeve';
const SERVER_NAME = 'reeve-api-server';
const PEER_NAME = 'reeve-peer';

export const certificateMaker: CertificateMaker = {
  async authority(life) {
    const key = newKey();
    const extensions = [
      extension(id_ce_basicConstraints, new BasicConstraints({ cA: true, pathLenConstraint: 0 }), true),
      extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign), true),
    ];
    return signed({ subject: AUTHORITY_NAME, key, extensions, signer: key, life });
  },
  server: async (authority, names, life) => issued(SERVER_NAME, [id_kp_serverAuth], { authority, names, life }),
  peer: async (authority, names, life) =>
    issued(PEER_NAME, [id_kp_serverAuth, id_kp_clientAuth], { authority, names, life }),
};

function issued(
  subject: string,
  usages: readonly string[],
  { authority, names, life }: { readonly authority: Pair; readonly names: ServerNames; readonly life: Life },
): Pair {
  const issuer = new KeyIdentifier(identifierOf(publicKeyOf(authority.key)));
  const extensions = [
    extension(id_ce_basicConstraints, new BasicConstraints({ cA: false }), true),
    extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.digitalSignature), true),
    extension(id_ce_extKeyUsage, new ExtendedKeyUsage([...usages])),
    extension(id_ce_subjectAltName, new SubjectAlternativeName(alternatives(names))),
    extension(id_ce_authorityKeyIdentifier, new AuthorityKeyIdentifier({ keyIdentifier: issuer })),
  ];
  return signed({ subject, key: newKey(), extensions, signer: authority.key, life });
}

const alternatives = ({ dns, ips }: ServerNames): GeneralName[] => [
  ...dns.map((dNSName) => new GeneralName({ dNSName })),
  ...ips.map((iPAddress) => new GeneralName({ iPAddress })),
];

function extension(extnID: string, value: object, critical = false): Extension {
  return new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

const publicKeyOf = (key: string): Buffer => createPublicKey(key).export({ type: 'spki', format: 'der' });

/** By which a certificate names the key that signed it. */
const identifierOf = (publicKey: Buffer): ArrayBuffer => hashOf(publicKey).slice(0, 20);

const hashOf = (publicKey: Buffer): ArrayBuffer =>
  new Uint8Array(createHash('sha256').update(publicKey).digest()).buffer;

function nameOf(commonName: string): Name {
  const value = new AttributeValue({ utf8String: commonName });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: COMMON_NAME, value })])]);
}

/** Positive, and of a key that is used once: no two certificates of this authority have the same. */
function serialOf(publicKey: Buffer): ArrayBuffer {
  const serial = new Uint8Array(hashOf(publicKey).slice(0, 16));
  serial[0] = 0x40 | ((serial[0] ?? 0) & 0x3f);
  return serial.buffer;
}

function signed(of: {
  readonly subject: string;
  readonly key: string;
  readonly extensions: readonly Extension[];
  /** The private key that signs. */
  readonly signer: string;
  readonly life: Life;
}): Pair {
  const publicKey = publicKeyOf(of.key);
  const algorithm = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });
  const named = extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(identifierOf(publicKey)));
  const content = new TBSCertificate({
    version: Version.v3,
    serialNumber: serialOf(publicKey),
    signature: algorithm,
    issuer: nameOf(AUTHORITY_NAME),
    validity: new Validity({ notBefore: new Date(of.life.from), notAfter: new Date(of.life.until) }),
    subject: nameOf(of.subject),
    subjectPublicKeyInfo: AsnConvert.parse(publicKey, SubjectPublicKeyInfo),
    extensions: new Extensions([...of.extensions, named]),
  });
  const signature = sign('sha256', Buffer.from(AsnConvert.serialize(content)), of.signer);
  const certificate = new Certificate({
    tbsCertificate: content,
    signatureAlgorithm: algorithm,
    signatureValue: new Uint8Array(signature).buffer,
  });
  return { certificate: pemOf(Buffer.from(AsnConvert.serialize(certificate))), key: of.key };
}

function pemOf(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
