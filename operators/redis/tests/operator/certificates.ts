/** Certificates that anybody can read: what they say, in place of what proves it. Servers show what their Secret has. */
import type { CertificateFacts, Certificates, KeyPair, Life } from '../../src/api/certificates.ts';

interface Said extends Life {
  readonly id: string;
  readonly names: readonly string[];
  /** The id of who signed it. */
  readonly by?: string;
}

const BEGIN = '-----BEGIN CERTIFICATE-----\n';
const END = '\n-----END CERTIFICATE-----\n';

export function saidBy(text: string): Said | undefined {
  const from = text.indexOf(BEGIN);
  const to = text.indexOf(END);
  if (from < 0 || to < 0) return undefined;
  return JSON.parse(Buffer.from(text.slice(from + BEGIN.length, to), 'base64').toString()) as Said;
}

function read(text: string): CertificateFacts | undefined {
  const said = saidBy(text);
  return said && { from: said.from, until: said.until, names: said.names, fingerprint: said.id };
}

const UNSIGNED = 'UNABLE_TO_VERIFY_LEAF_SIGNATURE';
const OTHER_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';

/** @param shows what the server at an address shows, if it is not what its Secret has. */
export function plainCertificates(
  ids: { next(prefix: string): string },
  shows: (host: string) => string | undefined = () => undefined,
): Certificates {
  const isTrusted = (chain: string, authorities: string) => {
    const by = saidBy(chain)?.by;
    return authorities.split(END).some((one) => by !== undefined && saidBy(`${one}${END}`)?.id === by);
  };
  const pair = (said: Omit<Said, 'id'>): KeyPair => {
    const id = ids.next('certificate');
    const text = Buffer.from(JSON.stringify({ ...said, id })).toString('base64');
    return { certificate: `${BEGIN}${text}${END}`, key: `key of ${id}` };
  };
  const fits = (certificate: string, key: string) => key === `key of ${saidBy(certificate)?.id ?? ''}`;
  return {
    authority: async ({ from, until }) => pair({ from, until, names: [] }),
    async peer(authority, names, { from, until }) {
      const by = saidBy(authority.certificate)?.id ?? '';
      return pair({ from, until, names, by });
    },
    read,
    isTrusted,
    fits,
    async rehearse(server, client, servername) {
      if ([server, client].some(({ cert, key }) => !fits(cert, key))) return { broken: 'KEY_VALUES_MISMATCH' };
      const isNamed = servername === undefined || saidBy(server.cert)?.names.includes(servername);
      const ofClient = !isTrusted(server.cert, client.ca) ? UNSIGNED : isNamed ? undefined : OTHER_NAME;
      const ofServer = isTrusted(client.cert, server.ca) ? undefined : UNSIGNED;
      return { ...(ofClient !== undefined && { ofClient }), ...(ofServer !== undefined && { ofServer }) };
    },
    presentedAt: async ({ host }, { cert }) => shows(host) ?? read(cert)?.fingerprint,
  };
}
