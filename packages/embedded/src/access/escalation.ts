/** Nobody gives rights that he does not have: checked when roles and bindings are written. */
import { goQuote } from '../format/go-text.ts';
import { type Draft, isSame, objectOf, setField, textOf } from '../object/draft.ts';
import type { WriteCheck } from '../rest/context.ts';
import { forbiddenRequest, notFound, Refusal } from '../status/refusal.ts';
import type { Attributes, User } from './access.ts';
import { compacted, uncovered } from './cover.ts';
import { MASTERS, RBAC } from './groups.ts';
import { type AuthorizeNow, grantsOf, problemsText } from './rbac.ts';
import { readRoleRef, type RoleRef, type Roles } from './roles.ts';
import { goList, type PolicyRule, readRules, ruleText } from './rule.ts';

const ROLES = ['roles', 'clusterroles'];
const BINDINGS = ['rolebindings', 'clusterrolebindings'];
const EVERYTHING: readonly PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [], verbs: ['*'] },
  { apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'], verbs: ['*'] },
];

/** Undefined: what is written gives no rights. */
export function escalationCheck(roles: Roles, authorize: AuthorizeNow, attributes: Attributes): WriteCheck | undefined {
  const { user, group, resource } = attributes;
  if (group !== RBAC || user.groups.includes(MASTERS)) return undefined;
  if (ROLES.includes(resource)) return roleCheck(roles, authorize, attributes);
  return BINDINGS.includes(resource) ? bindingCheck(roles, authorize, attributes) : undefined;
}

function roleCheck(roles: Roles, authorize: AuthorizeNow, attributes: Attributes): WriteCheck | undefined {
  const { user, namespace } = attributes;
  if (authorize({ ...attributes, verb: 'escalate', subresource: '' }).allowed) return undefined;
  return (role, old) => {
    if (isForCollectorOnly(role, old)) return;
    const refuse = (why: string): Refusal => forbidden(attributes, role, why);
    const problem = escalation(roles, user, namespace, readRules(role.rules));
    if (problem !== undefined) throw refuse(problem);
    // It can gather anything, and keeps rules from being tightened.
    if (!aggregates(role) && !(old !== undefined && aggregates(old))) return;
    if (escalation(roles, user, namespace, EVERYTHING) !== undefined) {
      throw refuse('must have cluster-admin privileges to use the aggregationRule');
    }
  };
}

function aggregates({ aggregationRule }: Draft): boolean {
  const { clusterRoleSelectors } = objectOf(aggregationRule);
  return Array.isArray(clusterRoleSelectors) && clusterRoleSelectors.length > 0;
}

function bindingCheck(roles: Roles, authorize: AuthorizeNow, attributes: Attributes): WriteCheck {
  const { user, namespace } = attributes;
  return (binding, old) => {
    if (isForCollectorOnly(binding, old)) return;
    const ref = readRoleRef(binding);
    if (mayBind(authorize, attributes, ref)) return;
    const rules = roles.rulesOf(ref, namespace);
    if (rules === undefined) throw unresolved(ref, attributes);
    const problem = escalation(roles, user, namespace, rules);
    if (problem !== undefined) throw forbidden(attributes, binding, problem);
  };
}

function mayBind(authorize: AuthorizeNow, attributes: Attributes, ref: RoleRef): boolean {
  if (ref.kind !== 'ClusterRole' && ref.kind !== 'Role') return false;
  const resource = ref.kind === 'Role' ? 'roles' : 'clusterroles';
  const asked = { ...attributes, verb: 'bind', group: ref.apiGroup, resource, subresource: '', name: ref.name };
  return authorize(asked).allowed;
}

/** The server names the role and, strangely, calls it what the request is about. */
function unresolved({ kind, name }: RoleRef, { group, resource }: Attributes): Refusal {
  if (kind === 'ClusterRole' || kind === 'Role') return notFound({ group, plural: resource }, name);
  return new Refusal(500, '', `unsupported role reference kind: ${goQuote(kind)}`);
}

/** Why these rules are more than the user has. */
function escalation(roles: Roles, user: User, namespace: string, wanted: readonly PolicyRule[]): string | undefined {
  const { granted, problems } = grantsOf(roles, user, namespace);
  const missing = uncovered(
    [...granted].map(({ rule }) => rule),
    wanted,
  );
  if (missing.length === 0) return undefined;
  const lines = [...new Set(compacted(missing).map(ruleText))].sort();
  const who = `user ${goQuote(user.name)} (groups=${goList(user.groups)})`;
  const text = `${who} is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}`;
  return problems.length === 0 ? text : `${text}; resolution errors: [${problemsText(problems)}]`;
}

function forbidden({ group, resource }: Attributes, object: Draft, why: string): Refusal {
  return forbiddenRequest({ group, plural: resource }, textOf(object.metadata.name), why);
}

/** Whoever collects garbage need not have the rights of what he collects. */
function isForCollectorOnly(object: Draft, old: Draft | undefined): boolean {
  if (old === undefined) return false;
  const metadata = { ...object.metadata };
  for (const field of ['ownerReferences', 'finalizers', 'selfLink', 'managedFields'])
    setField(metadata, field, old.metadata[field]);
  return isSame({ ...object, metadata }, old);
}
