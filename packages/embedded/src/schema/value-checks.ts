/** What a schema says about one value by itself: its type, its size, its format. */
import { goNumber, goQuote } from '../format/go-text.ts';
import { stringFormats } from '../format/openapi.ts';
import { Pattern, PatternTooDear } from '../format/pattern.ts';
import { deepEqual } from './equal.ts';
import { isIntOrString, type JsonSchema } from './json-schema.ts';
import { composite, type Problem } from './result.ts';

/** The formats that are checked, by type. All others are as good as none. */
export function formatOf(schema: JsonSchema): string {
  const { format = '' } = schema;
  switch (isIntOrString(schema) ? '' : (schema.type ?? '')) {
    case '':
    case 'string':
      return stringFormats.has(format.replaceAll('-', '')) ? format : '';
    case 'integer':
      return format === 'int32' || format === 'int64' ? format : '';
    case 'number':
      return format === 'float' || format === 'double' ? format : '';
    default:
      return '';
  }
}

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const INT32_MAX = 2 ** 31 - 1;
const FLOAT_MAX = 3.4028234663852886e38;

/** What JSON gives: a whole number that fits is an integer, every other number is not. */
function typeOf(value: unknown): string {
  if (typeof value === 'bigint') return value >= INT64_MIN && value <= INT64_MAX ? 'integer' : 'number';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'string') return 'string';
  return Array.isArray(value) ? 'array' : 'object';
}

function typeProblem(path: string, expected: string, given: string): Problem {
  return {
    kind: 'type',
    path,
    message: `${path} in body must be of type ${expected}: ${goQuote(given)}`,
    value: given,
  };
}

export function typesOf(schema: JsonSchema): readonly string[] {
  if (isIntOrString(schema)) return ['integer', 'string'];
  return schema.type === undefined || schema.type === '' ? [] : [schema.type];
}

export function checkNull(schema: JsonSchema, path: string): Problem | undefined {
  const types = typesOf(schema);
  if (types.length === 0 || schema.nullable === true) return undefined;
  return typeProblem(path, types.join(','), 'null');
}

export function checkType(value: unknown, schema: JsonSchema, path: string): Problem | undefined {
  const types = typesOf(schema);
  const format = formatOf(schema);
  if (types.length === 0 && format === '') return undefined;
  const type = typeOf(value);
  const fits = types.includes(type) || (type === 'integer' && types.includes('number'));
  const isText = type === 'string' || type === 'array';
  if (!isText && format !== '' && !fits) {
    return typeProblem(path, format, type === 'integer' ? 'int64' : type === 'number' ? 'float64' : '');
  }
  const isNumeric = types.includes('number') || types.includes('integer');
  if (isText && format !== '' && !isNumeric) return undefined; // the format decides
  return fits ? undefined : typeProblem(path, types.join(','), type);
}

const other = (path: string, message: string, value?: unknown): Problem => ({ kind: 'other', path, message, value });

/** The first thing that is wrong. */
export function checkString(text: string, schema: JsonSchema, path: string, patterns: Patterns): Problem | undefined {
  const { maxLength, minLength, pattern } = schema;
  const length = Array.from(text).length;
  if (maxLength !== undefined && length > maxLength) {
    const message = `${path} in body should be at most ${maxLength} chars long`;
    return { kind: 'too-long', path, message, value: text, limit: maxLength };
  }
  if (minLength !== undefined && length < minLength) {
    return other(path, `${path} in body should be at least ${minLength} chars long`, text);
  }
  return pattern === undefined || pattern === '' ? undefined : checkPattern(text, pattern, path, patterns);
}

/** Patterns compiled once for a schema. */
export class Patterns {
  readonly #known = new Map<string, Pattern | string>();

  get(source: string): Pattern | string {
    const known = this.#known.get(source) ?? Pattern.compile(source);
    this.#known.set(source, known);
    return known;
  }
}

function checkPattern(text: string, source: string, path: string, patterns: Patterns): Problem | undefined {
  const pattern = patterns.get(source);
  if (typeof pattern === 'string') {
    return other(path, `${path} in body should match '${source}, but pattern is invalid: ${pattern}'`, text);
  }
  try {
    return pattern.test(text) ? undefined : other(path, `${path} in body should match '${source}'`, text);
  } catch (error) {
    if (!(error instanceof PatternTooDear)) throw error;
    return other(path, `${path} in body is too long to be matched with '${source}'`, '');
  }
}

export function checkFormat(text: string, schema: JsonSchema, path: string): Problem | undefined {
  const format = formatOf(schema);
  const isValid = stringFormats.get(format.replaceAll('-', ''));
  return !isValid || isValid(text) ? undefined : typeProblem(path, format, text);
}

export function checkNumber(value: number | bigint, schema: JsonSchema, path: string): readonly Problem[] {
  const isWhole = typeof value === 'bigint' || Number.isInteger(value);
  return [
    checkRange(value, schema, path),
    checkMultiple(value, schema, path, isWhole),
    checkMinimum(value, schema, path, isWhole),
    checkMaximum(value, schema, path, isWhole),
  ].filter((problem) => problem !== undefined);
}

function checkRange(value: number | bigint, schema: JsonSchema, path: string): Problem | undefined {
  if (isIntOrString(schema)) return undefined;
  const format = formatOf(schema);
  const inRange =
    schema.type === 'integer'
      ? format === 'int32'
        ? value >= -INT32_MAX - 1 && value <= INT32_MAX && Number.isInteger(Number(value))
        : value >= INT64_MIN && value <= INT64_MAX && Number.isInteger(Number(value))
      : format !== 'float' || Math.abs(Number(value)) <= FLOAT_MAX;
  if (inRange) return undefined;
  const kind = format === '' ? '(default format)' : `with format ${format}`;
  return composite(`Checked value must be of type ${schema.type} ${kind} in ${path}`);
}

/** Bounds of whole numbers are cut to whole numbers. */
const bound = (limit: number, isWhole: boolean): string => (isWhole ? String(Math.trunc(limit)) : goNumber(limit));

function checkMultiple(
  value: number | bigint,
  { multipleOf }: JsonSchema,
  path: string,
  isWhole: boolean,
): Problem | undefined {
  if (multipleOf === undefined) return undefined;
  const factor = isWhole ? Math.trunc(multipleOf) : multipleOf;
  if (factor <= 0) {
    return other(
      path,
      `factor MultipleOf declared for ${path} must be positive: ${bound(multipleOf, isWhole)}`,
      factor,
    );
  }
  const quotient = factor < 1 ? (1 / factor) * Number(value) : Number(value) / factor;
  const isMultiple = isWhole ? BigInt(value) % BigInt(factor) === 0n : isNearlyWhole(quotient);
  if (isMultiple) return undefined;
  return other(path, `${path} in body should be a multiple of ${bound(multipleOf, isWhole)}`, value);
}

/** 0.3 is three times 0.1, whatever doubles say. */
function isNearlyWhole(value: number): boolean {
  const difference = Math.abs(value - Math.trunc(value));
  if (difference === 0) return true;
  const nearest = Math.abs(value - Math.round(value));
  return nearest / (Math.abs(value) + Math.abs(Math.round(value))) < 1e-9;
}

function checkMaximum(
  value: number | bigint,
  { maximum, exclusiveMaximum }: JsonSchema,
  path: string,
  isWhole: boolean,
): Problem | undefined {
  if (maximum === undefined) return undefined;
  const limit = isWhole ? Math.trunc(maximum) : maximum;
  if (exclusiveMaximum === true ? value < limit : value <= limit) return undefined;
  const words = exclusiveMaximum === true ? 'less than' : 'less than or equal to';
  return other(path, `${path} in body should be ${words} ${bound(maximum, isWhole)}`, value);
}

function checkMinimum(
  value: number | bigint,
  { minimum, exclusiveMinimum }: JsonSchema,
  path: string,
  isWhole: boolean,
): Problem | undefined {
  if (minimum === undefined) return undefined;
  const limit = isWhole ? Math.trunc(minimum) : minimum;
  if (exclusiveMinimum === true ? value > limit : value >= limit) return undefined;
  const words = exclusiveMinimum === true ? 'greater than' : 'greater than or equal to';
  return other(path, `${path} in body should be ${words} ${bound(minimum, isWhole)}`, value);
}

const isInteger = (value: unknown): value is number | bigint => typeof value === 'bigint' || Number.isInteger(value);

/** As Go converts before it compares: 1.5 becomes the integer 1, and 97 the text `a`. */
function isTakenFor(value: unknown, allowed: unknown): boolean {
  if (isInteger(allowed) && (typeof value === 'number' || typeof value === 'bigint')) {
    return BigInt(typeof value === 'number' ? Math.trunc(value) : value) === BigInt(allowed);
  }
  if (typeof allowed === 'string' && isInteger(value)) {
    return value >= 0 && value <= 0x10ffff && String.fromCodePoint(Number(value)) === allowed;
  }
  return deepEqual(value, allowed);
}

export function checkEnum(value: unknown, schema: JsonSchema, path: string): Problem | undefined {
  const supported = schema.enum ?? [];
  if (supported.length === 0) return undefined;
  if (value !== null && supported.some((one) => isTakenFor(value, one))) return undefined;
  return { kind: 'enum', path, message: `${path} in body should be one of ${String(supported)}`, value, supported };
}

export function checkItems(list: readonly unknown[], schema: JsonSchema, path: string): readonly Problem[] {
  const { minItems, maxItems, uniqueItems } = schema;
  const problems: Problem[] = [];
  if (minItems !== undefined && list.length < minItems) {
    problems.push(other(path, `${path} in body should have at least ${minItems} items`, list.length));
  }
  if (maxItems !== undefined && list.length > maxItems) {
    const message = `${path} in body should have at most ${maxItems} items`;
    problems.push({ kind: 'too-many', path, message, value: list.length, limit: maxItems });
  }
  const isRepeated = (item: unknown, at: number): boolean => list.slice(0, at).some((one) => deepEqual(one, item));
  if (uniqueItems === true && list.some(isRepeated)) {
    problems.push(other(path, `${path} in body shouldn't contain duplicates`));
  }
  return problems;
}

export function checkProperties(value: object, schema: JsonSchema, path: string): readonly Problem[] {
  const { minProperties, maxProperties } = schema;
  const count = Object.keys(value).length;
  const problems: Problem[] = [];
  if (minProperties !== undefined && count < minProperties) {
    problems.push(other(path, `${path} in body should have at least ${minProperties} properties`, count));
  }
  if (maxProperties !== undefined && count > maxProperties) {
    const message = `${path} in body should have at most ${maxProperties} properties`;
    problems.push({ kind: 'too-many', path, message, value: count, limit: maxProperties });
  }
  return problems;
}
