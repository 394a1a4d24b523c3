/** An object while a request is worked on: plain JSON that may be changed, read without trusting its shape. */
import { type Json, parseJson, stringifyJson } from '@reeve/kube';

export type JsonObject = { [key: string]: Json };

export interface Draft extends JsonObject {
  metadata: JsonObject;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
export const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
/** The same for what may be an int64 beyond what a double holds. */
export const integerOf = (value: unknown): number | bigint | undefined =>
  typeof value === 'bigint' ? value : numberOf(value);

/** Sets a field, or takes it away: absent fields are absent, not undefined. */
export function setField(object: JsonObject, field: string, value: Json | undefined): void {
  if (value === undefined) delete object[field];
  else object[field] = value;
}

/** What lies at `spec.nodeName` or `.spec.nodeName`; undefined when the way breaks off. */
export function at(object: unknown, path: string): unknown {
  let here: unknown = object;
  for (const step of path.split('.')) {
    if (step === '') continue;
    if (!isObject(here) || !Object.hasOwn(here, step)) return undefined;
    here = here[step];
  }
  return here;
}

/** A copy in all depth: what the store or another request holds must not change. */
export function copyOf<T extends Json>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf) as T;
  const original: JsonObject = value;
  const copy: JsonObject = {};
  for (const key in original) copy[key] = copyOf(original[key] as Json);
  return copy as T;
}

/** Whether two values say the same. An order of keys says nothing. */
export function isSame(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((one, at) => isSame(one, b[at]));
  if (Array.isArray(b)) return false;
  let keys = 0;
  for (const key in a) {
    keys++;
    if (!Object.hasOwn(b, key) || !isSame(a[key], b[key])) return false;
  }
  for (const _key in b) keys--;
  return keys === 0;
}

/**
 * What the store keeps of an object: its JSON without the opening brace, kind and version. They are put before it when
 * it is sent, as the version asks for, so that lists and watches are made of ready texts. Without a version it is one
 * that was never stored.
 */
export function bodyOf(object: Draft, resourceVersion: string): string {
  const { apiVersion: _version, kind: _kind, metadata, ...rest } = object;
  const { resourceVersion: _old, ...others } = metadata;
  const versioned = resourceVersion === '' ? others : { ...others, resourceVersion };
  return stringifyJson({ metadata: versioned, ...rest }).slice(1);
}

/** What `JSON.parse` may get wrong: a run of digits that a double does not hold, and keys with escapes (see `parseJson`). */
const delicate = /\d{16}|\\/;

/** The object of a body, without kind and version. The text is our own, so that no key is there twice. */
export function draftOf(body: string): Draft {
  const text = `{${body}`;
  return (delicate.test(body) ? parseJson(text) : JSON.parse(text)) as Draft;
}
