/**
 * Signed tokens in compact form. The key says which algorithm counts, never the token; everything is small and bounded
 * before it is parsed, and nothing of it is believed before the signature is checked.
 */
import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { isObject, type JsonObject } from '../object/draft.ts';

export interface SigningKey {
  readonly algorithm: 'RS256' | 'ES256';
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** Far more than any token of ours has. */
export const MOST_TOKEN = 16 * 1024;

/** Undefined: neither RSA of at least 2048 bits nor the curve P-256. */
export function signingKey(privateKey: KeyObject): SigningKey | undefined {
  const algorithm = algorithmOf(privateKey);
  if (algorithm === undefined) return undefined;
  const publicKey = createPublicKey(privateKey);
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return { algorithm, id: createHash('sha256').update(der).digest('base64url'), privateKey, publicKey };
}

function algorithmOf({
  type,
  asymmetricKeyType,
  asymmetricKeyDetails,
}: KeyObject): SigningKey['algorithm'] | undefined {
  if (type !== 'private') return undefined;
  if (asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048) return 'RS256';
  return asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1' ? 'ES256' : undefined;
}

const encoded = (value: JsonObject): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export function signToken(key: SigningKey, claims: JsonObject): string {
  const text = `${encoded({ alg: key.algorithm, kid: key.id })}.${encoded(claims)}`;
  const signature = sign('sha256', Buffer.from(text), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}

export type Verified =
  | { readonly type: 'claims'; readonly claims: JsonObject }
  /** No token of this issuer: somebody else may know it. */
  | { readonly type: 'foreign' }
  | { readonly type: 'refused'; readonly why: string };

const FOREIGN: Verified = { type: 'foreign' };

export function verifyToken(keys: readonly SigningKey[], issuer: string, token: string): Verified {
  if (token.length > MOST_TOKEN) return FOREIGN;
  const parts = token.split('.');
  const [header, payload, signature] = parts.map(decoded);
  if (parts.length !== 3 || header === undefined || payload === undefined || signature === undefined) return FOREIGN;
  const head = parsed(header);
  const claims = parsed(payload);
  if (head === undefined || claims === undefined || claims.iss !== issuer) return FOREIGN;
  const fitting = keys.filter(({ id }) => head.kid === undefined || head.kid === '' || head.kid === id);
  if (fitting.length === 0) return { type: 'refused', why: 'invalid signature, no keys found' };
  const text = Buffer.from(token.slice(0, token.lastIndexOf('.')));
  const isSignedBy = ({ algorithm, publicKey }: SigningKey): boolean =>
    head.alg === algorithm && verify('sha256', text, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature);
  // What must be understood and is not: RFC 7515, 4.1.11.
  const isOurs = head.crit === undefined && head.b64 === undefined && fitting.some(isSignedBy);
  return isOurs ? { type: 'claims', claims } : { type: 'refused', why: 'invalid signature' };
}

/** Only the one way to write these bytes: a token is one text, not several. */
function decoded(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, 'base64url');
  return bytes.toString('base64url') === part ? bytes : undefined;
}

function parsed(bytes: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
