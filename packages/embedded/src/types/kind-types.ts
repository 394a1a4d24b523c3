/** What apply has to know of a kind. */
import type { JsonObject } from '../object/draft.ts';
import type { Type } from './type.ts';

/** Paths of field names. */
export type ResetPaths = readonly (readonly string[])[];

export interface KindTypes {
  readonly apiVersion: string;
  readonly kind: string;
  /** The types of all versions that are served, by apiVersion. Entries of managers in other versions are dropped. */
  readonly versions: ReadonlyMap<string, Type>;
  /** What an object is before it is created. */
  empty(): JsonObject;
  /** The same, always the same one: to be looked at, not to be worked on. */
  readonly nothing: JsonObject;
  /** The object in the form in which the server holds it. */
  shaped(object: JsonObject): JsonObject;
  /** The object in another of `versions`. */
  convert(object: JsonObject, apiVersion: string): JsonObject;
  /** What a write through this subresource (`''`: the resource itself) cannot change, for each version. */
  resets(subresource: string): ReadonlyMap<string, ResetPaths>;
}

export function typeOf(kind: KindTypes): Type {
  const type = kind.versions.get(kind.apiVersion);
  if (!type) throw new Error(`${kind.kind} has no type for its own version ${kind.apiVersion}`);
  return type;
}
