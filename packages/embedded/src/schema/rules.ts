/** All rules of a schema, and what they say about an object. */
import { isObject } from '../object/draft.ts';
import type { Activation } from '../cel/evaluator.ts';
import { WorkBudget } from '../cel/meter.ts';
import { NONE, Optional, type Value } from '../cel/value.ts';
import { type Correlation, OldItems } from './correlation.ts';
import { type DeclaredType, declareType, withMetadata } from './declared-type.ts';
import {
  child,
  duplicate,
  type FieldError,
  forbidden,
  index,
  invalid,
  key,
  OMITTED,
  required,
} from '../status/field-error.ts';
import {
  additionalOf,
  isEmbedded,
  itemsOf,
  type JsonSchema,
  propertiesOf,
  rulesOf,
  type ValidationRule,
} from './json-schema.ts';
import { type CompiledRule, compileRule } from './rule.ts';
import { typedValue } from './typed-value.ts';

/** What all rules of one object may cost together, as on the real server. */
export const OBJECT_BUDGET = 10_000_000;
const LONGEST_MESSAGE = 5 * 1024;

/** Rules at a place in the schema, and below it. */
export interface RuleTree {
  readonly schema: JsonSchema;
  readonly isResource: boolean;
  readonly rules: readonly CompiledRule[];
  readonly items?: RuleTree;
  readonly additional?: RuleTree;
  readonly properties: ReadonlyMap<string, RuleTree>;
}

/** Nothing when there are no rules. */
export function compileRules(schema: JsonSchema, isResource: boolean): RuleTree | undefined {
  return compileTree(schema, isResource, declareType(schema, isResource));
}

function compileTree(
  schema: JsonSchema,
  isResource: boolean,
  declared: DeclaredType | undefined,
): RuleTree | undefined {
  const rules = declared ? rulesOf(schema).map((rule) => compileRule(rule, schema, declared)) : [];
  const inner = (part: JsonSchema | undefined): RuleTree | undefined => part && compileRules(part, isEmbedded(part));
  const items = inner(itemsOf(schema));
  const additional = inner(additionalOf(schema));
  const properties = new Map<string, RuleTree>();
  for (const [name, property] of propertiesOf(schema)) {
    const tree = inner(property);
    if (tree) properties.set(name, tree);
  }
  if (rules.length === 0 && !items && !additional && properties.size === 0) return undefined;
  return {
    schema: isResource ? withMetadata(schema) : schema,
    isResource,
    rules,
    properties,
    ...(items ? { items } : {}),
    ...(additional ? { additional } : {}),
  };
}

export interface RuleRun {
  readonly errors: readonly FieldError[];
  /** Negative when it is used up: nothing more was looked at. */
  readonly budget: number;
}

export interface RunOptions {
  /** Where the value stands. */
  readonly path?: string;
  readonly correlation?: Correlation | undefined;
  /** Default: OBJECT_BUDGET. */
  readonly budget?: number;
  readonly work?: WorkBudget;
}

/** With a correlation, rules that do not look back say nothing about what did not change. */
export function runRules(tree: RuleTree, value: unknown, old: unknown, options: RunOptions = {}): RuleRun {
  const runner = new Runner(options.budget ?? OBJECT_BUDGET, options.work ?? new WorkBudget());
  const place = { path: options.path ?? '', correlation: options.correlation, nearest: undefined };
  runner.visit(tree, value, old, place);
  return { errors: runner.errors, budget: runner.budget };
}

interface Place {
  readonly path: string;
  readonly correlation: Correlation | undefined;
  /** The nearest value around that could be compared with what it was. */
  readonly nearest: Correlation | undefined;
}

class Runner {
  readonly errors: FieldError[] = [];
  readonly #work: WorkBudget;
  budget: number;

  constructor(budget: number, work: WorkBudget) {
    this.budget = budget;
    this.#work = work;
  }

  visit(tree: RuleTree, value: unknown, old: unknown, place: Place): void {
    if (value === null || value === undefined) return;
    this.#runAll(tree, value, old, place);
    if (Array.isArray(value) && tree.items) {
      const before = new OldItems(tree.schema, Array.isArray(old) ? old : []);
      for (const [at, item] of value.entries()) {
        if (this.budget < 0) return;
        const inner = place.correlation
          ? { correlation: place.correlation.index(at), nearest: place.correlation }
          : place;
        this.visit(tree.items, item, before.find(item), { ...inner, path: index(place.path, at) });
      }
    }
    if (!isObject(value)) return;
    for (const name of Object.keys(value).toSorted()) {
      const own = tree.properties.get(name);
      for (const [part, path] of [
        [tree.additional, key(place.path, name)],
        [own, child(place.path, name)],
      ] as const) {
        if (this.budget < 0) return;
        if (!part) continue;
        const oldValue = isObject(old) && Object.hasOwn(old, name) ? old[name] : undefined;
        this.visit(part, value[name], oldValue, { ...below(place, name), path });
      }
    }
  }

  #runAll(tree: RuleTree, value: unknown, old: unknown, place: Place): void {
    const { schema, rules } = tree;
    const type = schema.type ?? '';
    if (rules.length === 0 || this.budget < 0) return;
    if (this.budget === 0) return this.#outOfBudget(place.path, type);
    for (const rule of rules) {
      if (this.budget < 0) return;
      if (rule.problem !== undefined) {
        this.errors.push(invalid(place.path, type, `rule compile error: ${rule.problem}`));
        continue;
      }
      const isFirst = old === undefined || old === null;
      if (!rule.program || (rule.usesOldSelf && isFirst && rule.source.optionalOldSelf !== true)) continue;
      this.#run(rule, tree, value, place, activationFor(rule, schema, value, isFirst ? undefined : old));
    }
  }

  #run(rule: CompiledRule, tree: RuleTree, value: unknown, place: Place, activation: Activation): void {
    const type = tree.schema.type ?? '';
    const outcome = rule.program?.evaluate(activation, this.#work.limits());
    if (!outcome) return;
    this.#work.take(outcome.steps);
    if (outcome.cost > this.budget) return this.#outOfBudget(place.path, type);
    this.budget -= outcome.cost;
    const { error } = outcome;
    if (error !== undefined) {
      this.errors.push(invalid(place.path, type, evaluationProblem(error, rule.source)));
      if (outcome.exceeded) this.budget = -1;
      return;
    }
    if (outcome.value === true) return;
    const path = rule.fieldPath === undefined ? place.path : child(place.path, rule.fieldPath);
    const isForgiven = !rule.usesOldSelf && (place.correlation ?? place.nearest)?.isUnchanged() === true;
    const add = (made: FieldError): void => {
      if (!isForgiven) this.errors.push(made);
    };
    const detail = this.#message(rule, activation);
    if (typeof detail !== 'string') {
      add(invalid(path, type, detail.problem));
      this.budget = -1;
      return;
    }
    const shown = type === 'object' || type === 'array' ? OMITTED : value;
    add(failure(path, shown, detail, rule.source.reason));
  }

  /** The text of a failure; a `problem` when finding it used up the budget. */
  #message(rule: CompiledRule, activation: Activation): string | { readonly problem: string } {
    const outcome = rule.message?.evaluate(activation, this.#work.limits());
    if (!outcome) return messageOf(rule.source);
    this.#work.take(outcome.steps);
    if (outcome.cost > this.budget) {
      return {
        problem:
          'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
      };
    }
    if (outcome.exceeded) {
      const text = JSON.stringify(rule.source.messageExpression);
      return {
        problem: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${text}`,
      };
    }
    this.budget -= outcome.cost;
    const text = typeof outcome.value === 'string' ? outcome.value.trim() : '';
    const isUsable = text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= LONGEST_MESSAGE;
    return isUsable ? text : messageOf(rule.source);
  }

  #outOfBudget(path: string, type: string): void {
    const detail = 'validation failed due to running out of cost budget, no further validation rules will be run';
    this.errors.push(invalid(path, type, detail));
    this.budget = -1;
  }
}

/** apiVersion and kind of the whole object are never forgiven. */
function below(place: Place, name: string): Omit<Place, 'path'> {
  if (!place.correlation) return place;
  if (!place.nearest && (name === 'apiVersion' || name === 'kind'))
    return { correlation: undefined, nearest: undefined };
  return { correlation: place.correlation.key(name), nearest: place.correlation };
}

/** Both are made once and only if they are asked for. */
function activationFor(rule: CompiledRule, schema: JsonSchema, value: unknown, old: unknown): Activation {
  let self: Value | undefined;
  let oldSelf: Value | undefined;
  return (name) => {
    if (name === 'self') {
      self ??= typedValue(value, schema);
      return self;
    }
    if (name !== 'oldSelf') return undefined;
    if (old !== undefined) oldSelf ??= typedValue(old, schema);
    if (rule.source.optionalOldSelf !== true) return oldSelf;
    return oldSelf === undefined ? NONE : new Optional(oldSelf);
  };
}

const nameOf = ({ message, rule }: ValidationRule): string => (message ? message : rule).trim();
const messageOf = (rule: ValidationRule): string =>
  rule.message ? rule.message.trim() : `failed rule: ${nameOf(rule)}`;

function evaluationProblem(error: string, rule: ValidationRule): string {
  if (error.startsWith('no such overload')) {
    return `'${error}': call arguments did not match a supported operator, function or macro signature for rule: ${nameOf(rule)}`;
  }
  if (error.startsWith('operation cancelled: actual cost limit exceeded')) {
    return `'${error}': no further validation rules will be run due to call cost exceeds limit for rule: ${nameOf(rule)}`;
  }
  return `${error} evaluating rule: ${nameOf(rule)}`;
}

function failure(path: string, value: unknown, detail: string, reason: string | undefined): FieldError {
  switch (reason) {
    case 'FieldValueForbidden':
      return forbidden(path, detail);
    case 'FieldValueRequired':
      return required(path, detail);
    case 'FieldValueDuplicate':
      return duplicate(path, value);
    default:
      return invalid(path, value, detail);
  }
}
