/** `serviceaccounts/token`: a token for an account, bound to a pod, a secret or a node if so wished. */
import { type Draft, integerOf, isObject, type JsonObject, objectOf, textOf, textsOf } from '../object/draft.ts';
import { timeText } from '../format/time.ts';
import { parseText } from '../rest/decode.ts';
import { invalid } from '../status/field-error.ts';
import { badRequest, conflict, invalidObject, notFound, undecodable } from '../status/refusal.ts';
import type { Store } from '../store/store.ts';
import { tokenRequestType } from '../types/builtin.ts';
import { fitOf } from '../types/fit.ts';
import type { Attributes } from './access.ts';
import { objectAt, type Ref, tokenClaims, type TokenIssuer } from './bound-token.ts';
import { signToken } from './jwt.ts';

export interface IssuePorts {
  readonly store: Pick<Store, 'get'>;
  readonly tokens: TokenIssuer;
  /** Milliseconds since the epoch. */
  now(): number;
  /** A new one each time; no secret. */
  id(): string;
}

/** Of which resource tokens are asked for, and where. */
export const tokenRequests = { group: '', resource: 'serviceaccounts', subresource: 'token' } as const;

const KIND = { group: 'authentication.k8s.io', kind: 'TokenRequest' };
const SHORTEST = 600;
const LONGEST = 2 ** 32;
const DEFAULT = 3600;

interface Bound {
  readonly pod?: Ref;
  readonly secret?: Ref;
  readonly node?: Ref | undefined;
}

/** What was sent, if it is such a request at all. */
export function readTokenRequest(body: string): JsonObject {
  const refuse = (why: string): Error =>
    badRequest(`the object provided is unrecognized (must be of type TokenRequest): ${why}`);
  const value = parseText(body === '' ? '{}' : body, refuse);
  if (!isObject(value)) throw refuse('it is no object');
  const kind = textOf(value.kind) || KIND.kind;
  const version = textOf(value.apiVersion) || `${KIND.group}/v1`;
  if (kind !== KIND.kind || version !== `${KIND.group}/v1`) {
    const number = version.slice(version.lastIndexOf('/') + 1);
    const why = `converting (${number}.${kind}) to (authentication.TokenRequest): unknown conversion`;
    throw badRequest(`${kind} in version ${JSON.stringify(number)} cannot be handled as a TokenRequest: ${why}`);
  }
  const { problem } = fitOf(value, tokenRequestType);
  if (problem !== undefined) throw undecodable(KIND.kind, 'v1', problem);
  return value;
}

/** The request with its status. */
export function issueToken(ports: IssuePorts, asked: JsonObject, { namespace, name }: Attributes): Draft {
  const given = objectOf(asked.metadata);
  if (textOf(given.namespace) !== '' && given.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (textOf(given.name) !== '' && given.name !== name) {
    const detail = 'must match the service account name if specified';
    throw invalidObject(KIND, name, [invalid('metadata.name', textOf(given.name), detail)]);
  }
  const account = found(ports, tokenRequests.resource, namespace, name);
  const uid = textOf(account.metadata.uid);
  if (textOf(given.uid) !== '' && given.uid !== uid) {
    const why = `the UID in the token request (${textOf(given.uid)}) does not match the UID of the service account (${uid})`;
    throw conflict({ group: KIND.group, plural: KIND.kind }, name, why);
  }
  const spec = objectOf(asked.spec);
  const audiences = textsOf(spec.audiences).length === 0 ? ports.tokens.audiences : textsOf(spec.audiences);
  const seconds = lifetimeOf(spec);
  const bound = boundTo(ports, spec.boundObjectRef, namespace, name);
  const now = ports.now();
  const from = Math.floor(now / 1000);
  const subject = { namespace, account: { name, uid }, ...bound };
  const claims = tokenClaims(ports.tokens.issuer, subject, { from, seconds }, audiences, ports.id());
  return {
    kind: KIND.kind,
    apiVersion: `${KIND.group}/v1`,
    metadata: { ...given, name, namespace, uid, creationTimestamp: timeText(now) },
    spec: { audiences: [...audiences], expirationSeconds: seconds, boundObjectRef: spec.boundObjectRef ?? null },
    status: { token: signToken(ports.tokens.keys[0], claims), expirationTimestamp: timeText((from + seconds) * 1000) },
  };
}

function lifetimeOf({ expirationSeconds }: JsonObject): number {
  if (expirationSeconds === undefined || expirationSeconds === null) return DEFAULT;
  const seconds = integerOf(expirationSeconds) ?? 0;
  const refuse = (detail: string): Error =>
    invalidObject(KIND, '', [invalid('spec.expirationSeconds', seconds, detail)]);
  if (seconds < SHORTEST) throw refuse('may not specify a duration less than 10 minutes');
  if (seconds > LONGEST) throw refuse('may not specify a duration larger than 2^32 seconds');
  return Number(seconds);
}

function boundTo(ports: IssuePorts, wanted: unknown, namespace: string, account: string): Bound {
  if (!isObject(wanted)) return {};
  const kind = textOf(wanted.kind);
  const version = textOf(wanted.apiVersion);
  const name = textOf(wanted.name);
  const refOf = (object: Draft): Ref => {
    const uid = textOf(object.metadata.uid);
    if (textOf(wanted.uid) !== '' && wanted.uid !== uid) {
      const why = `the UID in the bound object reference (${textOf(wanted.uid)}) does not match the UID in record. The object might have been deleted and then recreated`;
      throw conflict({ group: '', plural: kind }, name, why);
    }
    return { name, uid };
  };
  if (!version.includes('/')) {
    if (kind === 'Pod') {
      const pod = found(ports, 'pods', namespace, name);
      if (objectOf(pod.spec).serviceAccountName !== account) {
        const why = `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`;
        throw badRequest(why);
      }
      return { pod: refOf(pod), node: nodeOf(ports, pod) };
    }
    if (kind === 'Secret') return { secret: refOf(found(ports, 'secrets', namespace, name)) };
    if (kind === 'Node') return { node: refOf(found(ports, 'nodes', '', name)) };
  }
  const [group, number] = version.includes('/') ? version.split('/') : ['', version];
  throw badRequest(`cannot bind token to object of type ${group}/${number}, Kind=${kind}`);
}

/** A node that is not there is told by its name alone. */
function nodeOf({ store }: IssuePorts, pod: Draft): Ref | undefined {
  const name = textOf(objectOf(pod.spec).nodeName);
  if (name === '') return undefined;
  const node = objectAt(store, { resource: 'nodes', namespace: '', name });
  return { name, uid: textOf(node?.metadata.uid) };
}

function found({ store }: IssuePorts, resource: string, namespace: string, name: string): Draft {
  const object = objectAt(store, { resource, namespace, name });
  if (object === undefined) throw notFound({ group: '', plural: resource }, name);
  return object;
}
