/** Removes what no schema knows, and says where it was. Objects are changed in place. */
import { isObject, type JsonObject } from '../object/draft.ts';
import {
  additionalOf,
  hasAdditional,
  isEmbedded,
  itemsOf,
  type JsonSchema,
  metaFields,
  preservesUnknown,
  propertyOf,
} from './json-schema.ts';

/** Paths of what was removed, in order. The root's apiVersion, kind and metadata always stay. */
export function prune(object: JsonObject, schema: JsonSchema): readonly string[] {
  const removed: string[] = [];
  const root = isEmbedded(schema) ? schema : { ...schema, 'x-kubernetes-embedded-resource': true };
  pruneValue(object, root, '', removed);
  return removed.toSorted();
}

/** As `prune`, of a value that need not be a whole object: a default, for example. */
export function pruneValue(value: unknown, schema: JsonSchema | undefined, path: string, removed: string[]): void {
  const keepsOthers = schema !== undefined && preservesUnknown(schema);
  if (Array.isArray(value)) {
    // Items of a list that keeps what it does not know keep it, too, unless their own schema says more.
    const items = schema ? itemsOf(schema) : undefined;
    for (const [at, item] of value.entries()) {
      if (!keepsOthers) pruneValue(item, items, `${path}[${at}]`, removed);
      else if (items)
        pruneValue(item, { ...items, 'x-kubernetes-preserve-unknown-fields': true }, `${path}[${at}]`, removed);
    }
    return;
  }
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) {
    if (schema && isEmbedded(schema) && metaFields.includes(name)) continue;
    const place = path === '' ? name : `${path}.${name}`;
    const property = schema ? propertyOf(schema, name) : undefined;
    if (property) pruneValue(value[name], property, place, removed);
    else if (schema && hasAdditional(schema)) pruneValue(value[name], additionalOf(schema), place, removed);
    else if (!keepsOthers) {
      delete value[name];
      removed.push(place);
    }
  }
}

/** Removes nulls that are not allowed and have no default to take their place. */
export function pruneNulls(value: unknown, schema: JsonSchema | undefined): void {
  if (Array.isArray(value)) {
    const items = schema ? itemsOf(schema) : undefined;
    for (const item of value) pruneNulls(item, items);
    return;
  }
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) {
    const inner = schema ? (propertyOf(schema, name) ?? additionalOf(schema)) : undefined;
    if (value[name] !== null) pruneNulls(value[name], inner);
    else if (inner && inner.nullable !== true && inner.default == null) delete value[name];
  }
}
