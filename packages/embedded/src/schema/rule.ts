/** One rule of `x-kubernetes-validations`, compiled. */
import { compile, type Program, type Uncompiled } from '../cel/environment.ts';
import { type CelType, optionalOf } from '../cel/type.ts';
import type { DeclaredType } from './declared-type.ts';
import { normalizeFieldPath } from './field-path.ts';
import type { JsonSchema, ValidationRule } from './json-schema.ts';

export interface CompiledRule {
  readonly source: ValidationRule;
  readonly program?: Program;
  /** What is wrong with it. */
  readonly problem?: string;
  readonly usesOldSelf: boolean;
  readonly message?: Program;
  readonly messageProblem?: string;
  /** Where its failure is reported, below the place of the rule. */
  readonly fieldPath?: string;
}

export function compileRule(source: ValidationRule, schema: JsonSchema, declared: DeclaredType): CompiledRule {
  if (source.rule.trim() === '') return { source, usesOldSelf: false };
  const { type } = declared;
  const variables = new Map<string, CelType>([
    ['self', type],
    ['oldSelf', source.optionalOldSelf === true ? optionalOf(type) : type],
  ]);
  const program = compile(source.rule, variables);
  const problem = problemOf(program, 'bool', '', 'cel expression must evaluate to a bool');
  if ('problem' in program || problem !== undefined) {
    return { source, usesOldSelf: false, problem: problem as string };
  }
  const usesOldSelf = program.uses('oldSelf');
  const fieldPath = source.fieldPath ? normalizeFieldPath(source.fieldPath, schema) : undefined;
  const rule = { source, program, usesOldSelf, ...(fieldPath === undefined ? {} : { fieldPath }) };
  if (source.messageExpression === undefined || source.messageExpression === '') return rule;
  const message = compile(source.messageExpression, variables);
  const text = 'messageExpression must evaluate to a string';
  const messageProblem = problemOf(message, 'string', 'messageExpression ', text);
  if ('problem' in message || messageProblem !== undefined)
    return { ...rule, messageProblem: messageProblem as string };
  return { ...rule, message };
}

function problemOf(program: Program | Uncompiled, kind: string, prefix: string, wrongType: string): string | undefined {
  if (!('problem' in program)) return program.type.kind === kind ? undefined : wrongType;
  if (program.reason === 'issues') return `${prefix}compilation failed: ${program.problem}`;
  return `${prefix === '' ? 'program ' : prefix}instantiation failed: ${program.problem}`;
}
