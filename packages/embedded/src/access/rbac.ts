/** Role based access control: whether a rule of a role that is bound to the user allows the request. */
import { goQuote } from '../format/go-text.ts';
import type { Attributes, User, Verdict } from './access.ts';
import { MASTERS, RBAC } from './groups.ts';
import type { Binding, Roles, RoleRef, Subject } from './roles.ts';
import { type PolicyRule, ruleAllows } from './rule.ts';
import { serviceAccountUser } from './service-account.ts';

export interface Granted {
  readonly rule: PolicyRule;
  readonly binding: Binding;
  readonly subject: Subject;
}

/** What cannot be resolved is told besides: it allows nothing, and takes nothing away. */
export interface Grants {
  readonly granted: Iterable<Granted>;
  /** Complete when all of `granted` was read. */
  readonly problems: readonly string[];
}

/** The rules of a user, lazily: most requests are allowed by one of the first. */
export function grantsOf(roles: Roles, user: User, namespace: string): Grants {
  const problems: string[] = [];
  function* of(bindings: Iterable<Binding>): Generator<Granted> {
    for (const binding of bindings) {
      const subject = binding.subjects.find((one) => appliesTo(one, user, binding.namespace));
      if (subject === undefined) continue;
      const rules = roles.rulesOf(binding.roleRef, binding.namespace);
      if (rules === undefined || !isRoleKind(binding.roleRef)) problems.push(unresolved(binding.roleRef));
      else for (const rule of rules) yield { rule, binding, subject };
    }
  }
  function* all(): Generator<Granted> {
    yield* of(roles.clusterBindings());
    yield* of(roles.bindings(namespace));
  }
  return { granted: all(), problems };
}

const isRoleKind = ({ kind }: RoleRef): boolean => kind === 'ClusterRole' || kind === 'Role';

function unresolved(ref: RoleRef): string {
  if (!isRoleKind(ref)) return `unsupported role reference kind: ${goQuote(ref.kind)}`;
  return `${ref.kind.toLowerCase()}.${RBAC} ${goQuote(ref.name)} not found`;
}

function appliesTo({ kind, name, namespace }: Subject, user: User, bindingNamespace: string): boolean {
  switch (kind) {
    case 'User':
      return user.name === name;
    case 'Group':
      return user.groups.includes(name);
    case 'ServiceAccount': {
      const home = namespace === '' ? bindingNamespace : namespace;
      return home !== '' && user.name === serviceAccountUser(home, name);
    }
    default:
      return false;
  }
}

/** Several problems as one text, each once. */
export function problemsText(problems: readonly string[]): string {
  const once = [...new Set(problems)];
  return once.length === 1 ? (once[0] as string) : `[${once.join(', ')}]`;
}

/** Does not wait: it can be asked within a decision of the store, and by expressions of policies. */
export type AuthorizeNow = (attributes: Attributes) => Verdict;

/** What was decided for a user since the last change of a role. */
interface Decided {
  readonly changes: number;
  readonly verdicts: Map<string, Verdict>;
}

/** Questions that differ in the name of an object are many. */
const MOST_VERDICTS = 1_000;

export function rbacAuthorization(roles: Roles): AuthorizeNow {
  const decide = decideBy(roles);
  const decided = new WeakMap<User, Decided>();
  return (attributes) => {
    const { user, verb, path, group, resource, subresource, namespace, name } = attributes;
    let known = decided.get(user);
    if (known === undefined || known.changes !== roles.changes || known.verdicts.size >= MOST_VERDICTS) {
      known = { changes: roles.changes, verdicts: new Map() };
      decided.set(user, known);
    }
    // As JSON, so that no part can pretend to be two.
    const question = JSON.stringify([verb, path, group, resource, subresource, namespace, name]);
    let verdict = known.verdicts.get(question);
    if (verdict === undefined) {
      verdict = decide(attributes);
      known.verdicts.set(question, verdict);
    }
    return verdict;
  };
}

function decideBy(roles: Roles): AuthorizeNow {
  return (attributes) => {
    const { user, namespace } = attributes;
    if (user.groups.includes(MASTERS)) return { allowed: true };
    const { granted, problems } = grantsOf(roles, user, namespace);
    for (const one of granted) {
      if (ruleAllows(one.rule, attributes)) return allowedBy(one);
    }
    return problems.length === 0 ? { allowed: false } : { allowed: false, reason: `RBAC: ${problemsText(problems)}` };
  };
}

/** Few of those who are allowed something are told why. */
const allowedBy = (granted: Granted): Verdict => ({
  allowed: true,
  get reason() {
    return `RBAC: allowed by ${sourceText(granted)}`;
  },
});

function sourceText({ binding, subject }: Granted): string {
  const { name, namespace, roleRef } = binding;
  const which =
    namespace === '' ? `ClusterRoleBinding ${goQuote(name)}` : `RoleBinding ${goQuote(`${name}/${namespace}`)}`;
  const whom = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace || namespace}` : subject.name;
  return `${which} of ${roleRef.kind} ${goQuote(roleRef.name)} to ${subject.kind} ${goQuote(whom)}`;
}
