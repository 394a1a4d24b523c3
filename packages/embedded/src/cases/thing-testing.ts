/** A custom kind with every sort of field that ownership knows, and a few built-in ones. */
import type { CustomDefinition, StructuralSchema } from '../types/custom.ts';
import type { JsonObject } from '../object/draft.ts';

const text: StructuralSchema = { type: 'string' };
const number: StructuralSchema = { type: 'integer' };

function struct(properties: Readonly<Record<string, StructuralSchema>>): StructuralSchema {
  return { type: 'object', properties };
}

function listMap(keys: readonly string[], properties: Readonly<Record<string, StructuralSchema>>): StructuralSchema {
  // Types do not depend on it, but a server asks for it: a key must be there.
  const items: StructuralSchema & { readonly required: readonly string[] } = {
    ...struct(properties),
    required: keys.filter((key) => properties[key]?.default === undefined),
  };
  return { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys, items };
}

const set = (items: StructuralSchema): StructuralSchema => ({ type: 'array', 'x-kubernetes-list-type': 'set', items });
const mapOf = (value: StructuralSchema): StructuralSchema => ({ type: 'object', additionalProperties: value });

export const thingSchema: StructuralSchema = struct({
  spec: struct({
    text,
    number,
    flag: { type: 'boolean' },
    either: { 'x-kubernetes-int-or-string': true },
    settings: mapOf(text),
    frozen: { ...mapOf(text), 'x-kubernetes-map-type': 'atomic' },
    point: { ...struct({ x: number, y: number }), 'x-kubernetes-map-type': 'atomic' },
    nested: struct({ inner: struct({ a: text, b: text }), c: text }),
    tags: set(text),
    numbers: set(number),
    words: { type: 'array', items: text },
    shapes: { type: 'array', 'x-kubernetes-list-type': 'atomic', items: struct({ kind: text, size: number }) },
    ports: listMap(['port', 'protocol'], {
      port: number,
      protocol: { ...text, default: 'TCP' },
      name: text,
      target: number,
    }),
    items: listMap(['name'], {
      name: text,
      value: text,
      other: text,
      sub: listMap(['id'], { id: text, v: text }),
      extra: mapOf(text),
    }),
    groups: mapOf(set(text)),
    rows: mapOf(struct({ left: text, right: text })),
    loose: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    template: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    },
  }),
  status: struct({ phase: text, count: number, conditions: listMap(['type'], { type: text, status: text }) }),
});

export const thingDefinition: CustomDefinition = {
  group: 'example.com',
  kind: 'Thing',
  versions: [{ name: 'v1', schema: thingSchema, hasStatus: true }],
};

/** A thing with this spec; `rest` may have metadata, status … */
export function thing(spec?: JsonObject, rest: JsonObject = {}): JsonObject {
  const { metadata, ...others } = rest;
  return {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name: 'one', namespace: 'default', ...(metadata as JsonObject | undefined) },
    ...(spec === undefined ? {} : { spec }),
    ...others,
  };
}

export function builtin(apiVersion: string, kind: string, rest: JsonObject): JsonObject {
  const { metadata, ...others } = rest;
  return {
    apiVersion,
    kind,
    metadata: { name: 'one', namespace: 'default', ...(metadata as JsonObject | undefined) },
    ...others,
  };
}

export const configMap = (rest: JsonObject): JsonObject => builtin('v1', 'ConfigMap', rest);
export const deployment = (rest: JsonObject): JsonObject => builtin('apps/v1', 'Deployment', rest);
export const service = (rest: JsonObject): JsonObject => builtin('v1', 'Service', rest);
