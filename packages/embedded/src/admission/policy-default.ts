/** What the server fills in when a policy or a binding is written. */
import type {
  MatchResources,
  ResourceRule,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from './policy.ts';

export function withPolicyDefaults<T extends ValidatingAdmissionPolicy>(policy: T): T {
  const { matchConstraints } = policy.spec;
  return {
    ...policy,
    spec: {
      failurePolicy: 'Fail',
      ...policy.spec,
      ...(matchConstraints ? { matchConstraints: withMatchDefaults(matchConstraints) } : {}),
    },
  };
}

export function withBindingDefaults<T extends ValidatingAdmissionPolicyBinding>(binding: T): T {
  const { matchResources } = binding.spec;
  if (!matchResources) return binding;
  return { ...binding, spec: { ...binding.spec, matchResources: withMatchDefaults(matchResources) } };
}

function withMatchDefaults(match: MatchResources): MatchResources {
  const scoped = (rules: readonly ResourceRule[]): readonly ResourceRule[] =>
    rules.map((rule) => ({ scope: '*', ...rule }));
  const { resourceRules, excludeResourceRules } = match;
  return {
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    ...match,
    ...(resourceRules ? { resourceRules: scoped(resourceRules) } : {}),
    ...(excludeResourceRules ? { excludeResourceRules: scoped(excludeResourceRules) } : {}),
  };
}
