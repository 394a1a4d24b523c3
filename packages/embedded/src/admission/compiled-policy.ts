/** A policy with all of its expressions compiled. What does not compile fails when it is needed. */
import { compile, type Program } from '../cel/environment.ts';
import { AUTHORIZER, RESOURCE_CHECK } from '../cel/library/authorizer.ts';
import { type CelType, DYN, fullName, listOf, mapOf, objectOf } from '../cel/type.ts';
import type { ValidatingAdmissionPolicy, Validation } from './policy.ts';
import { NAMESPACE, REQUEST } from './request.ts';

/** An expression, or why it is none. */
export type Expression = { readonly text: string } & ({ readonly program: Program } | { readonly problem: string });

export interface CompiledValidation {
  readonly source: Validation;
  readonly expression: Expression;
  readonly message?: Expression;
}

export interface CompiledPolicy {
  readonly source: ValidatingAdmissionPolicy;
  readonly variables: ReadonlyMap<string, Expression>;
  readonly matchConditions: readonly Expression[];
  readonly validations: readonly CompiledValidation[];
}

export function compilePolicy(source: ValidatingAdmissionPolicy): CompiledPolicy {
  const { paramKind, variables = [], matchConditions = [], validations = [] } = source.spec;
  const base: readonly (readonly [string, CelType])[] = [
    ['object', DYN],
    ['oldObject', DYN],
    ['request', REQUEST],
    ['namespaceObject', NAMESPACE],
    ...(paramKind ? ([['params', DYN]] as const) : []),
  ];
  const withAuthorizer = [...base, ['authorizer', AUTHORIZER], ['authorizer.requestResource', RESOURCE_CHECK]] as const;
  const fields = new Map<string, CelType>();
  const names = (list: readonly (readonly [string, CelType])[]): ReadonlyMap<string, CelType> =>
    variables.length === 0
      ? new Map(list)
      : new Map([...list, ['variables', objectOf('kubernetes.variables', new Map(fields))]]);
  const compiledVariables = new Map<string, Expression>();
  for (const { name, expression } of variables) {
    const compiled = compileExpression(expression, names(withAuthorizer));
    compiledVariables.set(name, compiled);
    fields.set(name, 'program' in compiled ? visibleType(compiled.program.type) : DYN);
  }
  return {
    source,
    variables: compiledVariables,
    matchConditions: matchConditions.map(({ expression }) =>
      compileExpression(expression, names(withAuthorizer), 'bool'),
    ),
    validations: validations.map((validation) => ({
      source: validation,
      expression: compileExpression(validation.expression, names(withAuthorizer), 'bool'),
      ...(validation.messageExpression
        ? { message: compileExpression(validation.messageExpression, names(base), 'string') }
        : {}),
    })),
  };
}

/** Stands for a policy that could not be compiled: what it would be asked fails, and its `failurePolicy` decides. */
export function brokenPolicy(source: ValidatingAdmissionPolicy, problem: string): CompiledPolicy {
  const text = 'the whole policy';
  const validation = { source: { expression: text }, expression: { text, problem } };
  return { source, variables: new Map(), matchConditions: [], validations: [validation] };
}

/** Without `kind` any type will do. */
function compileExpression(text: string, names: ReadonlyMap<string, CelType>, kind?: 'bool' | 'string'): Expression {
  const program = compile(text, names);
  if ('problem' in program) {
    const prefix = program.reason === 'issues' ? 'compilation failed: ' : 'program instantiation failed: ';
    return { text, problem: prefix + program.problem };
  }
  if (kind === undefined || program.type.kind === kind) return { text, program };
  return { text, problem: `must evaluate to ${kind} but got ${fullName(program.type)}` };
}

/** What other expressions know of a variable: lists, maps and simple types. */
function visibleType(type: CelType): CelType {
  const [first = DYN, second = DYN] = type.params;
  switch (type.kind) {
    case 'list':
      return listOf(visibleType(first));
    case 'map':
      return mapOf(visibleType(first), visibleType(second));
    case 'object':
    case 'opaque':
    case 'type':
    case 'param':
    case 'error':
      return DYN;
    default:
      return type;
  }
}
