/**
 * The last step before an update is stored: if nothing differs from the stored object but the times of its managers,
 * they keep the old ones, so that nothing is written. To be called when nothing can change the object any more.
 */
import type { JsonObject } from '../object/draft.ts';
import { asMap } from '../types/type.ts';
import { managedFieldsOf, withoutManagedFields } from './managed.ts';
import { equalValues } from './value.ts';

export function keepTimes(before: JsonObject, after: JsonObject): JsonObject {
  const old = managedFieldsOf(before) ?? [];
  const now = managedFieldsOf(after) ?? [];
  if (old.length !== now.length || now.length === 0) return after;
  const same = now.every((entry, index) => equalValues(timeless(asMap(entry)), timeless(asMap(old[index]))));
  if (!same || !equalValues(withoutManagedFields(before), withoutManagedFields(after))) return after;
  return { ...after, metadata: { ...asMap(after['metadata']), managedFields: [...old] } };
}

function timeless(entry: JsonObject | undefined): JsonObject {
  const { time: _, ...rest } = entry ?? {};
  return rest;
}
