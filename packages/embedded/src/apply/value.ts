/** Equality and order of values, as field sets need them. Integers may be `bigint` (packages/kube's lossless JSON). */
import type { Json } from '@reeve/kube';

export function equalValues(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equalValues(item, b[index] as Json));
  }
  if (Array.isArray(b)) return false;
  let count = 0;
  for (const key in a) {
    count++;
    if (!Object.hasOwn(b, key) || !equalValues(a[key] as Json, b[key] as Json)) return false;
  }
  for (const _ in b) count--;
  return count === 0;
}

/** Numbers, then strings, booleans, lists, maps, null. */
export function compareValues(a: Json, b: Json): number {
  const rank = rankOf(a) - rankOf(b);
  if (rank !== 0) return rank;
  if (typeof a === 'string') return compareText(a, b as string);
  if (Array.isArray(a)) return compareLists(a, b as Json[]);
  if (typeof a === 'object' && a !== null) return compareMaps(a, b as { [key: string]: Json });
  if (a === b || a === null || b === null) return 0;
  return a < b ? -1 : 1;
}

function rankOf(value: Json): number {
  if (typeof value === 'number' || typeof value === 'bigint') return 0;
  if (typeof value === 'string') return 1;
  if (typeof value === 'boolean') return 2;
  if (Array.isArray(value)) return 3;
  return value === null ? 5 : 4;
}

function compareLists(a: readonly Json[], b: readonly Json[]): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const order = compareValues(a[i] as Json, b[i] as Json);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareMaps(a: { [key: string]: Json }, b: { [key: string]: Json }): number {
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort(compareText);
  for (const key of keys) {
    if (!Object.hasOwn(a, key)) return 1;
    if (!Object.hasOwn(b, key)) return -1;
    const order = compareValues(a[key] as Json, b[key] as Json);
    if (order !== 0) return order;
  }
  return 0;
}

/**
 * By code points, which is the order of UTF-8 bytes. JavaScript's own order is that of UTF-16 and differs where
 * surrogates meet the last 8,192 characters of the basic plane.
 */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  if (high.test(a) && high.test(b)) return compareCodePoints(a, b);
  return a < b ? -1 : 1;
}

const high = /[\ud800-\uffff]/;

function compareCodePoints(a: string, b: string): number {
  const [left, right] = [codePoints(a), codePoints(b)];
  for (let i = 0; i < left.length && i < right.length; i++) {
    const order = (left[i] as number) - (right[i] as number);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function codePoints(text: string): number[] {
  return Array.from(text, (character) => character.codePointAt(0) ?? 0);
}
