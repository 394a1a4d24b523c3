/** Who asks, and whether he may. Ports: RBAC and tokens of service accounts plug in here. */
import { timingSafeEqual } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { EmbeddedError } from '../errors/errors.ts';
import { forbiddenRequest, type Refusal } from '../status/refusal.ts';

export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface Credentials {
  /** @param name in lower case. */
  header(name: string): string | undefined;
  /** Of a connection whose client has proved who he is. */
  readonly certificate?: ClientCertificate | undefined;
}

/** The subject of a certificate that an authority of the listener's has signed. */
export interface ClientCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** Undefined: nobody we know. */
export type Authenticate = (credentials: Credentials) => User | undefined | Promise<User | undefined>;

export interface Attributes {
  readonly user: User;
  readonly verb: string;
  /** Of requests that name no resource. */
  readonly path: string | undefined;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly labelSelector: string;
  readonly fieldSelector: string;
}

/** Of requests that name no resource. */
export const NOWHERE = {
  group: '',
  version: '',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
  labelSelector: '',
  fieldSelector: '',
};

export interface Verdict {
  readonly allowed: boolean;
  /** Added to the answer of a refusal. */
  readonly reason?: string;
}

export type Authorize = (attributes: Attributes) => Verdict | Promise<Verdict>;

export const administrator: User = { name: 'reeve:admin', groups: ['system:masters', 'system:authenticated'] };

export const allowEverything: Authorize = () => ({ allowed: true });

/** Whoever knows the token is the administrator; the text of a bearer header, compared without telling how far it fits. */
export function tokenAuthentication(token: string, user: User = administrator): Authenticate {
  const expected = Buffer.from(token);
  return ({ header }) => {
    const match = /^Bearer +(\S+)$/i.exec(header('authorization') ?? '');
    const given = Buffer.from(match?.[1] ?? '');
    return given.length === expected.length && timingSafeEqual(given, expected) ? user : undefined;
  };
}

/** The token in a file that only its owner may read. */
export async function readTokenFile(path: string): Promise<string> {
  const refuse = (why: string): EmbeddedError => new EmbeddedError('EMBEDDED_TOKEN_FILE', `${path} ${why}`, [path]);
  try {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) throw refuse('may be read by others: its mode must be 0600');
    const token = (await readFile(path, 'utf8')).trim();
    if (token.length < 16 || /\s/.test(token)) throw refuse('holds no token of at least 16 characters');
    return token;
  } catch (error) {
    if (error instanceof EmbeddedError) throw error;
    throw refuse(`cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The answer to whoever may not. */
export function accessRefusal(attributes: Attributes, reason = ''): Refusal {
  const { group, resource: plural, name } = attributes;
  const why = refusalText(attributes);
  return forbiddenRequest({ group, plural }, name, reason === '' ? why : `${why}: ${reason}`);
}

/** In the server's words. */
function refusalText({ user, verb, path, group, resource, subresource, namespace }: Attributes): string {
  const safe = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const who = `User ${JSON.stringify(user.name)} cannot ${verb}`;
  if (path !== undefined) return safe(`${who} path ${JSON.stringify(path)}`);
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  return safe(`${who} resource ${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${where}`);
}
