/** The schemas in a CustomResourceDefinition: read into one form, checked when they are written. */
import type { Json } from '@reeve/kube';
import { type Draft, isObject, isSame, type JsonObject, objectOf, textOf } from '../object/draft.ts';
import { definitionErrors } from '../schema/definition.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import type { FieldError } from '../status/field-error.ts';
import { undecodable } from '../status/refusal.ts';
import { each } from './defaults/fill.ts';

/** These hold values, not schemas: a null in them is a value. */
const VALUES = ['default', 'enum', 'example'];
const SCHEMAS = ['items', 'additionalProperties', 'additionalItems'];

/** Nulls say nothing in a schema. What may be a schema or something else must be one of them. */
export function readSchema(schema: JsonObject): void {
  for (const [name, value] of Object.entries(schema)) {
    if (VALUES.includes(name)) continue;
    if (value === null) delete schema[name];
    else if (SCHEMAS.includes(name)) readSchemaOr(value, name);
    else if (name === 'not') readEach([value]);
    else if (isObject(value)) readNamed(value);
    else if (Array.isArray(value)) readEach(value);
  }
}

/** Fields by their names: here a null is a schema that says nothing. */
function readNamed(schemas: JsonObject): void {
  for (const [name, value] of Object.entries(schemas)) if (value === null) schemas[name] = {};
  readEach(Object.values(schemas));
}

const readEach = (schemas: readonly Json[]): void => schemas.filter(isObject).forEach(readSchema);

function readSchemaOr(value: Json, name: string): void {
  if (isObject(value)) return readSchema(value);
  if (name === 'items' ? Array.isArray(value) : typeof value === 'boolean') {
    return readEach(Array.isArray(value) ? value : []);
  }
  throw undecodable('CustomResourceDefinition', 'v1', `${name}: json: not a schema`);
}

interface Version {
  readonly name: string;
  readonly schema: JsonObject | undefined;
  readonly hasStatus: boolean;
}

const versionsOf = (crd: Draft | undefined): readonly Version[] =>
  each(objectOf(crd?.spec), 'versions').map((version) => {
    const schema = objectOf(version.schema).openAPIV3Schema;
    return {
      name: textOf(version.name),
      schema: isObject(schema) ? schema : undefined,
      hasStatus: isObject(objectOf(version.subresources).status),
    };
  });

/** Schemas that did not change are not looked at again: what was accepted once stays. */
export function schemaErrors(crd: Draft, old: Draft | undefined): readonly FieldError[] {
  const versions = versionsOf(crd);
  const before = versionsOf(old);
  const isKept = (one: Version): boolean =>
    before.some(({ name, schema, hasStatus }) => {
      return name === one.name && hasStatus === one.hasStatus && isSame(schema, one.schema);
    });
  const check = ({ schema, hasStatus }: Version, path: string): readonly FieldError[] =>
    schema === undefined ? [] : definitionErrors(schema as JsonSchema, path, { hasStatus });
  const [first] = versions;
  // One schema for all versions is one thing to the server, and its messages name it so.
  if (first !== undefined && versions.every(({ schema }) => isSame(schema, first.schema))) {
    const hasStatus = versions.some((version) => version.hasStatus);
    return versions.every(isKept) ? [] : check({ ...first, hasStatus }, 'spec.validation.openAPIV3Schema');
  }
  return versions.flatMap((version, index) =>
    isKept(version) ? [] : check(version, `spec.versions[${index}].schema.openAPIV3Schema`),
  );
}
