/** Objects inside of objects (`x-kubernetes-embedded-resource`), and the metadata that all of them share. */
import { isObject, type JsonObject, textOf } from '../object/draft.ts';
import { dns1035Label, labelValue, qualifiedName } from '../format/names.ts';
import { append, child, type FieldError, index, invalid, key, required } from '../status/field-error.ts';
import { additionalOf, isEmbedded, itemsOf, type JsonSchema, propertyOf } from './json-schema.ts';

type FieldKind = 'string' | 'integer' | 'boolean' | 'strings' | 'string-map' | 'object' | Fields;
interface Fields {
  readonly [name: string]: FieldKind;
}

const owner: Fields = {
  apiVersion: 'string',
  kind: 'string',
  name: 'string',
  uid: 'string',
  controller: 'boolean',
  blockOwnerDeletion: 'boolean',
};
const managed: Fields = {
  manager: 'string',
  operation: 'string',
  apiVersion: 'string',
  time: 'string',
  fieldsType: 'string',
  fieldsV1: 'object',
  subresource: 'string',
};
/** ownerReferences and managedFields are lists of these. */
const metadataFields: Fields = {
  name: 'string',
  generateName: 'string',
  namespace: 'string',
  selfLink: 'string',
  uid: 'string',
  resourceVersion: 'string',
  generation: 'integer',
  creationTimestamp: 'string',
  deletionTimestamp: 'string',
  deletionGracePeriodSeconds: 'integer',
  labels: 'string-map',
  annotations: 'string-map',
  ownerReferences: owner,
  finalizers: 'strings',
  managedFields: managed,
};

/** Removes what metadata does not have, in place; `problem` when something has the wrong type. */
export function coerceMetadata(metadata: JsonObject): {
  readonly removed: readonly string[];
  readonly problem?: string;
} {
  const removed: string[] = [];
  const problem = coerceFields(metadata, metadataFields, '', 'ObjectMeta', removed);
  return problem === undefined ? { removed } : { removed, problem };
}

function coerceFields(
  object: JsonObject,
  fields: Fields,
  path: string,
  type: string,
  removed: string[],
): string | undefined {
  for (const name of Object.keys(object)) {
    const place = child(path, name);
    const kind = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const value = object[name];
    if (kind === undefined) {
      delete object[name];
      removed.push(place);
    } else if (value === null) {
      delete object[name];
    } else if (typeof kind === 'object') {
      if (!Array.isArray(value)) return mismatch(value, 'list', type, name);
      for (const [at, item] of value.entries()) {
        if (!isObject(item)) return mismatch(item, 'object', type, name);
        const problem = coerceFields(item, kind, index(place, at), 'OwnerReference', removed);
        if (problem !== undefined) return problem;
      }
    } else if (!fits(value, kind)) return mismatch(...wrongPart(value, kind), type, name);
  }
  return undefined;
}

function fits(value: unknown, kind: Exclude<FieldKind, Fields>): boolean {
  switch (kind) {
    case 'integer':
      return typeof value === 'bigint' || Number.isSafeInteger(value);
    case 'object':
      return isObject(value);
    case 'strings':
      return Array.isArray(value) && value.every((item) => typeof item === 'string');
    case 'string-map':
      return isObject(value) && Object.values(value).every((item) => typeof item === 'string');
    default:
      return typeof value === kind;
  }
}

const goTypes: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'int64',
  boolean: 'bool',
  strings: '[]string',
  'string-map': 'map[string]string',
  object: 'v1.FieldsV1',
  list: '[]v1.OwnerReference',
};

/** Go complains of the value within a map or list. */
function wrongPart(value: unknown, kind: Exclude<FieldKind, Fields>): readonly [unknown, string] {
  const parts =
    kind === 'strings' && Array.isArray(value)
      ? value
      : kind === 'string-map' && isObject(value)
        ? Object.values(value)
        : [];
  const wrong = (parts as readonly unknown[]).find((one) => typeof one !== 'string');
  return wrong === undefined ? [value, kind] : [wrong, 'string'];
}

function mismatch(value: unknown, kind: string, type: string, name: string): string {
  const given = Array.isArray(value)
    ? 'array'
    : isObject(value)
      ? 'object'
      : typeof value === 'boolean'
        ? 'bool'
        : typeof value;
  return `json: cannot unmarshal ${given} into Go struct field ${type}.${name} of type ${goTypes[kind]}`;
}

/** Brings embedded objects into shape, in place; unknown fields of their metadata are named. */
export function coerceEmbedded(
  value: unknown,
  schema: JsonSchema | undefined,
  path: string,
  removed: string[],
): FieldError | undefined {
  if (!schema) return undefined;
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    for (const [at, item] of value.entries()) {
      const error = coerceEmbedded(item, items, index(path, at), removed);
      if (error) return error;
    }
    return undefined;
  }
  if (!isObject(value)) return undefined;
  for (const name of Object.keys(value)) {
    const place = child(path, name);
    const inner = value[name];
    if (isEmbedded(schema) && (name === 'apiVersion' || name === 'kind') && typeof inner !== 'string') {
      return invalid(place, inner, 'must be a string');
    }
    if (isEmbedded(schema) && name === 'metadata') {
      if (!isObject(inner)) {
        return invalid(place, inner, 'json: cannot unmarshal value into Go value of type v1.ObjectMeta');
      }
      const given = { ...inner };
      const { removed: unknown, problem } = coerceMetadata(inner);
      if (problem !== undefined) return invalid(place, given, problem);
      append(
        removed,
        unknown.map((field) => `${place}.${field}`),
      );
    }
    const property = propertyOf(schema, name);
    const error = property
      ? coerceEmbedded(inner, property, place, removed)
      : coerceEmbedded(inner, additionalOf(schema), key(path, name), removed);
    if (error) return error;
  }
  return undefined;
}

/** What is wrong with embedded objects. */
export function checkEmbedded(value: unknown, schema: JsonSchema | undefined, path = ''): readonly FieldError[] {
  if (!schema) return [];
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    return value.flatMap((item, at) => checkEmbedded(item, items, index(path, at)));
  }
  if (!isObject(value)) return [];
  const own = isEmbedded(schema) ? checkResource(value, path) : [];
  const inner = Object.keys(value)
    .toSorted()
    .flatMap((name) => {
      const property = propertyOf(schema, name);
      if (property) return checkEmbedded(value[name], property, child(path, name));
      return checkEmbedded(value[name], additionalOf(schema), key(path, name));
    });
  return [...own, ...inner];
}

function checkResource(value: JsonObject, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ['apiVersion', 'kind']) {
    const place = child(path, name);
    const text = value[name];
    if (!Object.hasOwn(value, name)) errors.push(required(place));
    else if (typeof text !== 'string') errors.push(invalid(place, text, 'must be a string'));
    else if (text === '') errors.push(invalid(place, text, 'must not be empty'));
    else if (name === 'apiVersion' && text.split('/').length > 2) {
      errors.push(invalid(place, text, `unexpected GroupVersion string: ${text}`));
    } else if (name === 'kind') {
      const problems = dns1035Label(text.toLowerCase());
      if (problems.length > 0) {
        errors.push(invalid(place, text, `may have mixed case, but should otherwise match: ${problems.join(',')}`));
      }
    }
  }
  return [...errors, ...(isObject(value['metadata']) ? checkMetadata(value['metadata'], child(path, 'metadata')) : [])];
}

/** Names as path segments, labels and annotations. */
function checkMetadata(metadata: JsonObject, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ['name', 'generateName']) {
    const text = metadata[name];
    if (typeof text !== 'string' || text === '') continue;
    const problem =
      name === 'name' && (text === '.' || text === '..')
        ? `may not be '${text}'`
        : ['/', '%'].filter((sign) => text.includes(sign)).map((sign) => `may not contain '${sign}'`)[0];
    if (problem !== undefined) errors.push(invalid(child(path, name), text, problem));
  }
  for (const name of ['labels', 'annotations']) {
    const values = metadata[name];
    if (!isObject(values)) continue;
    for (const [label, text] of Object.entries(values)) {
      const keyProblems = qualifiedName(name === 'annotations' ? label.toLowerCase() : label);
      append(
        errors,
        keyProblems.map((problem) => invalid(child(path, name), label, problem)),
      );
      if (name === 'labels') {
        append(
          errors,
          labelValue(textOf(text)).map((problem) => invalid(child(path, name), text, problem)),
        );
      }
    }
  }
  return errors;
}
