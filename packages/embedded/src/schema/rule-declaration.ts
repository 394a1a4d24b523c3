/** The rules in a schema: whether they are well written, compile, look back only where that is possible, and are cheap. */
import { declareType } from './declared-type.ts';
import {
  append,
  child,
  type FieldError,
  index,
  internal,
  invalid,
  notSupported,
  required,
} from '../status/field-error.ts';
import { normalizeFieldPath } from './field-path.ts';
import {
  additionalOf,
  isEmbedded,
  itemsOf,
  type JsonSchema,
  propertiesOf,
  rulesOf,
  type ValidationRule,
  sizeOf,
} from './json-schema.ts';
import { compileRule } from './rule.ts';
import { RuleCosts } from './rule-cost.ts';

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const lineBreak = /[\n\r]/;

export class RuleDeclarations {
  /** Where rules look back in vain, by the path of their schema. */
  readonly #uncorrelated = new Map<string, string>();
  readonly #wrong = new Set<string>();

  /** How the rules are written. `before`: how many errors there were before this place and all below it were looked at. */
  declare(
    schema: JsonSchema,
    path: string,
    uncorrelated: string | undefined,
    errors: FieldError[],
    before: number,
  ): void {
    if (uncorrelated !== undefined) this.#uncorrelated.set(path, uncorrelated);
    for (const [at, rule] of rulesOf(schema).entries()) {
      append(errors, wordingErrors(rule, schema, index(child(path, 'x-kubernetes-validations'), at)));
    }
    if (errors.length > before) this.#wrong.add(path);
  }

  /** What the rules say, where nothing else is wrong at their place or below it. */
  check(schema: JsonSchema, path: string): readonly FieldError[] {
    const costs = new RuleCosts();
    const errors: FieldError[] = [];
    this.#visit(schema, path, true, 1, costs, errors);
    return [...errors, ...costs.totalErrors(path)];
  }

  /** `cardinality`: how many values there can be at this place; undefined without bounds. */
  #visit(
    schema: JsonSchema,
    path: string,
    isResource: boolean,
    cardinality: number | undefined,
    costs: RuleCosts,
    errors: FieldError[],
  ): void {
    const most = mostElements(schema);
    const inner = cardinality === undefined || most === undefined ? undefined : cardinality * most;
    const visit = (part: JsonSchema, place: string): void =>
      this.#visit(part, place, isEmbedded(part), inner, costs, errors);
    const additional = additionalOf(schema);
    if (additional) visit(additional, child(path, 'additionalProperties'));
    for (const [name, property] of propertiesOf(schema)) visit(property, `${child(path, 'properties')}[${name}]`);
    const items = itemsOf(schema);
    if (items) visit(items, child(path, 'items'));
    if (rulesOf(schema).length > 0 && !this.#wrong.has(path))
      this.#rules(schema, path, isResource, cardinality, costs, errors);
  }

  #rules(
    schema: JsonSchema,
    path: string,
    isResource: boolean,
    cardinality: number | undefined,
    costs: RuleCosts,
    errors: FieldError[],
  ): void {
    const place = child(path, 'x-kubernetes-validations');
    const declared = declareType(schema, isResource);
    if (!declared) {
      const detail =
        'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations';
      errors.push(internal(place, detail));
      return;
    }
    for (const [at, source] of rulesOf(schema).entries()) {
      const spot = index(place, at);
      const rule = compileRule(source, schema, declared);
      append(errors, costs.observe(rule, declared, cardinality, spot));
      if (rule.problem !== undefined) errors.push(invalid(child(spot, 'rule'), shown(source), rule.problem));
      if (rule.messageProblem !== undefined) {
        errors.push(invalid(child(spot, 'messageExpression'), shown(source), rule.messageProblem));
      }
      const lost = this.#uncorrelated.get(path);
      if (rule.usesOldSelf && lost !== undefined) {
        const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${lost}`;
        errors.push(invalid(child(spot, 'rule'), source.rule, detail));
      } else if (!rule.usesOldSelf && source.optionalOldSelf !== undefined) {
        const detail = 'may not be set if oldSelf is not used in rule';
        errors.push(invalid(child(spot, 'optionalOldSelf'), source.optionalOldSelf, detail));
      }
    }
  }
}

/** As the server's own type writes itself. */
function shown(rule: ValidationRule): ReadonlyMap<string, unknown> {
  return new Map<string, unknown>([
    ['Rule', rule.rule],
    ['Message', rule.message ?? ''],
    ['MessageExpression', rule.messageExpression ?? ''],
    ['Reason', rule.reason ?? null],
    ['FieldPath', rule.fieldPath ?? ''],
    ['OptionalOldSelf', rule.optionalOldSelf ?? null],
  ]);
}

function mostElements({ type, maxItems, maxProperties, additionalProperties }: JsonSchema): number | undefined {
  if (type === 'array') return maxItems === undefined ? undefined : sizeOf(maxItems);
  if (type !== 'object' || additionalProperties === undefined) return 1;
  return maxProperties === undefined ? undefined : sizeOf(maxProperties);
}

function wordingErrors(source: ValidationRule, schema: JsonSchema, path: string): readonly FieldError[] {
  const { rule, message = '', messageExpression = '', reason, fieldPath = '' } = source;
  const errors: FieldError[] = [];
  const at = (name: string): string => child(path, name);
  if (rule.trim() === '') errors.push(required(at('rule'), 'rule is not specified'));
  else if (message !== '' && message.trim() === '') {
    errors.push(invalid(at('message'), message, 'must be non-empty if specified'));
  } else if (lineBreak.test(message.trim())) {
    errors.push(invalid(at('message'), message, 'must not contain line breaks'));
  } else if (lineBreak.test(rule.trim()) && message.trim() === '') {
    errors.push(required(at('message'), 'message must be specified if rule contains line breaks'));
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.push(required(at('messageExpression'), 'messageExpression must be non-empty if specified'));
  }
  if (reason !== undefined && !reasons.includes(reason)) errors.push(notSupported(at('reason'), reason, reasons));
  if (fieldPath === '') return errors;
  if (fieldPath.trim() === '') errors.push(invalid(at('fieldPath'), fieldPath, 'must be non-empty if specified'));
  if (lineBreak.test(fieldPath)) errors.push(invalid(at('fieldPath'), fieldPath, 'must not contain line breaks'));
  if (normalizeFieldPath(fieldPath, schema) === undefined) {
    errors.push(invalid(at('fieldPath'), fieldPath, 'must be a valid path'));
  }
  return errors;
}
