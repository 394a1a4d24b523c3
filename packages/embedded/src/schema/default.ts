/** Fills in defaults, in place: for fields that are not there, and for nulls that are not allowed. */
import { isObject } from '../object/draft.ts';
import { additionalOf, hasAdditional, itemsOf, type JsonSchema, propertiesOf, propertyOf } from './json-schema.ts';

export function applyDefaults(value: unknown, schema: JsonSchema | undefined): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    for (let i = 0; i < value.length; i++) {
      if (isForbiddenNull(value[i], items)) value[i] = copy(items?.default ?? null);
      applyDefaults(value[i], items);
    }
    return;
  }
  if (!isObject(value)) return;
  for (const [name, property] of propertiesOf(schema)) {
    if (property.default == null) continue;
    if (!Object.hasOwn(value, name) || isForbiddenNull(value[name], property)) value[name] = copy(property.default);
  }
  for (const name of Object.keys(value)) {
    const property = propertyOf(schema, name);
    if (property) applyDefaults(value[name], property);
    else if (hasAdditional(schema)) {
      const additional = additionalOf(schema);
      if (isForbiddenNull(value[name], additional)) value[name] = copy(additional?.default ?? null);
      applyDefaults(value[name], additional);
    }
  }
}

function isForbiddenNull(value: unknown, schema: JsonSchema | undefined): boolean {
  return value === null && schema !== undefined && schema.nullable !== true;
}

/** Of JSON. */
export function copy<T>(value: T): T {
  return structuredClone(value);
}
