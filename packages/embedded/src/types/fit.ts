/**
 * What of a client's object a built-in kind has no place for, as a decoder into Go structs finds it: fields that nobody
 * knows (they are dropped, with strict validation refused) and values of another type (refused always).
 */
import type { Json } from '@reeve/kube';
import { isInteger } from '../format/integer.ts';
import { parseQuantity } from '../format/quantity.ts';
import type { JsonObject } from '../object/draft.ts';
import { asList, asMap, type MapType, type Type } from './type.ts';

export interface Fit {
  readonly unknown: readonly string[];
  /** In the words of Go's decoder. */
  readonly problem?: string;
}

/** Metadata is read elsewhere, for all kinds. */
const elsewhere = ['apiVersion', 'kind', 'metadata'];

/** @param fields the names of the fields down to the object, if it is a part of another. */
export function fitOf(object: JsonObject, type: MapType, fields = ''): Fit {
  const walk = new Walk();
  try {
    for (const name in object) {
      if (!elsewhere.includes(name)) walk.field(object[name] as Json, name, type, { path: '', fields, struct: '' });
    }
  } catch (error) {
    if (error instanceof Wrong) return { unknown: walk.unknown, problem: error.message };
    throw error;
  }
  return { unknown: walk.unknown };
}

class Wrong extends Error {}

/** `path` has the places in lists, `fields` the names only; `struct` is the Go type that has the last of them. */
interface Place {
  readonly path: string;
  readonly fields: string;
  readonly struct: string;
}

class Walk {
  readonly unknown: string[] = [];

  field(value: Json, name: string, of: MapType, { path, fields, struct }: Place): void {
    const here = path === '' ? name : `${path}.${name}`;
    const type = of.fields.get(name)?.type;
    if (type !== undefined) {
      const within = { path: here, fields: fields === '' ? name : `${fields}.${name}`, struct: `${of.name ?? ''}.` };
      this.#value(value, type, within);
    } else if (of.element === undefined || of.name !== undefined) this.unknown.push(here);
    else this.#value(value, of.element, { path: here, fields, struct });
  }

  /** Null is no value, whatever the type. */
  #value(value: Json, type: Type, place: Place): void {
    if (value === null) return;
    const map = asMap(value);
    const list = asList(value);
    if (map && type.map) {
      for (const name in map) this.field(map[name] as Json, name, type.map, place);
    } else if (list && type.list) {
      const { element } = type.list;
      list.forEach((item, index) => this.#value(item, element, { ...place, path: `${place.path}[${index}]` }));
    } else if (map || list || !isScalar(value, type)) {
      const { struct, fields } = place;
      throw new Wrong(
        `json: cannot unmarshal ${shownSort(value, type)} into Go struct field ${struct}${fields} of type ${goTypeOf(type)}`,
      );
    } else if (type.isQuantity === true) {
      const quantity = parseQuantity(quantityText(value));
      if (typeof quantity === 'string') throw new Wrong(quantity);
    }
  }
}

/** They may be written as numbers. */
const quantityText = (value: Json): string =>
  typeof value === 'number' || typeof value === 'bigint' ? String(value) : typeof value === 'string' ? value : '';

function isScalar(value: Json, type: Type): boolean {
  const { scalar, goScalar } = type;
  if (scalar === undefined) return false;
  switch (goScalar) {
    case 'int32':
    case 'int64':
      return isInteger(value, goScalar);
    case 'IntOrString':
      return typeof value === 'string' || isInteger(value, 'int32');
    case 'Time':
      return typeof value === 'string';
    default:
      return scalar === 'untyped' || sortOf(value) === SORTS[scalar];
  }
}

const SORTS = { numeric: 'number', boolean: 'bool', string: 'string' } as const;

function sortOf(value: Json): string {
  if (typeof value === 'object') return Array.isArray(value) ? 'array' : 'object';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'number' : typeof value;
}

/** A number that does not fit a number is shown; one that does not fit anything else is not. */
function shownSort(value: Json, type: Type): string {
  const isNumeric = type.scalar === 'numeric' || type.goScalar === 'IntOrString';
  return isNumeric && (typeof value === 'number' || typeof value === 'bigint') ? `number ${value}` : sortOf(value);
}

function goTypeOf({ scalar, goScalar, list, map }: Type): string {
  // What takes every form refers to itself.
  if (scalar !== undefined && (list ?? map) !== undefined) return 'interface {}';
  if (map?.name !== undefined) return `v1.${map.name}`;
  if (map) return `map[string]${map.element ? goTypeOf(map.element) : 'interface {}'}`;
  if (list) return `[]${goTypeOf(list.element)}`;
  if (goScalar === 'IntOrString') return 'int32';
  if (goScalar === 'Time') return 'string';
  return goScalar ?? (scalar === 'boolean' ? 'bool' : 'string');
}
