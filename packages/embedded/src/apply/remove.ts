/** An object without the fields of a set. */
import type { JsonObject } from '../object/draft.ts';
import type { Json } from '@reeve/kube';
import {
  asList,
  asMap,
  formOf,
  isEmptyMap,
  type ListType,
  type MapType,
  settled,
  type Type,
  typeOfField,
} from '../types/type.ts';
import { fieldElement } from './element.ts';
import type { FieldSet } from './field-set.ts';
import { knownItemElement } from './list-items.ts';

/** Null if nothing is left. */
export function removeFields(value: Json, set: FieldSet, type: Type | undefined): Json {
  if (!type) return null;
  switch (settled(type, formOf(type, value))) {
    case 'scalar':
      return value;
    case 'list':
      return fromList(asList(value) ?? [], set, type.list as ListType);
    case 'map':
      return fromMap(asMap(value) ?? {}, set, type.map as MapType);
  }
}

function fromList(items: readonly Json[], set: FieldSet, list: ListType): Json {
  if (list.relation === 'atomic') return null;
  const left: Json[] = [];
  for (const item of items) {
    const element = knownItemElement(list, item);
    if (set.members.has(element)) continue;
    const below = set.children.get(element);
    left.push(below && !below.isEmpty ? removeFields(item, below, list.element) : item);
  }
  return left.length > 0 ? left : null;
}

function fromMap(fields: JsonObject, set: FieldSet, map: MapType): Json {
  if (map.atomic) return null;
  const left: JsonObject = {};
  for (const name in fields) {
    const element = fieldElement(name);
    if (set.members.has(element)) continue;
    const below = set.children.get(element);
    const value = fields[name] as Json;
    left[name] = below && !below.isEmpty ? removeFields(value, below, typeOfField(map, name)) : value;
  }
  return isEmptyMap(left) ? null : left;
}
