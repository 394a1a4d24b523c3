/** Whether a schema is structural: what it says about the shape of objects is in one place, and complete. */
import { Pattern } from '../format/pattern.ts';
import { deepEqual } from './equal.ts';
import {
  append,
  child,
  describeFieldError,
  type FieldError,
  forbidden,
  index,
  invalid,
  key,
  required,
} from '../status/field-error.ts';
import {
  additionalOf,
  hasAdditional,
  isEmbedded,
  isIntOrString,
  itemsOf,
  type JsonSchema,
  preservesUnknown,
  propertiesOf,
  propertyOf,
  rulesOf,
} from './json-schema.ts';

type Level = 'root' | 'item' | 'field';

/** In the order of their texts. */
export function structuralErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  return [...shapeErrors(schema, 'root', path), ...completenessErrors(schema, schema, path, path)].toSorted(
    (one, other) => (describeFieldError(one) < describeFieldError(other) ? -1 : 1),
  );
}

const unsupported: Readonly<Record<string, string>> = {
  id: 'id',
  $schema: 'schema',
  $ref: '$ref',
  patternProperties: 'patternProperties',
  dependencies: 'dependencies',
  additionalItems: 'additionalItems',
  definitions: 'definitions',
};

/** What no structural schema can have anywhere in it, as one sentence. */
export function unsupportedField(schema: JsonSchema): string | undefined {
  const name = Object.keys(unsupported).find((field) => schema[field] !== undefined);
  if (name !== undefined) return `OpenAPIV3Schema '${unsupported[name]}' is not supported`;
  if (Array.isArray(schema.items)) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  }
  for (const inner of innerSchemas(schema)) {
    const problem = unsupportedField(inner);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function innerSchemas(schema: JsonSchema): readonly JsonSchema[] {
  const { allOf = [], anyOf = [], oneOf = [], not } = schema;
  const single = [not, itemsOf(schema), additionalOf(schema)].filter((inner) => inner !== undefined);
  return [...single, ...allOf, ...anyOf, ...oneOf, ...propertiesOf(schema).map(([, property]) => property)];
}

function shapeErrors(schema: JsonSchema, level: Level, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const items = itemsOf(schema);
  const additional = additionalOf(schema);
  if (schema.type === 'array' && !items) errors.push(required(child(path, 'items'), 'must be specified'));
  if (items) append(errors, shapeErrors(items, 'item', child(path, 'items')));
  for (const [name, property] of propertiesOf(schema)) {
    append(errors, shapeErrors(property, 'field', key(child(path, 'properties'), name)));
  }
  if (hasAdditional(schema)) {
    const place = child(path, 'additionalProperties');
    if (level === 'root') errors.push(forbidden(place, 'must not be used at the root'));
    if (additional) append(errors, shapeErrors(additional, 'field', place));
  }
  append(errors, extensionErrors(schema, path));
  append(errors, branchErrors(schema, path, intOrStringBranch(schema)));
  append(errors, typeErrors(schema, level, path));
  append(errors, metaErrors(schema, level, path));
  return errors;
}

function extensionErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  if (!isIntOrString(schema)) return [];
  const mustBeFalse = (name: string): FieldError =>
    invalid(child(path, name), true, 'must be false if x-kubernetes-int-or-string is true');
  return [
    ...(preservesUnknown(schema) ? [mustBeFalse('x-kubernetes-preserve-unknown-fields')] : []),
    ...(isEmbedded(schema) ? [mustBeFalse('x-kubernetes-embedded-resource')] : []),
  ];
}

function typeErrors(schema: JsonSchema, level: Level, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const place = child(path, 'type');
  const { type = '' } = schema;
  if (isEmbedded(schema) && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type === '' ? required(place, detail) : invalid(place, type, detail));
  } else if (type === '' && !isIntOrString(schema) && !preservesUnknown(schema)) {
    const where = { root: 'at the root', item: 'for specified array items', field: 'for specified object fields' };
    errors.push(required(place, `must not be empty ${where[level]}`));
  }
  if (isEmbedded(schema) && hasAdditional(schema)) {
    const detail = 'must not be used if x-kubernetes-embedded-resource is set';
    errors.push(forbidden(child(path, 'additionalProperties'), detail));
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    errors.push(invalid(place, type, 'must be object at the root'));
  }
  return errors;
}

/** apiVersion, kind and metadata are the server's: little may be said about them. */
function metaErrors(schema: JsonSchema, level: Level, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const isResource = level === 'root' || isEmbedded(schema);
  const place = (name: string): string => key(child(path, 'properties'), name);
  for (const name of ['kind', 'apiVersion']) {
    const property = propertyOf(schema, name);
    if (!property || !isResource || property.type === 'string') continue;
    errors.push(invalid(child(place(name), 'type'), property.type ?? '', 'must be string'));
  }
  const metadata = propertyOf(schema, 'metadata');
  if (metadata) {
    if (isResource && metadata.type !== 'object') {
      errors.push(invalid(child(place('metadata'), 'type'), metadata.type ?? '', 'must be object'));
    }
    if (level === 'root' && !saysOnlyNames(metadata)) {
      const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
      errors.push(forbidden(place('metadata'), detail));
    }
  }
  if (isEmbedded(schema) && !preservesUnknown(schema) && propertiesOf(schema).length === 0) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(required(child(path, 'properties'), detail));
  }
  return errors;
}

function saysOnlyNames(metadata: JsonSchema): boolean {
  const { type: _type, default: _default, properties, ...rest } = metadata;
  const names = Object.keys(properties ?? {});
  const onlyNames = names.every((name) => name === 'name' || name === 'generateName');
  return onlyNames && Object.keys(rest).length === 0;
}

const intOrString: readonly JsonSchema[] = [{ type: 'integer' }, { type: 'string' }];

/** Where the type may be written although it is a branch: the way in which int-or-string is said to older readers. */
function intOrStringBranch(schema: JsonSchema): 'anyOf' | 'allOf' | undefined {
  if (deepEqual(schema.anyOf, intOrString)) return 'anyOf';
  return deepEqual(schema.allOf?.[0]?.anyOf, intOrString) ? 'allOf' : undefined;
}

function branchErrors(schema: JsonSchema, path: string, free: 'anyOf' | 'allOf' | undefined): readonly FieldError[] {
  const { allOf = [], anyOf = [], oneOf = [], not, pattern = '' } = schema;
  const errors: FieldError[] = [];
  const each = (name: string, branches: readonly JsonSchema[]): void => {
    for (const [at, branch] of branches.entries()) {
      const isFree = free === 'allOf' && name === 'allOf' && at === 0;
      append(errors, nestedErrors(branch, index(child(path, name), at), isFree ? 'anyOf' : undefined));
    }
  };
  if (free !== 'anyOf') each('anyOf', anyOf);
  each('allOf', allOf);
  each('oneOf', oneOf);
  if (not) append(errors, nestedErrors(not, child(path, 'not')));
  if (pattern !== '') {
    const compiled = Pattern.compile(pattern);
    if (typeof compiled === 'string') {
      const detail = `must be a valid regular expression, but isn't: ${compiled}`;
      errors.push(invalid(child(path, 'pattern'), pattern, detail));
    }
  }
  return errors;
}

const empty = 'must be empty to be structural';
const undefined_ = 'must be undefined to be structural';
const false_ = 'must be false to be structural';
/** What may not stand in a branch. */
const nested: readonly (readonly [string, string])[] = [
  ['type', empty],
  ['additionalProperties', undefined_],
  ['default', undefined_],
  ['title', empty],
  ['description', empty],
  ['nullable', false_],
  ['x-kubernetes-preserve-unknown-fields', false_],
  ['x-kubernetes-embedded-resource', false_],
  ['x-kubernetes-int-or-string', false_],
  ['x-kubernetes-list-map-keys', empty],
  ['x-kubernetes-list-type', undefined_],
  ['x-kubernetes-map-type', undefined_],
];

function isSaid(value: unknown): boolean {
  return (
    value !== undefined &&
    value !== null &&
    value !== false &&
    value !== '' &&
    !(Array.isArray(value) && value.length === 0)
  );
}

function nestedErrors(schema: JsonSchema, path: string, free?: 'anyOf'): readonly FieldError[] {
  const errors: FieldError[] = [...branchErrors(schema, path, free)];
  const items = itemsOf(schema);
  if (items) append(errors, nestedErrors(items, child(path, 'items')));
  for (const [name, property] of propertiesOf(schema)) {
    append(errors, nestedErrors(property, key(child(path, 'properties'), name)));
  }
  for (const [name, detail] of nested) {
    if (isSaid(schema[name])) errors.push(forbidden(child(path, name), detail));
  }
  if (rulesOf(schema).length > 0) errors.push(forbidden(child(path, 'x-kubernetes-validations'), empty));
  if (propertyOf(schema, 'metadata')) {
    errors.push(forbidden(key(child(path, 'properties'), 'metadata'), 'must not be specified in a nested context'));
  }
  return errors;
}

/** What a branch talks about must be in the schema around it. */
function completenessErrors(
  branch: JsonSchema,
  schema: JsonSchema,
  path: string,
  branchPath: string,
): readonly FieldError[] {
  const { allOf = [], anyOf = [], oneOf = [], not } = branch;
  const at = (name: string, branches: readonly JsonSchema[]): readonly FieldError[] =>
    branches.flatMap((one, position) => missing(one, schema, path, index(child(branchPath, name), position)));
  return [
    ...(not ? missing(not, schema, path, child(branchPath, 'not')) : []),
    ...at('allOf', allOf),
    ...at('anyOf', anyOf),
    ...at('oneOf', oneOf),
  ];
}

function missing(
  branch: JsonSchema,
  schema: JsonSchema | undefined,
  path: string,
  branchPath: string,
): readonly FieldError[] {
  if (!schema) return [required(path, `because it is defined in ${branchPath}`)];
  const items = itemsOf(branch);
  return [
    ...completenessErrors(branch, schema, path, branchPath),
    ...(items ? missing(items, itemsOf(schema), child(path, 'items'), child(branchPath, 'items')) : []),
    ...propertiesOf(branch).flatMap(([name, property]) =>
      missing(
        property,
        propertyOf(schema, name),
        key(child(path, 'properties'), name),
        key(child(branchPath, 'properties'), name),
      ),
    ),
  ];
}
