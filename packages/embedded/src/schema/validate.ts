/** Validates a value against a schema as the server does: every check is made, also after one has failed. */
import { isObject, type JsonObject } from '../object/draft.ts';
import { goJson } from '../format/go-json.ts';
import { goQuote } from '../format/go-text.ts';
import type { Correlation } from './correlation.ts';
import {
  child,
  type FieldError,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from '../status/field-error.ts';
import { additionalOf, itemsOf, type JsonSchema, propertiesOf, propertyOf } from './json-schema.ts';
import { composite, type Problem, Result } from './result.ts';
import {
  checkEnum,
  checkFormat,
  checkItems,
  checkNull,
  checkNumber,
  checkProperties,
  checkString,
  checkType,
  Patterns,
} from './value-checks.ts';

/** With what a value was before, nothing is said about what did not change. */
export function validateValue(
  value: unknown,
  schema: JsonSchema,
  correlation?: Correlation,
  path = '',
  patterns = new Patterns(),
): readonly FieldError[] {
  const validator = new Validator(patterns);
  const result = correlation
    ? validator.ratchet(value, schema, '', correlation)
    : validator.validate(value, schema, '');
  return result.problems.map((problem) => fieldErrorOf(problem, path));
}

class Validator {
  readonly #patterns: Patterns;

  constructor(patterns: Patterns) {
    this.#patterns = patterns;
  }

  /** Errors about something that did not change are forgiven. */
  ratchet(value: unknown, schema: JsonSchema, path: string, correlation: Correlation): Result {
    const result = this.validate(value, schema, path, correlation);
    return result.isValid || !correlation.isUnchanged() ? result : result.forgiven();
  }

  validate(value: unknown, schema: JsonSchema, path: string, correlation?: Correlation): Result {
    const result = new Result();
    const note = (...problems: readonly (Problem | undefined)[]): void => {
      result.add(problems.filter((problem) => problem !== undefined));
      result.matches++;
    };
    if (value === null || value === undefined) {
      note(checkNull(schema, path), checkEnum(null, schema, path));
      return result;
    }
    note(checkType(value, schema, path));
    result.merge(this.#branches(value, schema, path));
    if (typeof value === 'string') {
      note(checkString(value, schema, path, this.#patterns));
      note(checkFormat(value, schema, path));
    }
    if (typeof value === 'number' || typeof value === 'bigint') note(...checkNumber(value, schema, path));
    if (Array.isArray(value)) {
      result.merge(this.#items(value, schema, path, correlation));
      note(...checkItems(value, schema, path));
    }
    note(checkEnum(value, schema, path));
    if (isObject(value)) {
      note(...checkProperties(value, schema, path));
      result.merge(this.#properties(value, schema, path, correlation));
    }
    result.matches++;
    return result;
  }

  #inner(value: unknown, schema: JsonSchema, path: string, correlation: Correlation | undefined): Result {
    return correlation ? this.ratchet(value, schema, path, correlation) : this.validate(value, schema, path);
  }

  #items(list: readonly unknown[], schema: JsonSchema, path: string, correlation?: Correlation): Result {
    const result = new Result();
    const items = itemsOf(schema);
    if (!items) return result;
    for (const [at, item] of list.entries()) {
      result.merge(this.#inner(item, items, `${path}[${at}]`, correlation?.index(at)));
    }
    return result;
  }

  #properties(value: JsonObject, schema: JsonSchema, path: string, correlation?: Correlation): Result {
    const result = new Result();
    // What the object is cannot have changed: apiVersion and kind are no part of what is compared.
    const before = (name: string): Correlation | undefined =>
      path === '' && (name === 'apiVersion' || name === 'kind') ? undefined : correlation?.key(name);
    const additional = additionalOf(schema);
    for (const name of Object.keys(value).toSorted()) {
      if (propertyOf(schema, name)) continue;
      if (schema.additionalProperties === false) {
        result.add([{ kind: 'other', path, message: `${path}.${name} in body is a forbidden property`, value: name }]);
      } else if (additional) result.merge(this.#inner(value[name], additional, `${path}.${name}`, before(name)));
    }
    for (const [name, property] of propertiesOf(schema)) {
      if (!Object.hasOwn(value, name)) continue;
      result.merge(this.#inner(value[name], property, child(path, name), before(name)));
    }
    for (const name of schema.required ?? []) {
      if (Object.hasOwn(value, name)) continue;
      result.add([{ kind: 'required', path: `${path}.${name}`, message: `${path}.${name} in body is required` }]);
    }
    return result;
  }

  /** What a branch says is checked anew each time: the server forgives only what the schema itself says. */
  #branches(value: unknown, schema: JsonSchema, path: string): Result {
    const result = new Result();
    const check = (branch: JsonSchema): Result => this.validate(value, branch, path);
    const { allOf = [], anyOf = [], oneOf = [], not } = schema;
    if (anyOf.length > 0) {
      const { valid, best } = judge(anyOf, check, 'first');
      if (valid === 0) result.add([composite(`${goQuote(path)} must validate at least one schema (anyOf)`)]);
      result.merge(best);
    }
    if (oneOf.length > 0) {
      const { valid, best } = judge(oneOf, check, 'all');
      if (valid !== 1) {
        const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
        result.add([composite(`${goQuote(path)} must validate one and only one schema (oneOf). ${found}`)]);
      }
      if (valid <= 1) result.merge(best);
    }
    if (allOf.length > 0) {
      const results = allOf.map(check);
      for (const one of results) result.merge(one);
      const valid = results.filter(({ isValid }) => isValid).length;
      if (valid !== allOf.length) {
        const none = valid === 0 ? '. None validated' : '';
        result.add([composite(`${goQuote(path)} must validate all the schemas (allOf)${none}`)]);
      }
    }
    if (not && check(not).isValid) result.add([composite(`${goQuote(path)} must not validate the schema (not)`)]);
    result.matches++;
    return result;
  }
}

/** How many branches hold, and the first that does or, if none, the one that came furthest. */
function judge(
  branches: readonly JsonSchema[],
  check: (branch: JsonSchema) => Result,
  until: 'first' | 'all',
): { valid: number; best: Result | undefined } {
  let valid = 0;
  let success: Result | undefined;
  let failure: Result | undefined;
  for (const branch of branches) {
    const result = check(branch);
    if (result.isValid) {
      valid++;
      success ??= result;
      if (until === 'first') break;
    } else if (!failure || result.matches > failure.matches) failure = result;
  }
  return { valid, best: success ?? failure };
}

function fieldErrorOf(problem: Problem, base: string): FieldError {
  const { kind, message, value = '', limit = -1 } = problem;
  if (kind === 'composite') return invalid(base, '', message);
  const inner = problem.path.replace(/^\./, '');
  const path = inner === '' ? base : child(base, inner);
  switch (kind) {
    case 'required':
      return required(path);
    case 'enum': {
      const supported = (problem.supported ?? []).map((one) => (typeof one === 'string' ? one : goJson(one)));
      return notSupported(path, problem.value, supported);
    }
    case 'too-long':
      return tooLong(path, limit);
    case 'too-many':
      return tooMany(path, Number(value), limit);
    case 'type':
      return typeInvalid(path, value, message);
    case 'other':
      return invalid(path, value, message);
  }
}
