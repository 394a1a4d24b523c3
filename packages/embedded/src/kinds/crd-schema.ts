/** The schemas in a CustomResourceDefinition: read into one form, checked when they are written. */
import type { Json } from '@reeve/kube';
import { type Draft, isObject, isSame, type JsonObject, objectOf, setField, textOf } from '../object/draft.ts';
import { definitionErrors } from '../schema/definition.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import type { FieldError } from '../status/field-error.ts';
import { undecodable } from '../status/refusal.ts';
import { jsonSchemaProps } from '../types/builtin.ts';
import { fitOf } from '../types/fit.ts';
import { shapedMap } from '../types/shape.ts';
import { each } from './defaults/fill.ts';

/** These hold values, not schemas. */
const VALUES = ['default', 'enum', 'example'];
/** These hold a schema or something else, so that the table of types knows nothing of what is in them. */
const SCHEMAS = ['items', 'additionalProperties', 'additionalItems'];

/** Where the schema of a version stands: names of fields, as Go's decoder tells them. */
const ROOT = 'spec.versions.schema.openAPIV3Schema';

/** Gives schemas of all depths the form that the table of types gives to the others; throws for what is none. */
export function readSchema(schema: JsonObject, at = ROOT): void {
  for (const [name, value] of Object.entries(schema)) {
    const here = `${at}.${name}`;
    if (VALUES.includes(name)) continue;
    if (SCHEMAS.includes(name)) setField(schema, name, schemaOr(value, name, here));
    else if (name === 'not') readEach([value], here);
    else if (isObject(value)) readEach(Object.values(value), here);
    else if (Array.isArray(value)) readEach(value, here);
  }
}

const readEach = (schemas: readonly Json[], at: string): void =>
  schemas.filter(isObject).forEach((schema) => readSchema(schema, at));

function schemaOr(value: Json, name: string, at: string): Json | undefined {
  if (value === null) return undefined;
  if (isObject(value)) return shapedSchema(value, at);
  if (name === 'items' && Array.isArray(value)) return value.map((one) => shapedSchema(objectOf(one), at));
  if (name !== 'items' && typeof value === 'boolean') return value;
  throw undecodable('CustomResourceDefinition', 'v1', `json: ${name} must be a schema`);
}

function shapedSchema(schema: JsonObject, at: string): JsonObject {
  const { problem } = fitOf(schema, jsonSchemaProps, at);
  if (problem !== undefined) throw undecodable('CustomResourceDefinition', 'v1', problem);
  const shaped = shapedMap(schema, jsonSchemaProps);
  readSchema(shaped, at);
  return shaped;
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
