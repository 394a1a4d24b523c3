/** What the server refuses when a policy or a binding is written. Both are expected with their defaults filled in. */
import { dns1123Subdomain, qualifiedName } from '../format/names.ts';
import {
  append,
  child,
  duplicate,
  type FieldError,
  forbidden,
  index,
  invalid,
  notSupported,
  required,
} from '../status/field-error.ts';
import { type CompiledValidation, compilePolicy, type Expression } from './compiled-policy.ts';
import type {
  MatchResources,
  NamedExpression,
  ParamRef,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from './policy.ts';

const lineBreak = /[\n\r]/;
const MOST_CONDITIONS = 64;

export function policyErrors(policy: ValidatingAdmissionPolicy): readonly FieldError[] {
  const { spec } = policy;
  const { failurePolicy, paramKind, matchConstraints, variables = [], validations = [], auditAnnotations = [] } = spec;
  const compiled = compilePolicy(policy);
  const errors: FieldError[] = [];
  append(errors, oneOf('spec.failurePolicy', failurePolicy, ['Fail', 'Ignore']));
  if (paramKind && !paramKind.apiVersion) errors.push(required('spec.paramKind.apiVersion'));
  if (paramKind && !paramKind.kind) errors.push(required('spec.paramKind.kind'));
  if (!matchConstraints) errors.push(required('spec.matchConstraints'));
  else {
    append(errors, matchErrors(matchConstraints, 'spec.matchConstraints'));
    if ((matchConstraints.resourceRules ?? []).length === 0) {
      errors.push(required('spec.matchConstraints.resourceRules'));
    }
  }
  append(errors, conditionErrors(spec.matchConditions ?? [], compiled.matchConditions));
  for (const [at, variable] of variables.entries()) {
    append(errors, variableErrors(variable, compiled.variables.get(variable.name), index('spec.variables', at)));
  }
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item';
    errors.push(required('spec.validations', detail), required('spec.auditAnnotations', detail));
  }
  for (const [at, validation] of compiled.validations.entries()) {
    append(errors, validationErrors(validation, index('spec.validations', at)));
  }
  return errors;
}

function oneOf(path: string, value: string | undefined, supported: readonly string[]): readonly FieldError[] {
  if (value === undefined) return [required(path)];
  return supported.includes(value) ? [] : [notSupported(path, value, supported)];
}

const compileErrors = (expression: Expression | undefined, path: string): readonly FieldError[] =>
  expression && 'problem' in expression ? [invalid(path, expression.text, expression.problem)] : [];

function matchErrors(match: MatchResources, path: string): readonly FieldError[] {
  const rules = (['resourceRules', 'excludeResourceRules'] as const).flatMap((name) =>
    (match[name] ?? []).flatMap((rule, at) => {
      const place = index(child(path, name), at);
      const lists = ['apiGroups', 'apiVersions', 'operations', 'resources'] as const;
      const missing = lists
        .filter((list) => (rule[list] ?? []).length === 0)
        .map((list) => required(child(place, list)));
      return [...missing, ...operationErrors(rule.operations ?? [], child(place, 'operations'))];
    }),
  );
  return [
    ...oneOf(child(path, 'matchPolicy'), match.matchPolicy, ['Equivalent', 'Exact']),
    ...(match.namespaceSelector ? [] : [required(child(path, 'namespaceSelector'))]),
    ...(match.objectSelector ? [] : [required(child(path, 'objectSelector'))]),
    ...rules,
  ];
}

function operationErrors(operations: readonly string[], path: string): readonly FieldError[] {
  const known = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
  const unknown = operations.flatMap((one, at) =>
    known.includes(one) ? [] : [notSupported(index(path, at), one, known)],
  );
  if (operations.length < 2 || !operations.includes('*')) return unknown;
  return [...unknown, invalid(path, operations, "if '*' is present, must not specify other operations")];
}

function conditionErrors(
  conditions: readonly NamedExpression[],
  compiled: readonly Expression[],
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (conditions.length > MOST_CONDITIONS) {
    errors.push({
      type: 'FieldValueTooMany',
      field: 'spec.matchConditions',
      message: `Too many: ${conditions.length}: must have at most ${MOST_CONDITIONS} items`,
    });
  }
  const seen = new Set<string>();
  for (const [at, { name, expression }] of conditions.entries()) {
    const path = index('spec.matchConditions', at);
    if (expression.trim() === '') errors.push(required(child(path, 'expression')));
    else append(errors, compileErrors(compiled[at], child(path, 'expression')));
    if (name === '') errors.push(required(child(path, 'name')));
    else if (seen.has(name)) errors.push(duplicate(child(path, 'name'), name));
    else {
      const problems = qualifiedName(name);
      append(
        errors,
        problems.map((problem) => invalid(child(path, 'name'), name, problem)),
      );
    }
    seen.add(name);
  }
  return errors;
}

function variableErrors(
  { name, expression }: NamedExpression,
  compiled: Expression | undefined,
  path: string,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (name.trim() === '') errors.push(required(child(path, 'name'), 'name is not specified'));
  else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name)) {
    errors.push(invalid(child(path, 'name'), name, 'must be a valid CEL identifier'));
  }
  if (expression.trim() === '') {
    return [...errors, required(child(path, 'expression'), 'expression is not specified')];
  }
  return [...errors, ...compileErrors(compiled, child(path, 'expression'))];
}

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized'];

function validationErrors({ source, expression, message }: CompiledValidation, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { messageExpression = '', reason } = source;
  if (source.expression.trim() === '') {
    errors.push(required(child(path, 'expression'), 'expression is not specified'));
  } else append(errors, compileErrors(expression, child(path, 'expression')));
  const blank = 'must be non-empty if specified';
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.push(invalid(child(path, 'messageExpression'), messageExpression, blank));
  } else append(errors, compileErrors(message, child(path, 'messageExpression')));
  const text = source.message ?? '';
  if (text !== '' && text.trim() === '') errors.push(invalid(child(path, 'message'), text, blank));
  else if (lineBreak.test(text.trim())) {
    errors.push(invalid(child(path, 'message'), text, 'must not contain line breaks'));
  }
  if (reason !== undefined && !reasons.includes(reason)) {
    errors.push(notSupported(child(path, 'reason'), reason, reasons));
  }
  return errors;
}

export function bindingErrors({ spec }: ValidatingAdmissionPolicyBinding): readonly FieldError[] {
  const { policyName = '', paramRef, matchResources, validationActions = [] } = spec;
  const name = 'spec.policyName';
  const known = ['Audit', 'Deny', 'Warn'];
  const actions = validationActions.flatMap((action, at) => {
    const path = index('spec.validationActions', at);
    return [
      ...(known.includes(action) ? [] : [notSupported(path, action, known)]),
      ...(validationActions.indexOf(action) < at ? [duplicate(path, action)] : []),
    ];
  });
  if (validationActions.includes('Deny') && validationActions.includes('Warn')) {
    const detail =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    actions.push(invalid('spec.validationActions', validationActions, detail));
  }
  if (validationActions.length === 0) {
    actions.push(required('spec.validationActions', 'at least one validation action is required'));
  }
  return [
    ...(policyName === ''
      ? [required(name)]
      : dns1123Subdomain(policyName).map((problem) => invalid(name, policyName, problem))),
    ...(paramRef ? paramRefErrors(paramRef, 'spec.paramRef') : []),
    ...(matchResources ? matchErrors(matchResources, 'spec.matchResources') : []),
    ...actions,
  ];
}

function paramRefErrors(ref: ParamRef, path: string): readonly FieldError[] {
  const { name = '', selector, parameterNotFoundAction } = ref;
  const both = 'name and selector are mutually exclusive';
  return [
    ...(name !== '' && selector
      ? [forbidden(child(path, 'name'), both), forbidden(child(path, 'selector'), both)]
      : []),
    ...(name === '' && !selector ? [required(path, 'one of name or selector must be specified')] : []),
    ...oneOf(child(path, 'parameterNotFoundAction'), parameterNotFoundAction, ['Deny', 'Allow']),
  ];
}
