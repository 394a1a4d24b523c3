/** Lists that are sets or maps hold nothing twice. */
import { isObject } from '../object/draft.ts';
import { goJson } from '../format/go-json.ts';
import { child, duplicate, type FieldError, index, invalid, key } from '../status/field-error.ts';
import { additionalOf, itemsOf, type JsonSchema, listTypeOf, mapKeysOf, propertyOf } from './json-schema.ts';

export function checkListTypes(value: unknown, schema: JsonSchema, path = ''): readonly FieldError[] {
  if (Array.isArray(value)) return checkList(value, schema, path);
  if (!isObject(value)) return [];
  const additional = additionalOf(schema);
  return Object.keys(value)
    .toSorted()
    .flatMap((name) => {
      const property = propertyOf(schema, name);
      return [
        ...(additional ? checkListTypes(value[name], additional, key(path, name)) : []),
        ...(property ? checkListTypes(value[name], property, child(path, name)) : []),
      ];
    });
}

function checkList(list: readonly unknown[], schema: JsonSchema, path: string): readonly FieldError[] {
  const items = itemsOf(schema);
  const own =
    listTypeOf(schema) === 'set'
      ? repeated(list).map((at) => duplicate(index(path, at), list[at]))
      : listTypeOf(schema) === 'map'
        ? checkMapList(list, schema, path)
        : [];
  return [...own, ...(items ? list.flatMap((item, at) => checkListTypes(item, items, index(path, at))) : [])];
}

function checkMapList(list: readonly unknown[], schema: JsonSchema, path: string): readonly FieldError[] {
  const odd = list.findIndex((item) => item !== null && !isObject(item));
  if (odd >= 0) {
    return [invalid(index(path, odd), list[odd], 'must be an object for an array of list-type map')];
  }
  const keys = list.map((item) =>
    Object.fromEntries(
      mapKeysOf(schema)
        .filter((name) => isObject(item) && Object.hasOwn(item, name))
        .map((name) => [name, (item as Record<string, unknown>)[name]]),
    ),
  );
  return repeated(keys).map((at) => duplicate(index(path, at), keys[at]));
}

/** Where a value occurs for the second time. The third and fourth time are not told. */
function repeated(list: readonly unknown[]): readonly number[] {
  const times = new Map<string, number>();
  const found: number[] = [];
  for (const [at, item] of list.entries()) {
    const text = goJson(item);
    const count = (times.get(text) ?? 0) + 1;
    times.set(text, count);
    if (count === 2) found.push(at);
  }
  return found;
}
