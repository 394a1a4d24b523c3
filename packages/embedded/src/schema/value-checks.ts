/** What a schema says about one value by itself: its type, its size, its format. */
import { goNumber, goQuote } from '../format/go-text.ts';
import { isInteger, isIntegerAsWritten } from '../format/integer.ts';
import { stringFormats } from '../format/openapi.ts';
import { Pattern, PatternTooDear } from '../format/pattern.ts';
import { deepEqual } from './equal.ts';
import { type Bound, isIntOrString, type JsonSchema } from './json-schema.ts';
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

const FLOAT_MAX = 3.4028234663852886e38;

/** What JSON gives: a whole number that fits is an integer, every other number is not. */
function typeOf(value: unknown): string {
  if (typeof value === 'bigint') return isInteger(value, 'int64') ? 'integer' : 'number';
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
  const { multipleOf, minimum, maximum } = schema;
  return [
    checkRange('Checked', value, schema, path),
    ...(multipleOf === undefined ? [] : checkBound('MultipleOf', value, multipleOf, schema, path)),
    ...(minimum === undefined ? [] : checkBound('Minimum boundary', value, minimum, schema, path)),
    ...(maximum === undefined ? [] : checkBound('Maximum boundary', value, maximum, schema, path)),
  ].filter((problem) => problem !== undefined);
}

type BoundName = 'MultipleOf' | 'Minimum boundary' | 'Maximum boundary';

function checkRange(
  what: BoundName | 'Checked',
  value: number | bigint,
  schema: JsonSchema,
  path: string,
): Problem | undefined {
  if (isIntOrString(schema)) return undefined;
  const format = formatOf(schema);
  const width = format === 'int32' ? 'int32' : 'int64';
  const inRange =
    schema.type === 'integer'
      ? typeof value === 'bigint'
        ? isInteger(value, width)
        : isIntegerAsWritten(value, width)
      : format !== 'float' || Math.abs(Number(value)) <= FLOAT_MAX;
  if (inRange) return undefined;
  const kind = format === '' ? '(default format)' : `with format ${format}`;
  return composite(`${what} value must be of type ${schema.type} ${kind} in ${path}`);
}

/**
 * Bounds are doubles, whatever the type. Integers are compared with what is whole of them; with one that is itself no value of the
 * type, as doubles, and it is complained of every time.
 */
function checkBound(
  what: BoundName,
  given: number | bigint,
  bound: Bound,
  schema: JsonSchema,
  path: string,
): readonly (Problem | undefined)[] {
  const limit = Number(bound);
  const outside = checkRange(what, limit, schema, path);
  const isWhole = outside === undefined && isInteger(given, 'int64') && isInteger(Math.trunc(limit), 'int64');
  const compared: Compared = isWhole
    ? { value: given, limit: Math.trunc(limit), isWhole, shown: String(BigInt(Math.trunc(limit))) }
    : { value: Number(given), limit, isWhole, shown: goNumber(limit) };
  return [outside, checks[what](compared, schema, path)];
}

interface Compared {
  readonly value: number | bigint;
  readonly limit: number;
  readonly isWhole: boolean;
  /** The limit in messages. */
  readonly shown: string;
}

const checks: Readonly<
  Record<BoundName, (compared: Compared, schema: JsonSchema, path: string) => Problem | undefined>
> = { MultipleOf: checkMultiple, 'Minimum boundary': checkMinimum, 'Maximum boundary': checkMaximum };

function checkMultiple({ value, limit, isWhole, shown }: Compared, _: JsonSchema, path: string): Problem | undefined {
  if (limit <= 0) {
    return other(path, `factor MultipleOf declared for ${path} must be positive: ${shown}`, limit);
  }
  const quotient = limit < 1 ? (1 / limit) * Number(value) : Number(value) / limit;
  const isMultiple = isWhole ? BigInt(value) % BigInt(limit) === 0n : isNearlyWhole(quotient);
  if (isMultiple) return undefined;
  return other(path, `${path} in body should be a multiple of ${shown}`, value);
}

/** 0.3 is three times 0.1, whatever doubles say. */
function isNearlyWhole(value: number): boolean {
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  const difference = Math.abs(value - Math.trunc(value));
  if (difference === 0) return true;
  const nearest = Math.abs(value - Math.round(value));
  return nearest / (Math.abs(value) + Math.abs(Math.round(value))) < 1e-9;
}

function checkMaximum({ value, limit, shown }: Compared, schema: JsonSchema, path: string): Problem | undefined {
  const isOpen = schema.exclusiveMaximum === true;
  if (isOpen ? value < limit : value <= limit) return undefined;
  const words = isOpen ? 'less than' : 'less than or equal to';
  return other(path, `${path} in body should be ${words} ${shown}`, value);
}

function checkMinimum({ value, limit, shown }: Compared, schema: JsonSchema, path: string): Problem | undefined {
  const isOpen = schema.exclusiveMinimum === true;
  if (isOpen ? value > limit : value >= limit) return undefined;
  const words = isOpen ? 'greater than' : 'greater than or equal to';
  return other(path, `${path} in body should be ${words} ${shown}`, value);
}

const isWholeNumber = (value: unknown): value is number | bigint =>
  typeof value === 'bigint' || Number.isInteger(value);

/** As Go converts before it compares: 1.5 becomes the integer 1, and 97 the text `a`. */
function isTakenFor(value: unknown, allowed: unknown): boolean {
  if (isWholeNumber(allowed) && (typeof value === 'number' || typeof value === 'bigint')) {
    return BigInt(typeof value === 'number' ? Math.trunc(value) : value) === BigInt(allowed);
  }
  if (typeof allowed === 'string' && isWholeNumber(value)) {
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
