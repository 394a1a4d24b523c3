/**
 * @packageDocumentation A Kubernetes-compatible API server in one process. Here: schemas of custom kinds, the expression
 * language, and admission policies; all of them pure.
 */
export { type Activation } from './cel/evaluator.ts';
export { compile, type Outcome, type Program, type Uncompiled } from './cel/environment.ts';
export type { AccessAnswer, AccessQuestion, Authorize } from './cel/library/authorizer.ts';
export { COST_LIMIT } from './cel/meter.ts';
export { type CelType, DYN } from './cel/type.ts';
export { fromJson, type Value } from './cel/value.ts';
export { type Admission, type AdmissionPorts, admit } from './admission/admit.ts';
export { type CompiledPolicy, compilePolicy } from './admission/compiled-policy.ts';
export type { ParamLookup, ParamSource } from './admission/params.ts';
export type {
  LabelSelector,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from './admission/policy.ts';
export { bindingErrors, policyErrors } from './admission/policy-check.ts';
export { withBindingDefaults, withPolicyDefaults } from './admission/policy-default.ts';
export type { AdmissionRequest, EquivalentRequest, UserInfo } from './admission/request.ts';
export { selects } from './admission/selector.ts';
export { CustomResourceSchema, type Decoded } from './schema/custom-resource.ts';
export { type DefinitionOptions, definitionErrors } from './schema/definition.ts';
export { coerceMetadata } from './schema/embedded.ts';
export { describeFieldError, type FieldError, invalidStatus, type Subject } from './schema/field-error.ts';
export type { JsonObject, JsonSchema, ValidationRule } from './schema/json-schema.ts';
export { duplicateFields, strictDecodingError, strictProblems, undecodableStatus } from './schema/strict.ts';
