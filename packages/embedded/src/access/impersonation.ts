/**
 * Acting as somebody else, when the headers ask for it and rights allow it. There are several ways (modes) to be allowed
 * to: the narrow ones say which requests may be made, and are tried first; the last is the verb `impersonate` alone.
 */
import { goQuote } from '../format/go-text.ts';
import { dnsSubdomain } from '../object/names.ts';
import { badRequest, Refusal } from '../status/refusal.ts';
import { accessRefusal, type Attributes, type Authorize, type User } from './access.ts';
import { ANONYMOUS, AUTHENTICATED, MASTERS, NODES, UNAUTHENTICATED } from './groups.ts';
import { EXTRA, serviceAccountGroups, splitServiceAccount } from './service-account.ts';

export type Headers = Readonly<Record<string, string | readonly string[]>>;

interface Wanted {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

/** `extra` is followed by the key. */
export const impersonationHeaders = {
  user: 'impersonate-user',
  uid: 'impersonate-uid',
  group: 'impersonate-group',
  extra: 'impersonate-extra-',
} as const;
const AUTHENTICATION = 'authentication.k8s.io';
const NODE_PREFIX = 'system:node:';
/** From so many values on, the right to all of them is asked for first. */
const MANY = 4;

/** The user that the request acts as: the one who sends it, if no header says otherwise. */
export async function actingUser(headers: Headers, attributes: Attributes, authorize: Authorize): Promise<User> {
  const wanted = readWanted(headers);
  if (wanted === undefined) return attributes.user;
  let first: unknown;
  for (const mode of modesFor(wanted, attributes.user)) {
    try {
      return await tryMode(mode, wanted, attributes, authorize);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      first ??= error;
    }
  }
  throw first;
}

function readWanted(headers: Headers): Wanted | undefined {
  const all = (value: string | readonly string[] | undefined): readonly string[] =>
    value === undefined ? [] : typeof value === 'string' ? [value] : value;
  const extra = new Map<string, readonly string[]>();
  let hasExtra = false;
  for (const [header, value] of Object.entries(headers)) {
    if (!header.startsWith(impersonationHeaders.extra)) continue;
    hasExtra = true;
    const key = unescaped(header.slice(impersonationHeaders.extra.length));
    const values = [...(extra.get(key) ?? []), ...all(value)];
    if (values.length > 0) extra.set(key, values);
  }
  const name = all(headers[impersonationHeaders.user])[0] ?? '';
  const uid = all(headers[impersonationHeaders.uid])[0] ?? '';
  const groups = all(headers[impersonationHeaders.group]);
  const wanted = { name, uid, groups, extra };
  if (name !== '') return wanted;
  if (uid === '' && groups.length === 0 && !hasExtra) return undefined;
  throw badRequest(`requested ${goText(wanted)} without impersonating a user name`);
}

/** Keys hold slashes, headers do not. What is no escape stays as it is. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

function goText({ name, uid, groups, extra }: Wanted): string {
  const list = (texts: readonly string[]): string => `[]string{${texts.map(goQuote).join(', ')}}`;
  const keys = [...extra].sort(([a], [b]) => (a < b ? -1 : 1));
  const extras =
    keys.length === 0
      ? 'map[string][]string(nil)'
      : `map[string][]string{${keys.map(([key, values]) => `${goQuote(key)}:${list(values)}`).join(', ')}}`;
  const shown = groups.length === 0 ? '[]string(nil)' : list(groups);
  return `&user.DefaultInfo{Name:${goQuote(name)}, UID:${goQuote(uid)}, Groups:${shown}, Extra:${extras}}`;
}

/** In the order in which they are tried. */
export const impersonationModes = [
  'associated-node',
  'arbitrary-node',
  'serviceaccount',
  'user-info',
  'legacy',
] as const;
type Mode = (typeof impersonationModes)[number];

function modesFor(wanted: Wanted, requestor: User): readonly Mode[] {
  const isNameOnly = wanted.uid === '' && wanted.groups.length === 0 && wanted.extra.size === 0;
  const node = nodeOf(wanted.name);
  const isAccount = splitServiceAccount(wanted.name) !== undefined;
  const home = requestor.extra?.[EXTRA.nodeName] ?? [];
  const isAtHome = splitServiceAccount(requestor.name) !== undefined && home.length === 1 && home[0] === node;
  const modes: Mode[] = [];
  if (node !== undefined && isNameOnly && isAtHome) modes.push('associated-node');
  if (node !== undefined && isNameOnly) modes.push('arbitrary-node');
  if (isAccount && isNameOnly) modes.push('serviceaccount');
  if (node === undefined && !isAccount) modes.push('user-info');
  return [...modes, 'legacy'];
}

function nodeOf(user: string): string | undefined {
  if (!user.startsWith(NODE_PREFIX)) return undefined;
  const name = user.slice(NODE_PREFIX.length);
  return dnsSubdomain(name, false).length === 0 ? name : undefined;
}

async function tryMode(mode: Mode, wanted: Wanted, request: Attributes, authorize: Authorize): Promise<User> {
  const isNarrow = mode !== 'legacy';
  const requestor = mode === 'associated-node' ? onSomeNode(request.user) : request.user;
  const check = async (attributes: Attributes): Promise<void> => {
    const { allowed, reason = '' } = await authorize(attributes);
    if (!allowed) throw accessRefusal(attributes, reason);
  };
  if (isNarrow) await check({ ...request, user: requestor, verb: `impersonate-on:${mode}:${request.verb}` });
  const base: Attributes = {
    user: requestor,
    verb: isNarrow ? `impersonate:${mode}` : 'impersonate',
    path: undefined,
    group: isNarrow ? AUTHENTICATION : '',
    version: 'v1',
    resource: 'users',
    subresource: '',
    namespace: '',
    name: wanted.name,
    labelSelector: '',
    fieldSelector: '',
  };
  let groups = wanted.groups;
  const node = isNarrow ? nodeOf(wanted.name) : undefined;
  const account = splitServiceAccount(wanted.name);
  if (node !== undefined) {
    groups = [NODES];
    // Whose node it is was compared already; the right is one for all nodes.
    await check({ ...base, resource: 'nodes', name: mode === 'associated-node' ? '*' : node });
  } else if (account !== undefined) {
    if (groups.length === 0) groups = serviceAccountGroups(account.namespace);
    await check({ ...base, resource: 'serviceaccounts', ...account });
  } else await check(base);
  if (wanted.uid !== '') await check({ ...base, group: AUTHENTICATION, resource: 'uids', name: wanted.uid });
  await checkGroups({ ...base, resource: 'groups', name: '' }, wanted.groups, isNarrow, check);
  const ofExtra = { ...base, group: AUTHENTICATION, resource: 'userextras', name: '' };
  await checkExtra(ofExtra, wanted.extra, isNarrow, check);
  return userFrom(wanted, groups);
}

type Check = (attributes: Attributes) => Promise<void>;

async function isAllowed(check: Check, attributes: Attributes): Promise<boolean> {
  try {
    await check(attributes);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

async function checkGroups(
  base: Attributes,
  groups: readonly string[],
  isNarrow: boolean,
  check: Check,
): Promise<void> {
  if (isNarrow && groups.includes('')) throw accessRefusal(base, 'impersonating the empty string group is not allowed');
  if (isNarrow && groups.includes(MASTERS)) {
    throw accessRefusal({ ...base, name: MASTERS }, 'impersonating the system:masters group is not allowed');
  }
  if (isNarrow && groups.length >= MANY && (await isAllowed(check, { ...base, name: '*' }))) return;
  for (const name of groups) await check({ ...base, name });
}

async function checkExtra(base: Attributes, extra: Wanted['extra'], isNarrow: boolean, check: Check): Promise<void> {
  const values = [...extra].flatMap(([subresource, names]) => names.map((name) => ({ subresource, name })));
  if (isNarrow) {
    for (const { subresource, name } of values) {
      const problem = extraProblem(subresource, name);
      if (problem !== undefined) throw accessRefusal(base, problem);
    }
    const isMany = extra.size >= MANY || values.length >= MANY;
    if (isMany && (await isAllowed(check, { ...base, subresource: '*', name: '*' }))) return;
  }
  for (const one of values) await check({ ...base, ...one });
}

function extraProblem(key: string, value: string): string | undefined {
  if (key === '') return 'impersonating the empty string key in extra is not allowed';
  const slash = key.indexOf('/');
  const isPath = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(key.slice(slash + 1));
  if (slash < 0 || dnsSubdomain(key.slice(0, slash), false).length > 0 || !isPath) {
    return `impersonating an invalid key in extra is not allowed: ${goQuote(key)}`;
  }
  if (key !== key.toLowerCase()) return `impersonating a non-lowercase key in extra is not allowed: ${goQuote(key)}`;
  return value === '' ? 'impersonating the empty string value in extra is not allowed' : undefined;
}

/** A right to act as one's own node must not depend on which one it is. */
function onSomeNode(user: User): User {
  const keys = Object.keys(user.extra ?? {}).sort();
  return { ...user, extra: { 'authentication.kubernetes.io/associated-node-keys': keys } };
}

function userFrom({ name, uid, extra }: Wanted, groups: readonly string[]): User {
  const belongs = name === ANONYMOUS ? UNAUTHENTICATED : AUTHENTICATED;
  const isSaid = groups.includes(belongs) || groups.includes(UNAUTHENTICATED);
  return {
    name,
    ...(uid === '' ? {} : { uid }),
    groups: isSaid ? groups : [...groups, belongs],
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  };
}
