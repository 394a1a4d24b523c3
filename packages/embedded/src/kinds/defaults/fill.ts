/** How defaults are written: a field that is absent or null gets its value, others stay. */
import type { Json } from '@reeve/kube';
import { isObject, type JsonObject } from '../../object/draft.ts';

export function fill(object: JsonObject, defaults: Readonly<Record<string, Json>>): void {
  for (const [field, value] of Object.entries(defaults)) object[field] ??= value;
}

/** Go has no absent texts: an empty one gets the default, too. */
export function fillText(object: JsonObject, defaults: Readonly<Record<string, string>>): void {
  for (const [field, value] of Object.entries(defaults)) if (!object[field]) object[field] = value;
}

/** The object at a field, made if it is not there. */
export function within(object: JsonObject, field: string): JsonObject {
  const found = object[field];
  if (isObject(found)) return found;
  const made: JsonObject = {};
  object[field] = made;
  return made;
}

/** The objects of a list; nothing if it is none. */
export function each(object: JsonObject, field: string): readonly JsonObject[] {
  const list = object[field];
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** The object at a field, if there is one. */
export function maybe(object: JsonObject, field: string): readonly JsonObject[] {
  const found = object[field];
  return isObject(found) ? [found] : [];
}
