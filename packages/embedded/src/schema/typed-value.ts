/** Objects as expressions see them: by their schema, so that a date is a timestamp and a set has no order. */
import { isObject } from '../object/draft.ts';
import { EvaluationError } from '../cel/meter.ts';
import {
  ArrayList,
  Duration,
  type Equals,
  fromJson,
  JsonList,
  JsonMap,
  keyOf,
  ListValue,
  MapValue,
  Timestamp,
  type Value,
} from '../cel/value.ts';
import { parseLooseDuration } from '../format/openapi.ts';
import { parseDate, parseInstant } from '../format/time.ts';
import { goJson } from '../format/go-json.ts';
import { withMetadata } from './declared-type.ts';
import { escapeName, unescapeName } from './escape.ts';
import {
  additionalOf,
  isEmbedded,
  isIntOrString,
  itemsOf,
  type JsonSchema,
  listTypeOf,
  mapKeysOf,
  propertyOf,
} from './json-schema.ts';

export function typedValue(raw: unknown, schema: JsonSchema): Value {
  if (raw === null || raw === undefined) {
    if (schema.nullable === true) return null;
    throw new EvaluationError('invalid data, got null for schema with nullable=false');
  }
  if (isIntOrString(schema)) return fromJson(raw);
  switch (schema.type) {
    case 'object':
      return objectValue(raw, schema);
    case 'array':
      return listValue(raw, schema);
    case 'string':
      return textValue(raw, schema.format);
    case 'number':
      if (typeof raw === 'number' || typeof raw === 'bigint') return Number(raw);
      break;
    case 'integer':
      if (typeof raw === 'bigint') return raw;
      if (typeof raw === 'number' && Number.isInteger(raw)) return BigInt(raw);
      break;
    case 'boolean':
      if (typeof raw === 'boolean') return raw;
      break;
    default:
      return fromJson(raw);
  }
  throw mismatch(expected[schema.type] as string, raw);
}

const expected: Readonly<Record<string, string>> = { number: 'float', integer: 'int', boolean: 'bool' };

/** Only values from before the schema was what it is get here; the words are Go's. */
function mismatch(type: string, raw: unknown): EvaluationError {
  const isWhole = typeof raw === 'bigint' || Number.isInteger(raw);
  const names: Readonly<Record<string, string>> = {
    boolean: 'bool',
    number: isWhole ? 'int64' : 'float64',
    bigint: 'int64',
    object: Array.isArray(raw) ? '[]interface {}' : 'map[string]interface {}',
  };
  return new EvaluationError(`invalid data, expected ${type}, got ${names[typeof raw] ?? typeof raw}`);
}

function objectValue(raw: unknown, schema: JsonSchema): Value {
  if (!isObject(raw)) {
    throw new EvaluationError('invalid data, expected a map for the provided schema with type=object');
  }
  const additional = additionalOf(schema);
  if (additional && !schema.properties) return new JsonMap(raw, (value) => typedValue(value, additional));
  const whole = isEmbedded(schema) ? withMetadata(schema) : schema;
  const convert = (value: unknown, name: string): Value => {
    // No expression can name what has no schema, but comparisons meet it where it is preserved.
    const property = propertyOf(whole, name);
    return property ? typedValue(value, property) : fromJson(value);
  };
  return new JsonMap(raw, convert, unescapeName);
}

function listValue(raw: unknown, schema: JsonSchema): Value {
  const items = itemsOf(schema);
  if (!Array.isArray(raw) || !items) {
    throw new EvaluationError('invalid data, expected an array for the provided schema with type=array');
  }
  const convert = (value: unknown): Value => typedValue(value, items);
  switch (listTypeOf(schema)) {
    case 'set':
      return new SetList(raw, convert);
    case 'map':
      return new MapList(raw, convert, mapKeysOf(schema));
    default:
      return new JsonList(raw, convert);
  }
}

function textValue(raw: unknown, format = ''): Value {
  if (typeof raw !== 'string') throw mismatch('string', raw);
  switch (format) {
    case 'duration': {
      const nanos = parseLooseDuration(raw);
      if (nanos === undefined) throw new EvaluationError(`Invalid duration ${raw}: unable to parse ${raw} as duration`);
      return new Duration(nanos);
    }
    case 'date': {
      const nanos = parseDate(raw);
      if (nanos === undefined) throw new EvaluationError(`Invalid date formatted string ${raw}`);
      return new Timestamp(nanos);
    }
    case 'date-time': {
      const instant = parseInstant(raw) ?? parseInstant(`${raw}Z`);
      if (!instant) throw new EvaluationError(`Invalid date-time formatted string ${raw}`);
      return new Timestamp(instant.nanos, instant.offsetMinutes);
    }
    case 'byte':
      return new Uint8Array(Buffer.from(raw, 'base64'));
    default:
      return raw;
  }
}

/** A list whose order means nothing. */
class SetList extends JsonList {
  override equals(other: ListValue, equals: Equals): boolean {
    if (this.length !== other.length) return false;
    const all = [...this];
    return [...other].every((item) => all.some((own) => equals(own, item)));
  }

  override concat(other: ListValue): ListValue {
    const known = new Set(this.raw.map(goJson));
    const items = [...this];
    for (const item of other) if (!known.has(goJson(item))) items.push(item);
    return new ArrayList(items);
  }
}

/** A list of objects that are told apart by some of their fields. */
class MapList extends JsonList {
  readonly #keys: readonly string[];

  constructor(raw: readonly unknown[], convert: (raw: unknown) => Value, keys: readonly string[]) {
    super(raw, convert);
    this.#keys = keys.map((name) => escapeName(name) ?? name);
  }

  override equals(other: ListValue, equals: Equals): boolean {
    if (this.length !== other.length) return false;
    const own = new Map(Array.from(this, (item) => [this.#keyOf(item), item]));
    return [...other].every((item) => {
      const match = own.get(this.#keyOf(item));
      return match !== undefined && equals(match, item);
    });
  }

  /** What has the same key takes the place of the old. */
  override concat(other: ListValue): ListValue {
    const items = new Map(Array.from(this, (item) => [this.#keyOf(item), item]));
    for (const item of other) items.set(this.#keyOf(item), item);
    return new ArrayList([...items.values()]);
  }

  #keyOf(item: Value): string {
    const parts = this.#keys.map((name) => (item instanceof MapValue ? keyOf(item.get(name) ?? null) : ''));
    return JSON.stringify(parts);
  }
}
