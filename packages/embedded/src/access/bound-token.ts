/** Tokens of service accounts: what they claim, and whether what they claim still is. */
import type { Json } from '@reeve/kube';
import {
  at,
  type Draft,
  draftOf,
  type JsonObject,
  numberOf,
  objectOf,
  setField,
  textOf,
  textsOf,
} from '../object/draft.ts';
import type { Key } from '../store/entry.ts';
import type { Store } from '../store/store.ts';
import type { User } from './access.ts';
import { type SigningKey, verifyToken } from './jwt.ts';
import { goList } from './rule.ts';
import { EXTRA, serviceAccountGroups, serviceAccountUser } from './service-account.ts';

export interface TokenIssuer {
  /** The first signs; all are believed, so that keys can be changed. */
  readonly keys: readonly [SigningKey, ...SigningKey[]];
  readonly issuer: string;
  /** Of this server; the first tokens get that ask for none. */
  readonly audiences: readonly string[];
}

/** What a token stands and falls with. */
export interface Ref {
  readonly name: string;
  readonly uid: string;
}

export interface TokenSubject {
  readonly namespace: string;
  readonly account: Ref;
  readonly pod?: Ref | undefined;
  readonly secret?: Ref | undefined;
  readonly node?: Ref | undefined;
}

export interface Lifetime {
  /** Seconds since the epoch. */
  readonly from: number;
  readonly seconds: number;
}

export function tokenClaims(
  issuer: string,
  { namespace, account, pod, secret, node }: TokenSubject,
  { from, seconds }: Lifetime,
  audiences: readonly string[],
  id: string,
): JsonObject {
  const bound: JsonObject = { namespace };
  for (const [field, ref] of Object.entries({ node, pod, secret, serviceaccount: account })) {
    setField(bound, field, ref && (ref.uid === '' ? { name: ref.name } : { name: ref.name, uid: ref.uid }));
  }
  return {
    aud: [...audiences],
    exp: from + seconds,
    iat: from,
    iss: issuer,
    jti: id,
    'kubernetes.io': bound,
    nbf: from,
    sub: serviceAccountUser(namespace, account.name),
  };
}

export type Known =
  | { readonly type: 'user'; readonly user: User; readonly audiences: readonly string[] }
  | { readonly type: 'foreign' }
  | { readonly type: 'refused'; readonly why: string };

/** Clocks that run apart. */
const LEEWAY = 60;
const INVALIDATED = 'service account token has been invalidated';

/** @param now in seconds. @param wanted audiences of which the token must have one. */
export function knowToken(
  { keys, issuer }: TokenIssuer,
  store: Pick<Store, 'get'>,
  token: string,
  now: number,
  wanted: readonly string[],
): Known {
  const verified = verifyToken(keys, issuer, token);
  if (verified.type !== 'claims') return verified;
  const { claims } = verified;
  const given = audiencesOf(claims.aud);
  const audiences = given.filter((one) => wanted.includes(one));
  if (audiences.length === 0) {
    return refused(`token audiences ${goList(given)} is invalid for the target audiences ${goList(wanted)}`);
  }
  const why = untimely(claims, now) ?? unfounded(claims, store, now);
  return why === undefined ? { type: 'user', user: userOf(claims), audiences } : refused(why);
}

const refused = (why: string): Known => ({ type: 'refused', why });

const audiencesOf = (value: Json | undefined): readonly string[] =>
  typeof value === 'string' ? [value] : textsOf(value);

function untimely({ exp, nbf, iat }: JsonObject, now: number): string | undefined {
  // A token without an end was not made here.
  if (now - LEEWAY >= (numberOf(exp) ?? Number.NEGATIVE_INFINITY)) return 'service account token has expired';
  if (now + LEEWAY < (numberOf(nbf) ?? 0)) return 'service account token is not valid yet';
  if (now + LEEWAY < (numberOf(iat) ?? 0)) return 'service account token is issued in the future';
  return undefined;
}

/** Whether the account, or what the token is bound to, is gone or another one of the same name. */
function unfounded(claims: JsonObject, store: Pick<Store, 'get'>, now: number): string | undefined {
  const { namespace, account, pod, secret, node } = subjectOf(claims);
  const find = (resource: string, { name }: Ref, home = namespace): Draft | undefined =>
    objectAt(store, { resource, namespace: home, name });
  const isGone = (object: Draft): boolean => deletedFor(object, now) > LEEWAY;
  const found = find('serviceaccounts', account);
  if (found === undefined) return `serviceaccounts ${JSON.stringify(account.name)} not found`;
  const uid = textOf(found.metadata.uid);
  if (uid !== account.uid) return `service account UID (${uid}) does not match claim (${account.uid})`;
  if (isGone(found)) return `service account ${namespace}/${account.name} has been deleted`;
  const bound = [
    { kind: 'secret', ref: secret, resource: 'secrets', home: namespace },
    { kind: 'pod', ref: pod, resource: 'pods', home: namespace },
    // With a pod, the node is told, not checked.
    { kind: 'node', ref: pod === undefined ? node : undefined, resource: 'nodes', home: '' },
  ];
  for (const { kind, ref, resource, home } of bound) {
    if (ref === undefined) continue;
    const object = find(resource, ref, home);
    if (object === undefined) return INVALIDATED;
    const own = textOf(object.metadata.uid);
    if (own !== ref.uid) return `${kind} UID (${own}) does not match service account ${kind} ref claim (${ref.uid})`;
    if (isGone(object)) return INVALIDATED;
  }
  return undefined;
}

export function objectAt(store: Pick<Store, 'get'>, key: Key): Draft | undefined {
  const entry = store.get(key);
  return entry && draftOf(entry.body);
}

/** Seconds since the deletion that somebody asked for; graceful ones lie in the future until they are due. */
function deletedFor({ metadata }: Draft, now: number): number {
  const at = Date.parse(textOf(metadata.deletionTimestamp));
  return Number.isNaN(at) ? Number.NEGATIVE_INFINITY : now - at / 1000;
}

function subjectOf(claims: JsonObject): TokenSubject {
  const own = objectOf(claims['kubernetes.io']);
  const ref = (value: Json | undefined): Ref | undefined => {
    if (value === undefined || value === null) return undefined;
    const { name, uid } = objectOf(value);
    return { name: textOf(name), uid: textOf(uid) };
  };
  return {
    namespace: textOf(own.namespace),
    account: ref(own.serviceaccount) ?? { name: '', uid: '' },
    pod: ref(own.pod),
    secret: ref(own.secret),
    node: ref(own.node),
  };
}

function userOf(claims: JsonObject): User {
  const { namespace, account, pod, node } = subjectOf(claims);
  const id = textOf(at(claims, 'jti'));
  const extra = {
    [EXTRA.credential]: id === '' ? '' : `JTI=${id}`,
    [EXTRA.nodeName]: node?.name,
    [EXTRA.nodeUid]: node?.uid,
    [EXTRA.podName]: pod?.name,
    [EXTRA.podUid]: pod?.uid,
  };
  const said = Object.entries(extra).filter((one): one is [string, string] => Boolean(one[1]));
  return {
    name: serviceAccountUser(namespace, account.name),
    uid: account.uid,
    groups: serviceAccountGroups(namespace),
    ...(said.length === 0 ? {} : { extra: Object.fromEntries(said.map(([key, value]) => [key, [value]])) }),
  };
}
