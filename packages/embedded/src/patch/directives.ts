/** The words of a strategic merge patch. */
import type { JsonObject } from '../object/draft.ts';
import type { Json } from '@reeve/kube';
import { asMap } from '../types/type.ts';

export const DIRECTIVE = '$patch';
export const DELETE_FROM = '$deleteFromPrimitiveList';
export const SET_ORDER = '$setElementOrder';
export const RETAIN_KEYS = '$retainKeys';

/** What is left of a value that comes in new: a map with a directive is nothing. */
export function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  const map = asMap(value);
  if (!map) return value;
  if (Object.hasOwn(map, DIRECTIVE)) return undefined;
  const out: JsonObject = {};
  for (const [key, item] of Object.entries(map)) {
    const kept = withoutDirectives(item);
    if (kept !== undefined) out[key] = kept;
  }
  return out;
}
