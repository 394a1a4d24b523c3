/** The set of fields that an object has. */
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
import { type Element, fieldElement } from './element.ts';
import { FieldSet } from './field-set.ts';
import { knownItemElement } from './list-items.ts';

export function fieldsOf(value: Json, type: Type): FieldSet {
  const root = new FieldSet();
  below(value, type, root, false);
  return root;
}

/** All of it: every value on the way is a member, too, and not only those that tell of something by themselves. */
export function addWhole(value: Json, type: Type, element: Element, set: FieldSet): void {
  set.add(element);
  const child = new FieldSet();
  below(value, type, child, true);
  if (!child.isEmpty) set.put(element, child);
}

/** Fills the set with what lies below the value. Answers whether the value is one whole, with nothing below. */
function below(value: Json, type: Type, set: FieldSet, all: boolean): boolean {
  switch (settled(type, formOf(type, value))) {
    case 'scalar':
      return true;
    case 'list':
      if (type.list?.relation === 'atomic') return true;
      listItems(asList(value) ?? [], type.list as ListType, set, all);
      return false;
    case 'map':
      if (type.map?.atomic === true) return true;
      mapItems(value, type.map as MapType, set, all);
      return false;
  }
}

function mapItems(value: Json, map: MapType, set: FieldSet, all: boolean): void {
  const fields = asMap(value) ?? {};
  for (const name in fields) {
    const item = fields[name] as Json;
    const type = typeOfField(map, name);
    if (!type) continue;
    const child = new FieldSet();
    const isWhole = below(item, type, child, all);
    const element = fieldElement(name);
    if (!child.isEmpty) set.put(element, child);
    // Nothing is below an empty value that could tell of it, and the keys of a map exist by themselves.
    if (all || isWhole || item === null || isEmptyObject(item) || !map.fields.has(name)) set.add(element);
  }
}

function isEmptyObject(value: Json): boolean {
  const map = asMap(value);
  return map !== undefined && isEmptyMap(map);
}

/** An item that is there twice is one field as a whole: what is below could not be told apart. */
function listItems(items: readonly Json[], list: ListType, set: FieldSet, all: boolean): void {
  const elements = items.map((item) => knownItemElement(list, item));
  const seen = new Set<Element>();
  const twice = new Set<Element>();
  for (const element of elements) {
    if (seen.has(element)) twice.add(element);
    seen.add(element);
  }
  for (const [index, element] of elements.entries()) {
    set.add(element);
    if (twice.has(element)) continue;
    const child = new FieldSet();
    below(items[index] as Json, list.element, child, all);
    if (!child.isEmpty) set.put(element, child);
  }
}
