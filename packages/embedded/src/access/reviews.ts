/** Questions about access, sent as objects that nobody stores: who is this, may he do that. */
import { builtin } from '../kinds/describe.ts';
import type { Kind } from '../kinds/kind.ts';
import { type Draft, isObject, type JsonObject, objectOf, setField, textOf, textsOf } from '../object/draft.ts';
import { type FieldError, invalid } from '../status/field-error.ts';
import { badRequest, internalError, invalidObject, type Refusal, refusalOf } from '../status/refusal.ts';
import { type Attributes, NOWHERE, type User } from './access.ts';
import type { Authentication } from './authentication.ts';
import { type AuthorizeNow, grantsOf, problemsText } from './rbac.ts';
import type { Roles } from './roles.ts';
import { ruleJson } from './rule.ts';

const AUTHENTICATION = 'authentication.k8s.io';
const AUTHORIZATION = 'authorization.k8s.io';
const UNKNOWN = 'invalid bearer token';

const review = (group: string, kind: string, namespaced = false): Kind =>
  builtin(group, { plural: `${kind.toLowerCase()}s`, kind, namespaced, verbs: ['create'] });

export const reviewKinds: readonly Kind[] = [
  review(AUTHENTICATION, 'SelfSubjectReview'),
  review(AUTHENTICATION, 'TokenReview'),
  review(AUTHORIZATION, 'LocalSubjectAccessReview', true),
  review(AUTHORIZATION, 'SelfSubjectAccessReview'),
  review(AUTHORIZATION, 'SelfSubjectRulesReview'),
  review(AUTHORIZATION, 'SubjectAccessReview'),
];

export interface ReviewPorts {
  readonly roles: Roles;
  readonly authorize: AuthorizeNow;
  readonly authentication: Authentication;
  /** Of this server. */
  readonly audiences: readonly string[];
  /** Seconds, as times of objects have them. */
  now(): string;
}

/** The review with its status. Undefined: it is none. */
export function reviewed(ports: ReviewPorts, asked: Draft, { user, namespace }: Attributes): Draft | undefined {
  switch (textOf(asked.kind)) {
    case 'SelfSubjectReview':
      return {
        ...asked,
        metadata: { ...asked.metadata, creationTimestamp: ports.now() },
        status: { userInfo: userInfo(user) },
      };
    case 'TokenReview':
      return reviewToken(ports, asked);
    case 'SubjectAccessReview':
      return reviewAccess(ports, asked, specUser(asked), [...userProblems(asked), ...metadataProblems(asked, '')]);
    case 'SelfSubjectAccessReview':
      return reviewAccess(ports, asked, user, metadataProblems(asked, ''));
    case 'LocalSubjectAccessReview':
      settleNamespace(asked.metadata, namespace);
      return reviewAccess(ports, asked, specUser(asked), [
        ...userProblems(asked),
        ...metadataProblems(asked, namespace),
        ...localProblems(asked, namespace),
      ]);
    case 'SelfSubjectRulesReview':
      return reviewRules(ports, asked, user);
    default:
      return undefined;
  }
}

function settleNamespace(metadata: JsonObject, namespace: string): void {
  if (textOf(metadata.namespace) !== '' && metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  metadata.namespace = namespace;
}

/** What is empty is left out. */
function userInfo({ name, uid = '', groups, extra = {} }: User): JsonObject {
  const info: JsonObject = { username: name };
  if (uid !== '') info.uid = uid;
  if (groups.length > 0) info.groups = [...groups];
  const keys = Object.keys(extra).sort();
  if (keys.length > 0) info.extra = Object.fromEntries(keys.map((key) => [key, [...(extra[key] ?? [])]]));
  return info;
}

function reviewToken({ authentication, audiences }: ReviewPorts, asked: Draft): Draft {
  const spec = objectOf(asked.spec);
  const token = textOf(spec.token);
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const wanted = textsOf(spec.audiences);
  const known = authentication.token(token, wanted.length === 0 ? audiences : wanted);
  if (known.type === 'foreign') throw internalError('a token that nobody judged');
  const status: JsonObject =
    known.type === 'user'
      ? { authenticated: true, user: userInfo(known.user), audiences: [...known.audiences] }
      : { user: {}, error: known.why === UNKNOWN ? UNKNOWN : `[${UNKNOWN}, ${known.why}]` };
  return { ...asked, status };
}

function specUser({ spec }: Draft): User {
  const { user, uid, groups, extra } = objectOf(spec);
  const entries = Object.entries(objectOf(extra)).map(([key, values]) => [key, textsOf(values)] as const);
  return {
    name: textOf(user),
    groups: textsOf(groups),
    ...(textOf(uid) === '' ? {} : { uid: textOf(uid) }),
    ...(entries.length === 0 ? {} : { extra: Object.fromEntries(entries) }),
  };
}

function userProblems({ spec }: Draft): readonly FieldError[] {
  const { user, groups } = objectOf(spec);
  if (textOf(user) !== '' || textsOf(groups).length > 0) return [];
  return [invalid('spec.user', '', 'at least one of user or group must be specified')];
}

function metadataProblems({ metadata }: Draft, namespace: string): readonly FieldError[] {
  const { managedFields: _managed, ...rest } = metadata;
  const others = Object.keys(rest).filter((field) => !(namespace !== '' && field === 'namespace'));
  if (others.length === 0) return [];
  const detail = namespace === '' ? 'must be empty' : 'must be empty except for namespace';
  return [invalid('metadata', metadata, detail)];
}

function localProblems({ spec }: Draft, namespace: string): readonly FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = objectOf(spec);
  const problems: FieldError[] = [];
  const given = textOf(objectOf(resourceAttributes).namespace);
  if (isObject(resourceAttributes) && given !== namespace) {
    problems.push(invalid('spec.resourceAttributes.namespace', given, 'must match metadata.namespace'));
  }
  if (isObject(nonResourceAttributes)) {
    const detail = 'disallowed on this kind of request';
    problems.push(invalid('spec.nonResourceAttributes', nonResourceAttributes, detail));
  }
  return problems;
}

function reviewAccess({ authorize }: ReviewPorts, asked: Draft, user: User, more: readonly FieldError[]): Draft {
  const { resourceAttributes: resource, nonResourceAttributes: path } = objectOf(asked.spec);
  const problems: FieldError[] = [];
  if (isObject(resource) && isObject(path)) {
    const detail = 'cannot be specified in combination with resourceAttributes';
    problems.push(invalid('spec.nonResourceAttributes', path, detail));
  }
  if (!isObject(resource) && !isObject(path)) {
    const detail = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    problems.push(invalid('spec.resourceAttributes', null, detail));
  }
  const all = [...problems, ...more];
  if (all.length > 0) throw refuseInvalid(all);
  const { allowed, reason } = authorize(isObject(resource) ? ofResource(user, resource) : ofPath(user, objectOf(path)));
  const status: JsonObject = { allowed };
  setField(status, 'reason', reason);
  return { ...asked, status };
}

/** The server forgets to say the kind. */
function refuseInvalid(errors: readonly FieldError[]): Refusal {
  const { status } = invalidObject({ group: AUTHORIZATION, kind: '' }, '', errors);
  const { kind: _kind, ...details } = status.details ?? {};
  return refusalOf({ ...status, details });
}

const ofPath = (user: User, { path, verb }: JsonObject): Attributes => ({
  ...NOWHERE,
  user,
  verb: textOf(verb),
  path: textOf(path),
});

function ofResource(user: User, given: JsonObject): Attributes {
  const text = (field: string): string => textOf(given[field]);
  return {
    user,
    verb: text('verb'),
    path: undefined,
    group: text('group'),
    version: text('version'),
    resource: text('resource'),
    subresource: text('subresource'),
    namespace: text('namespace'),
    name: text('name'),
    labelSelector: textOf(objectOf(given.labelSelector).rawSelector),
    fieldSelector: textOf(objectOf(given.fieldSelector).rawSelector),
  };
}

function reviewRules({ roles }: ReviewPorts, asked: Draft, user: User): Draft {
  const namespace = textOf(objectOf(asked.spec).namespace);
  if (namespace === '') throw badRequest('no namespace on request');
  const { granted, problems } = grantsOf(roles, user, namespace);
  const rules = [...granted].map(({ rule }) => rule);
  const isOfPaths = (rule: { readonly nonResourceURLs: readonly string[] }): boolean => rule.nonResourceURLs.length > 0;
  const status: JsonObject = {
    resourceRules: rules.filter((rule) => rule.resources.length > 0).map(ruleJson),
    nonResourceRules: rules.filter(isOfPaths).map(ruleJson),
    incomplete: problems.length > 0,
  };
  if (problems.length > 0) status.evaluationError = problemsText(problems);
  // Which namespace was asked for is not sent back.
  return { ...asked, spec: {}, status };
}
