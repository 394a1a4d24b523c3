/**
 * Whether those who have these certificates would believe each other: a handshake of a server and a client that are there for nothing
 * else, in memory. What a certificate may be used for, who may sign it, until when, and which names it stands for is thus judged by the
 * very code that judges it when servers, agents and the operator meet.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { duplexPair } from 'node:stream';
import { connect, createServer, type TLSSocket } from 'node:tls';
import type { Doubts, TlsParts } from '../api/certificates.ts';
import { excessOf, MOST_CERTIFICATES } from '../api/pem-limits.ts';

/** One signature with a larger key takes seconds: whoever may write a Secret must not keep the operator busy. */
const MOST_KEY_BITS = 8_192;
/** In memory it takes moments. */
const HANDSHAKE_MS = 5_000;
const WRONG_USAGE = 'INVALID_PURPOSE';
const NO_AUTHORITY = 'INVALID_CA';

export async function rehearseTls(server: TlsParts, client: TlsParts, servername?: string): Promise<Doubts> {
  try {
    if ([server, client].some((parts) => excessOf(parts) !== undefined)) return { broken: 'TOO_LARGE' };
    if ([server, client].some(({ key }) => bitsOf(key) > MOST_KEY_BITS)) return { broken: 'KEY_TOO_LARGE' };
    return await meet(server, client, servername);
  } catch (error) {
    return { broken: wordOf(error) };
  }
}

async function meet(server: TlsParts, client: TlsParts, servername: string | undefined): Promise<Doubts> {
  const [near, far] = duplexPair();
  // Neither side breaks off: both are to say what they think.
  const listener = createServer({
    ...pemOf(server),
    requestCert: true,
    rejectUnauthorized: false,
    handshakeTimeout: HANDSHAKE_MS,
  });
  const heard = new Promise<TLSSocket>((resolve) => {
    listener.once('secureConnection', (socket) => {
      socket.on('error', () => undefined); // of its end, which is ours
      resolve(socket);
    });
  });
  const broken = new Promise<Doubts>((resolve) => {
    listener.on('tlsClientError', (error) => resolve({ broken: wordOf(error) }));
  });
  const caller = connect({
    ...pemOf(client),
    socket: near,
    rejectUnauthorized: false,
    ...(servername === undefined ? { checkServerIdentity: () => undefined } : { servername }),
  });
  try {
    const greeted = new Promise<void>((resolve, reject) => {
      caller.once('secureConnect', resolve);
      caller.on('error', reject);
    });
    listener.emit('connection', far);
    const met = Promise.all([heard, greeted]).then(([called]) => {
      const ofClient = doubtOf(caller, server.cert + client.ca);
      const ofServer = doubtOf(called, client.cert + server.ca);
      return { ...(ofClient !== undefined && { ofClient }), ...(ofServer !== undefined && { ofServer }) };
    });
    return await Promise.race([met, broken]);
  } finally {
    caller.destroy();
    near.destroy();
    far.destroy();
  }
}

/** Only these: an access has more, and not all of it is meant here. */
function pemOf({ cert, key, ca }: TlsParts): TlsParts {
  return { cert, key, ca };
}

/** @param texts what the other side showed, and whom this one trusts. */
function doubtOf({ authorized, authorizationError }: TLSSocket, texts: string): string | undefined {
  if (authorized) return undefined;
  const word = String(authorizationError); // not the Error that its type promises
  // The last word of OpenSSL on a signer that may not sign is that it may not be used.
  return word === WRONG_USAGE && isSignedByNone(texts) ? NO_AUTHORITY : word;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** On the way from the first one up there is one that is no authority by its own certificate. */
function isSignedByNone(texts: string): boolean {
  const all = (texts.match(CERTIFICATE) ?? []).slice(0, MOST_CERTIFICATES).map((text) => new X509Certificate(text));
  const left = new Set(all.slice(1));
  for (let one = all[0]; one; ) {
    const shown: X509Certificate = one;
    const signer = [...left].find((other) => shown.checkIssued(other));
    if (signer && !signer.ca) return true;
    if (signer) left.delete(signer);
    one = signer;
  }
  return false;
}

function bitsOf(key: string): number {
  return createPrivateKey(key).asymmetricKeyDetails?.modulusLength ?? 0;
}

/** Never a message: what a parser says could quote a key. */
function wordOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : 'UNREADABLE';
}
