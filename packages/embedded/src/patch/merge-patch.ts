/** JSON merge patch (RFC 7386) as kube-apiserver does it. */
import type { JsonObject } from '../object/draft.ts';
import type { Json } from '@reeve/kube';
import { asMap } from '../types/type.ts';
import { attempted, jsonSort, PatchFailure, type PatchResult } from './result.ts';

/** The object is not changed; the result shares what the patch did not touch. */
export function mergePatch(object: JsonObject, patch: Json): PatchResult {
  return attempted(() => {
    if (patch === null) throw new PatchFailure(400, 'Invalid JSON Patch');
    const map = asMap(patch);
    if (!map) {
      const sort = jsonSort(patch);
      throw new PatchFailure(
        400,
        `error decoding patch: json: cannot unmarshal ${sort} into Go value of type map[string]interface {}`,
      );
    }
    return merged(object, map);
  });
}

function merged(object: JsonObject, patch: JsonObject): JsonObject {
  const out: JsonObject = { ...object };
  for (const [key, value] of Object.entries(patch)) {
    const old = Object.hasOwn(out, key) ? out[key] : undefined;
    if (value === null) delete out[key];
    else out[key] = old === undefined || old === null ? withoutNulls(value) : mergedValue(old, value);
  }
  return out;
}

function mergedValue(old: Json, value: Json): Json {
  const map = asMap(old);
  if (!map) return withoutNulls(value);
  const patch = asMap(value);
  // Nulls stay in a list that takes the place of an object, and nowhere else: the library has it so.
  return patch ? merged(map, patch) : value;
}

/** Nulls in objects mean "remove", also where nothing was; as items of lists they stay. */
export function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  const map = asMap(value);
  if (!map) return value;
  const out: JsonObject = {};
  for (const [key, item] of Object.entries(map)) if (item !== null) out[key] = withoutNulls(item);
  return out;
}
