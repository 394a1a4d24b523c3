/** The types of custom kinds, from the structural schemas of their definitions. */
import type { JsonObject } from '../object/draft.ts';
import type { Json } from '@reeve/kube';
import { objectMeta } from './builtin.ts';
import { deduced, untypedAtomic } from './deduced.ts';
import type { KindTypes } from './kind-types.ts';
import { shapedMap } from './shape.ts';
import { asMap, type Field, type ListType, type MapType, type Scalar, type Type } from './type.ts';

/** The part of a structural schema (`openAPIV3Schema`) that types depend on. */
export interface StructuralSchema {
  readonly type?: string;
  readonly format?: string;
  readonly default?: Json;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: boolean | StructuralSchema;
  readonly items?: StructuralSchema;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
}

export interface CustomVersion {
  readonly name: string;
  /** Absent: the types are guessed from the values. */
  readonly schema?: StructuralSchema;
  readonly hasStatus?: boolean;
}

export interface CustomDefinition {
  readonly group: string;
  readonly kind: string;
  /** All served versions; an object has the same content in each of them (conversion strategy None). */
  readonly versions: readonly CustomVersion[];
}

/** The kind as it is seen through one of its versions. To be made once and kept: it reads the schemas. */
export function customTypes(definition: CustomDefinition, version: string): KindTypes {
  const { group, kind, versions } = definition;
  const apiVersion = `${group}/${version}`;
  const own = versions.find(({ name }) => name === version);
  const resetsOf = (subresource: string) => {
    if (subresource === 'status') return [['metadata'], ['spec']];
    return subresource === '' && own?.hasStatus === true ? [['status']] : [];
  };
  return {
    apiVersion,
    kind,
    versions: new Map(versions.map(({ name, schema }) => [`${group}/${name}`, schema ? customType(schema) : deduced])),
    empty: () => ({ apiVersion, kind }),
    nothing: { apiVersion, kind },
    shaped: withShapedMetadata,
    convert: (object, to) => ({ ...object, apiVersion: to }),
    resets: (subresource) => new Map([[apiVersion, resetsOf(subresource)]]),
  };
}

/** Custom objects are kept as they came, but for their metadata, which is the same for all kinds. */
function withShapedMetadata(object: JsonObject): JsonObject {
  const metadata = asMap(object['metadata']);
  return metadata && objectMeta.map ? { ...object, metadata: shapedMap(metadata, objectMeta.map) } : object;
}

/** A kind of which nothing is known but its name. */
export function deducedTypes(apiVersion: string, kind: string): KindTypes {
  return {
    apiVersion,
    kind,
    versions: new Map([[apiVersion, deduced]]),
    empty: () => ({ apiVersion, kind }),
    nothing: { apiVersion, kind },
    shaped: withShapedMetadata,
    convert: (object) => object,
    resets: () => new Map<string, never>([]),
  };
}

const typeMeta: readonly (readonly [string, Field])[] = [
  ['apiVersion', { type: { scalar: 'string' } }],
  ['kind', { type: { scalar: 'string' } }],
  ['metadata', { type: objectMeta }],
];

/** The type of a whole custom object: its schema, with the metadata that every object has. */
export function customType(schema: StructuralSchema): Type {
  return typeFrom({ ...schema, 'x-kubernetes-embedded-resource': true }, false);
}

/** `open`: an ancestor lets unknown fields pass, which holds for all below it. */
function typeFrom(schema: StructuralSchema, inherited: boolean): Type {
  const open = inherited || schema['x-kubernetes-preserve-unknown-fields'] === true;
  switch (schema.type ?? '') {
    case 'object':
      return { map: mapFrom(schema, open) };
    case 'array':
      return { list: listFrom(schema, open) };
    case 'integer':
    case 'number':
      return { scalar: 'numeric' };
    case 'boolean':
      return { scalar: 'boolean' };
    case 'string':
      return { scalar: stringFrom(schema.format) };
    default:
      // No type is given for int-or-string and for preserved unknown fields: anything may come.
      return { scalar: 'untyped', list: listFrom(schema, open), map: mapFrom(schema, open) };
  }
}

function stringFrom(format: string | undefined): Scalar {
  return format === undefined || format === '' || format === 'byte' ? 'string' : 'untyped';
}

function mapFrom(schema: StructuralSchema, open: boolean): MapType {
  const fields = new Map<string, Field>(
    Object.entries(schema.properties ?? {}).map(([name, field]) => [
      name,
      { type: typeFrom(field, open), ...(field.default === undefined ? {} : { default: field.default }) },
    ]),
  );
  if (schema['x-kubernetes-embedded-resource'] === true) for (const [name, field] of typeMeta) fields.set(name, field);
  const free = open || fields.size === 0;
  return { fields, element: elementFrom(schema, open, free), atomic: schema['x-kubernetes-map-type'] === 'atomic' };
}

function elementFrom(schema: StructuralSchema, open: boolean, free: boolean): Type | undefined {
  const additional = schema.additionalProperties;
  if (typeof additional === 'object') return typeFrom(additional, open);
  if (additional === undefined) return free ? deduced : undefined;
  return additional ? deduced : undefined;
}

function listFrom(schema: StructuralSchema, open: boolean): ListType {
  const element = schema.items ? typeFrom(schema.items, open) : untypedAtomic;
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return { relation: 'set', keys: [], element };
    case 'map':
      return { relation: 'map', keys: schema['x-kubernetes-list-map-keys'] ?? [], element };
    default:
      return { relation: 'atomic', keys: [], element };
  }
}
