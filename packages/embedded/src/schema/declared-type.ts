/** What a schema is to the expression language: a type, and how large its values can be. */
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  objectOf,
  STRING,
  TIMESTAMP,
} from '../cel/type.ts';
import { escapeName, isEscapedWord } from './escape.ts';
import {
  additionalOf,
  isEmbedded,
  isIntOrString,
  itemsOf,
  type JsonSchema,
  propertiesOf,
  sizeOf,
} from './json-schema.ts';

/** The largest request that a server takes. */
export const LARGEST_REQUEST = 3 * 1024 * 1024;

export interface DeclaredType {
  readonly type: CelType;
  /** Bytes of the smallest JSON. */
  readonly minSize: number;
  /** Characters, items or entries at most. */
  readonly maxElements: number;
  readonly element?: DeclaredType;
  readonly fields?: ReadonlyMap<string, DeclaredType>;
}

/** Nothing for values that expressions cannot see: those without a type. */
export function declareType(schema: JsonSchema, isResource: boolean, name = 'selfType'): DeclaredType | undefined {
  if (isIntOrString(schema)) {
    const most = schema.maxLength === undefined ? LARGEST_REQUEST - 2 : sizeOf(schema.maxLength) * 4;
    return { type: DYN, minSize: 1, maxElements: most };
  }
  switch (schema.type) {
    case 'array':
      return declareList(schema, name);
    case 'object':
      return declareObject(isResource ? withMetadata(schema) : schema, name);
    case 'string':
      return declareString(schema);
    case 'boolean':
      return { type: BOOL, minSize: 4, maxElements: 0 };
    case 'number':
      return { type: DOUBLE, minSize: 1, maxElements: 0 };
    case 'integer':
      return { type: INT, minSize: 1, maxElements: 0 };
    default:
      return undefined;
  }
}

function declareList(schema: JsonSchema, name: string): DeclaredType | undefined {
  const items = itemsOf(schema);
  const element = items && declareType(items, isEmbedded(items), `${name}.@idx`);
  if (!element) return undefined;
  const estimated = Math.floor((LARGEST_REQUEST - 2) / (element.minSize + 1));
  const maxElements = schema.maxItems === undefined ? estimated : sizeOf(schema.maxItems);
  return { type: listOf(element.type), minSize: 2, maxElements, element };
}

function declareObject(schema: JsonSchema, name: string): DeclaredType | undefined {
  const additional = additionalOf(schema);
  if (additional) {
    const element = declareType(additional, isEmbedded(additional), `${name}.@elem`);
    if (!element) return undefined;
    const estimated = Math.floor((LARGEST_REQUEST - 2) / (element.minSize + 6));
    const maxElements = schema.maxProperties === undefined ? estimated : sizeOf(schema.maxProperties);
    return { type: mapOf(STRING, element.type), minSize: 2, maxElements, element };
  }
  const fields = new Map<string, DeclaredType>();
  const needed = new Set(schema.required ?? []);
  let minSize = 2;
  for (const [property, inner] of propertiesOf(schema)) {
    const escaped = escapeName(property);
    const field = declareType(inner, isEmbedded(inner), `${name}.${escaped ?? property}`);
    if (!field) continue;
    if (escaped !== undefined) fields.set(escaped, field);
    if (needed.has(property) && inner.default == null) minSize += Buffer.byteLength(property) + field.minSize + 4;
  }
  const types = new Map(Array.from(fields, ([field, { type }]) => [field, type]));
  // A reserved word may also be written as it is: after a dot it means nothing else.
  for (const [field, type] of [...types]) if (isEscapedWord(field)) types.set(field.slice(2, -2), type);
  return { type: objectOf(name, types), minSize, maxElements: 0, fields };
}

const TIME_SIZE = 32;
const DATE_SIZE = 12;
const byFormat: Readonly<Record<string, DeclaredType>> = {
  duration: { type: DURATION, minSize: 3, maxElements: TIME_SIZE },
  date: { type: TIMESTAMP, minSize: DATE_SIZE, maxElements: DATE_SIZE },
  'date-time': { type: TIMESTAMP, minSize: 21, maxElements: TIME_SIZE },
};

function declareString(schema: JsonSchema): DeclaredType {
  const { format = '', maxLength } = schema;
  const known = Object.hasOwn(byFormat, format) ? byFormat[format] : undefined;
  if (known) return known;
  if (format === 'byte') {
    return {
      type: BYTES,
      minSize: 2,
      maxElements: maxLength === undefined ? LARGEST_REQUEST - 2 : sizeOf(maxLength),
    };
  }
  if (maxLength !== undefined) return { type: STRING, minSize: 2, maxElements: sizeOf(maxLength) * 4 };
  const choices = (schema.enum ?? []).map((one) => (typeof one === 'string' ? Buffer.byteLength(one) : 0));
  return {
    type: STRING,
    minSize: 2,
    maxElements: choices.length > 0 ? choices.reduce((one, other) => Math.max(one, other)) : LARGEST_REQUEST - 2,
  };
}

/** The schema with what every object has. */
export function withMetadata(schema: JsonSchema): JsonSchema {
  const text = { type: 'string' };
  const metadata = { type: 'object', properties: { name: text, generateName: text } };
  return { ...schema, properties: { ...schema.properties, apiVersion: text, kind: text, metadata } };
}
