/**
 * What of a client's object a built-in kind has no place for, as a decoder into Go structs finds it: fields that nobody
 * knows (they are dropped, with strict validation refused) and values of another type (refused always).
 */
import type { Json } from '@reeve/kube';
import type { JsonObject } from '../object/draft.ts';
import { asList, asMap, type MapType, type Type } from './type.ts';

export interface Fit {
  readonly unknown: readonly string[];
  /** In the words of Go's decoder. */
  readonly problem?: string;
}

/** Metadata is read elsewhere, for all kinds. */
const elsewhere = ['apiVersion', 'kind', 'metadata'];

export function fitOf(object: JsonObject, type: MapType): Fit {
  const walk = new Walk();
  try {
    for (const name in object) {
      if (!elsewhere.includes(name)) walk.field(object[name] as Json, name, type, '', '');
    }
  } catch (error) {
    if (error instanceof Wrong) return { unknown: walk.unknown, problem: error.message };
    throw error;
  }
  return { unknown: walk.unknown };
}

class Wrong extends Error {}

class Walk {
  readonly unknown: string[] = [];

  /** `path` has the places in lists, `fields` the names only. */
  field(value: Json, name: string, of: MapType, path: string, fields: string): void {
    const here = path === '' ? name : `${path}.${name}`;
    const type = of.fields.get(name)?.type;
    if (type !== undefined) {
      this.#value(value, type, here, fields === '' ? name : `${fields}.${name}`, `${of.name ?? ''}.`);
    } else if (of.element === undefined || of.name !== undefined) this.unknown.push(here);
    else this.#value(value, of.element, here, fields, '');
  }

  /** Null is no value, whatever the type. */
  #value(value: Json, type: Type, path: string, fields: string, struct: string): void {
    if (value === null) return;
    const map = asMap(value);
    const list = asList(value);
    if (map && type.map) {
      for (const name in map) this.field(map[name] as Json, name, type.map, path, fields);
    } else if (list && type.list) {
      const { element } = type.list;
      list.forEach((item, index) => this.#value(item, element, `${path}[${index}]`, fields, struct));
    } else if (map || list || !isScalar(value, type)) {
      const place = struct === '' ? 'value' : `struct field ${struct}${fields}`;
      throw new Wrong(`json: cannot unmarshal ${sortOf(value)} into Go ${place} of type ${goTypeOf(type)}`);
    }
  }
}

function isScalar(value: Json, { scalar, isQuantity }: Type): boolean {
  if (scalar === undefined) return false;
  if (scalar === 'untyped' || isQuantity === true) return true;
  const sort = sortOf(value);
  return sort === (scalar === 'numeric' ? 'number' : scalar === 'boolean' ? 'bool' : 'string');
}

function sortOf(value: Json): string {
  if (typeof value === 'object') return Array.isArray(value) ? 'array' : 'object';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'number' : typeof value;
}

function goTypeOf({ scalar, list, map }: Type): string {
  // What takes every form refers to itself.
  if (scalar !== undefined && (list ?? map) !== undefined) return 'interface {}';
  if (map?.name !== undefined) return `v1.${map.name}`;
  if (map) return `map[string]${map.element ? goTypeOf(map.element) : 'interface {}'}`;
  if (list) return `[]${goTypeOf(list.element)}`;
  return scalar === 'numeric' ? 'int' : scalar === 'boolean' ? 'bool' : 'string';
}
