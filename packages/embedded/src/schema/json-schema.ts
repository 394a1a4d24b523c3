/** The schema in a CustomResourceDefinition, as it is written there, and how to look into it. */
import type { Json } from '@reeve/kube';

/** Beyond 2^53 it is a bigint. */
export type Bound = number | bigint;

export interface JsonSchema {
  readonly type?: string;
  readonly format?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: Json;
  readonly example?: unknown;
  readonly nullable?: boolean;
  readonly maximum?: Bound;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: Bound;
  readonly exclusiveMinimum?: boolean;
  readonly maxLength?: Bound;
  readonly minLength?: Bound;
  readonly pattern?: string;
  readonly maxItems?: Bound;
  readonly minItems?: Bound;
  readonly uniqueItems?: boolean;
  readonly multipleOf?: Bound;
  readonly maxProperties?: Bound;
  readonly minProperties?: Bound;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly items?: JsonSchema | readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly allOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
  /** What a schema may hold and a CRD refuses: `$ref`, `definitions` … */
  readonly [other: string]: unknown;
}

export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

export const isEmbedded = (schema: JsonSchema): boolean => schema['x-kubernetes-embedded-resource'] === true;
export const preservesUnknown = (schema: JsonSchema): boolean =>
  schema['x-kubernetes-preserve-unknown-fields'] === true;
export const isIntOrString = (schema: JsonSchema): boolean => schema['x-kubernetes-int-or-string'] === true;
export const rulesOf = (schema: JsonSchema): readonly ValidationRule[] => schema['x-kubernetes-validations'] ?? [];
export const listTypeOf = (schema: JsonSchema): string | undefined => schema['x-kubernetes-list-type'];
export const mapKeysOf = (schema: JsonSchema): readonly string[] => schema['x-kubernetes-list-map-keys'] ?? [];

/** At most so many characters, items or entries. A size below nothing is nothing. */
export const sizeOf = (most: Bound): number => Math.max(0, Number(most));

/** The schema of a field, if it has one of its own. */
export function propertyOf(schema: JsonSchema, name: string): JsonSchema | undefined {
  const { properties } = schema;
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** All fields with a schema, in the order of their names: messages shall not depend on how a schema was written. */
export function propertiesOf(schema: JsonSchema): readonly (readonly [string, JsonSchema])[] {
  return Object.entries(schema.properties ?? {}).toSorted(([one], [other]) => (one < other ? -1 : 1));
}

export function itemsOf(schema: JsonSchema): JsonSchema | undefined {
  return Array.isArray(schema.items) ? undefined : (schema.items as JsonSchema | undefined);
}

/** The schema of all other fields, if there is one. */
export function additionalOf(schema: JsonSchema): JsonSchema | undefined {
  const { additionalProperties } = schema;
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** Whether anything at all is said about other fields. */
export const hasAdditional = (schema: JsonSchema): boolean => schema.additionalProperties !== undefined;

/** Of an object: apiVersion, kind and metadata are the server's. */
export const metaFields: readonly string[] = ['apiVersion', 'kind', 'metadata'];
