/**
 * The form in which a server holds an object of a built-in kind: unknown fields are gone, empty ones are left out or
 * written out as the kind's definition has it. Ownership depends on it: a field that every object has belongs to nobody,
 * and `resources: {}` in each container belongs to whoever wrote the container.
 */
import type { JsonObject } from '../object/draft.ts';
import type { Json } from '@reeve/kube';
import { canonicalQuantity } from './quantity.ts';
import { asList, asMap, type Field, isEmptyMap, type MapType, type Type } from './type.ts';

export function shapedMap(value: JsonObject, type: MapType): JsonObject {
  const out: JsonObject = {};
  for (const [name, field] of type.fields) {
    const shaped = shapedField(Object.hasOwn(value, name) ? value[name] : undefined, field);
    if (shaped !== undefined) out[name] = shaped;
  }
  // What has a name has fields only, also when it has none.
  if (type.element && type.name === undefined) {
    for (const [name, item] of Object.entries(value)) {
      if (!type.fields.has(name)) out[name] = shapedItem(item, type.element);
    }
  }
  return out;
}

function shapedField(value: Json | undefined, field: Field): Json | undefined {
  if (value === undefined || value === null) return field.presence === 'always' ? zeroOf(field) : undefined;
  const shaped = shapedValue(value, field.type);
  return field.presence === 'filled' && isZero(shaped) ? undefined : shaped;
}

function zeroOf(field: Field): Json {
  if (field.zero !== undefined) return field.zero;
  return field.type.map ? shapedMap({}, field.type.map) : null;
}

function shapedValue(value: Json, type: Type): Json {
  const map = asMap(value);
  if (map) return type.map ? shapedMap(map, type.map) : map;
  const list = asList(value);
  if (list) return type.list ? shapedList(list, type.list.element) : [...list];
  if (type.isQuantity === true) return canonicalQuantity(value);
  return type.goScalar === 'float64' && typeof value === 'bigint' ? asDouble(value) : value;
}

/** The integer that a server which has a double for it writes: digits that tell it apart, then zeros. */
function asDouble(value: bigint): Json {
  const text = String(Number(value));
  return text.includes('e') ? Number(text) : BigInt(text);
}

function shapedList(list: readonly Json[], element: Type): Json[] {
  return list.map((item) => shapedItem(item, element));
}

/** Within lists and maps, null reads as the empty value. */
function shapedItem(value: Json, type: Type): Json {
  if (value !== null) return shapedValue(value, type);
  if (type.map) return type.map.fields.size > 0 ? shapedMap({}, type.map) : null;
  if (type.scalar === 'string') return '';
  if (type.scalar === 'numeric') return 0;
  return type.scalar === 'boolean' ? false : null;
}

function isZero(value: Json): boolean {
  if (value === null || value === '' || value === 0 || value === false) return true;
  const list = asList(value);
  if (list) return list.length === 0;
  const map = asMap(value);
  return map !== undefined && isEmptyMap(map);
}
