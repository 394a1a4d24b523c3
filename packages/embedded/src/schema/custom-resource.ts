/** A schema made ready: what a server does with an object of a custom kind on its way in. */
import type { JsonObject } from '../object/draft.ts';
import { Correlation } from './correlation.ts';
import { applyDefaults } from './default.ts';
import { checkEmbedded, coerceEmbedded } from './embedded.ts';
import type { FieldError } from '../status/field-error.ts';
import { type JsonSchema, propertyOf } from './json-schema.ts';
import { checkListTypes } from './list-type.ts';
import { prune, pruneNulls } from './prune.ts';
import { compileRules, type RuleTree, runRules } from './rules.ts';
import { validateValue } from './validate.ts';
import { Patterns } from './value-checks.ts';

export interface Decoded {
  /** Fields that were removed because nobody knows them. With strict validation they are an error. */
  readonly unknown: readonly string[];
  /** An embedded object that is none. */
  readonly error?: FieldError;
}

export class CustomResourceSchema {
  readonly #schema: JsonSchema;
  readonly #rules: RuleTree | undefined;
  readonly #patterns = new Patterns();

  constructor(schema: JsonSchema) {
    this.#schema = schema;
    this.#rules = compileRules(schema, true);
  }

  /**
   * As a request, or an object out of the store, is decoded: prunes, drops nulls that are not allowed, applies defaults;
   * in place. Doing it twice changes nothing.
   */
  decode(object: JsonObject): Decoded {
    const unknown = [...prune(object, this.#schema)];
    pruneNulls(object, this.#schema);
    const error = coerceEmbedded(object, this.#schema, '', unknown);
    if (error) return { unknown, error };
    applyDefaults(object, this.#schema);
    return { unknown };
  }

  /** Defaults alone, in place: what came out of an apply is not read again, so nulls in it are errors. */
  fill(object: JsonObject): void {
    applyDefaults(object, this.#schema);
  }

  /** What is wrong with a new object. Its own metadata is checked elsewhere. */
  validate(object: JsonObject): readonly FieldError[] {
    const errors = [
      ...validateValue(object, this.#schema, undefined, '', this.#patterns),
      ...checkEmbedded(object, this.#schema),
      ...checkListTypes(object, this.#schema),
    ];
    return this.#withRules(errors, object, undefined, undefined);
  }

  /** What is wrong with a changed object. What did not change is not looked at again. */
  validateUpdate(object: JsonObject, old: JsonObject): readonly FieldError[] {
    const correlation = new Correlation(object, old, this.#schema);
    const wasWrong = checkListTypes(old, this.#schema).length > 0;
    const errors = [
      ...validateValue(object, this.#schema, correlation, '', this.#patterns),
      ...checkEmbedded(object, this.#schema),
      ...(wasWrong ? [] : checkListTypes(object, this.#schema)),
    ];
    return this.#withRules(errors, object, old, correlation);
  }

  /** What is wrong with a changed status: only that part of the object is looked at, but all rules are run. */
  validateStatusUpdate(object: JsonObject, old: JsonObject): readonly FieldError[] {
    const schema = propertyOf(this.#schema, 'status');
    const correlation = new Correlation(object, old, this.#schema);
    const status = schema && Object.hasOwn(object, 'status');
    const before = status ? correlation.key('status') : undefined;
    const wasWrong = checkListTypes(old, this.#schema).length > 0;
    const errors = [
      ...(status ? validateValue(object['status'], schema, before, 'status', this.#patterns) : []),
      ...(wasWrong ? [] : checkListTypes(object, this.#schema)),
    ];
    return this.#withRules(errors, object, old, correlation);
  }

  /** Rules are run only on objects that are as their types say. */
  #withRules(
    errors: readonly FieldError[],
    object: JsonObject,
    old: JsonObject | undefined,
    correlation: Correlation | undefined,
  ): readonly FieldError[] {
    if (!this.#rules) return errors;
    const blocking = errors.some(({ type }) => blockers.includes(type));
    if (blocking) return [...errors, BLOCKED];
    return [...errors, ...runRules(this.#rules, object, old, { correlation }).errors];
  }
}

const blockers: readonly string[] = [
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
];
const BLOCKED: FieldError = {
  type: 'FieldValueInvalid',
  field: '<nil>',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};
