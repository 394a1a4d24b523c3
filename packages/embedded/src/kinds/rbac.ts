/** Roles and bindings: what is wrong with them. */
import type { Json } from '@reeve/kube';
import { type Draft, isObject, isSame, type JsonObject, objectOf, textOf, textsOf } from '../object/draft.ts';
import { dnsSubdomain, pathSegment } from '../object/names.ts';
import { type FieldError, invalid, notSupported, required } from '../status/field-error.ts';
import { each } from './defaults/fill.ts';
import { defaultBinding } from './defaults/others.ts';
import { builtin } from './describe.ts';
import type { Kind } from './kind.ts';

const GROUP = 'rbac.authorization.k8s.io';

export const rbacKinds: readonly Kind[] = [
  { plural: 'roles', kind: 'Role', validate: (role: Draft) => ruleErrors(role, true) },
  {
    plural: 'rolebindings',
    kind: 'RoleBinding',
    defaults: defaultBinding,
    validate: (binding: Draft, old: Draft | undefined) => bindingErrors(binding, old, ['Role', 'ClusterRole']),
  },
  {
    plural: 'clusterroles',
    kind: 'ClusterRole',
    namespaced: false,
    validate: (role: Draft) => [...ruleErrors(role, false), ...aggregationErrors(role)],
  },
  {
    plural: 'clusterrolebindings',
    kind: 'ClusterRoleBinding',
    namespaced: false,
    defaults: defaultBinding,
    validate: (binding: Draft, old: Draft | undefined) => bindingErrors(binding, old, ['ClusterRole']),
  },
].map((one) => builtin(GROUP, { ...one, nameRule: pathSegment, createOnUpdate: true }));

function ruleErrors(role: Draft, isNamespaced: boolean): readonly FieldError[] {
  return each(role, 'rules').flatMap((rule, index) => {
    const at = (field: string): string => `rules[${index}].${field}`;
    const has = (field: string): boolean => textsOf(rule[field]).length > 0;
    const errors: FieldError[] = [];
    if (!has('verbs')) errors.push(required(at('verbs'), 'verbs must contain at least one value'));
    if (has('nonResourceURLs')) {
      const wrong = (detail: string): FieldError => invalid(at('nonResourceURLs'), rule.nonResourceURLs, detail);
      if (isNamespaced) errors.push(wrong('namespaced rules cannot apply to non-resource URLs'));
      if (has('apiGroups') || has('resources') || has('resourceNames'))
        errors.push(wrong('rules cannot apply to both regular resources and non-resource URLs'));
      return errors;
    }
    if (!has('apiGroups')) errors.push(required(at('apiGroups'), 'resource rules must supply at least one api group'));
    if (!has('resources')) errors.push(required(at('resources'), 'resource rules must supply at least one resource'));
    return errors;
  });
}

/** The selectors themselves are not checked: one that makes no sense selects nothing. */
function aggregationErrors({ aggregationRule }: Draft): readonly FieldError[] {
  if (!isObject(aggregationRule) || each(aggregationRule, 'clusterRoleSelectors').length > 0) return [];
  const detail = 'at least one clusterRoleSelector required if aggregationRule is non-nil';
  return [required('aggregationRule.clusterRoleSelectors', detail)];
}

function bindingErrors(binding: Draft, old: Draft | undefined, kinds: readonly string[]): readonly FieldError[] {
  const ref = objectOf(binding.roleRef);
  const errors: FieldError[] = [];
  if (ref.apiGroup !== GROUP) errors.push(notSupported('roleRef.apiGroup', textOf(ref.apiGroup), [GROUP]));
  if (!kinds.includes(textOf(ref.kind))) errors.push(notSupported('roleRef.kind', textOf(ref.kind), kinds));
  const name = textOf(ref.name);
  if (name === '') errors.push(required('roleRef.name', ''));
  else errors.push(...pathSegment(name, false).map((detail) => invalid('roleRef.name', name, detail)));
  const isNamespaced = kinds.includes('Role');
  errors.push(
    ...each(binding, 'subjects').flatMap((one, index) => subjectErrors(one, isNamespaced, `subjects[${index}]`)),
  );
  if (old !== undefined && !isSame(old.roleRef, binding.roleRef)) {
    errors.push(invalid('roleRef', shownRef(objectOf(binding.roleRef)), 'cannot change roleRef'));
  }
  return errors;
}

function subjectErrors(subject: JsonObject, isNamespaced: boolean, at: string): readonly FieldError[] {
  const name = textOf(subject.name);
  const group = textOf(subject.apiGroup);
  const errors: FieldError[] = name === '' ? [required(`${at}.name`, '')] : [];
  switch (subject.kind) {
    case 'ServiceAccount':
      if (name !== '') errors.push(...dnsSubdomain(name, false).map((detail) => invalid(`${at}.name`, name, detail)));
      if (group !== '') errors.push(notSupported(`${at}.apiGroup`, group, ['']));
      if (!isNamespaced && textOf(subject.namespace) === '') errors.push(required(`${at}.namespace`, ''));
      return errors;
    case 'User':
    case 'Group':
      if (group !== GROUP) errors.push(notSupported(`${at}.apiGroup`, group, [GROUP]));
      return errors;
    default:
      return [...errors, notSupported(`${at}.kind`, textOf(subject.kind), ['ServiceAccount', 'User', 'Group'])];
  }
}

/** A struct of Go's, under the names that it has there. */
const shownRef = ({ apiGroup = '', kind = '', name = '' }: JsonObject): ReadonlyMap<string, Json> =>
  new Map([
    ['APIGroup', apiGroup],
    ['Kind', kind],
    ['Name', name],
  ]);
