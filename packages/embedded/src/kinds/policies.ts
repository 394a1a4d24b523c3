/** ValidatingAdmissionPolicy and its binding as kinds. What they do to requests is in `admission`. */
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../admission/policy.ts';
import { bindingErrors, policyErrors } from '../admission/policy-check.ts';
import { withBindingDefaults, withPolicyDefaults } from '../admission/policy-default.ts';
import { type Draft, isSame } from '../object/draft.ts';
import type { FieldError } from '../status/field-error.ts';
import { within } from './defaults/fill.ts';
import { builtin } from './describe.ts';
import type { Kind } from './kind.ts';

const GROUP = 'admissionregistration.k8s.io';
export const POLICY_STORED = `validatingadmissionpolicies.${GROUP}`;
export const BINDING_STORED = `validatingadmissionpolicybindings.${GROUP}`;

/** Objects are of their types once they are decoded. */
export const asPolicy = (object: Draft): ValidatingAdmissionPolicy => object as unknown as ValidatingAdmissionPolicy;
export const asBinding = (object: Draft): ValidatingAdmissionPolicyBinding =>
  object as unknown as ValidatingAdmissionPolicyBinding;

/** What did not change was accepted before, perhaps by another version of the language. */
const checked =
  (errorsOf: (object: Draft) => readonly FieldError[]) =>
  (object: Draft, old: Draft | undefined): readonly FieldError[] =>
    old !== undefined && isSame(object.spec, old.spec) ? [] : errorsOf(object);

export const policyKinds: readonly Kind[] = [
  builtin(GROUP, {
    plural: 'validatingadmissionpolicies',
    kind: 'ValidatingAdmissionPolicy',
    namespaced: false,
    categories: ['api-extensions'],
    version: { status: true },
    unconditionalUpdate: false,
    generation: 'spec',
    statusKeeps: 'all',
    defaults(policy) {
      within(policy, 'spec');
      Object.assign(policy, withPolicyDefaults(asPolicy(policy)));
    },
    prepareCreate(policy) {
      policy.status = {};
    },
    validate: checked((policy) => policyErrors(asPolicy(policy))),
  }),
  builtin(GROUP, {
    plural: 'validatingadmissionpolicybindings',
    kind: 'ValidatingAdmissionPolicyBinding',
    namespaced: false,
    categories: ['api-extensions'],
    unconditionalUpdate: false,
    generation: 'spec',
    defaults(binding) {
      within(binding, 'spec');
      Object.assign(binding, withBindingDefaults(asBinding(binding)));
    },
    validate: checked((binding) => bindingErrors(asBinding(binding))),
  }),
];
