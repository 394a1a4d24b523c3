/**
 * The one door through which JSON enters. Like `JSON.parse`, but
 *
 * - an integer that a double cannot hold (beyond ±(2^53-1)) becomes a `bigint`, so that int64 values survive; other
 *   numbers are doubles, as Kubernetes itself has them;
 * - a key given twice is refused (two readers would see two documents), and so is the key `__proto__`;
 * - nesting is bounded; a complaint names line, column and path.
 *
 * `constructor` and `prototype` are ordinary keys: a ConfigMap may have them, and as own properties they change nothing.
 *
 * Fast because V8's own parser does the work; then two cheap looks tell whether it was enough. One walks the result
 * (depth, unsafe integers, number of keys), one counts in the text what can only be ends of keys. When the counts agree
 * there was no key twice. When in doubt the exact parser decides.
 */
import { KubeError } from '../errors/errors.ts';
import { parseExactly } from './exact.ts';

export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };

export interface ParseOptions {
  /** The deepest nesting accepted. Default 500: no schema of a real kind comes near, and no stack is in danger. */
  readonly maxDepth?: number;
}

export const DEFAULT_MAX_DEPTH = 500;

export function parseJson(text: string, options: ParseOptions = {}): Json {
  const maxDepth = options.maxDepth ?? DEFAULT_MAX_DEPTH;
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    parseExactly(text, maxDepth); // says where
    throw new KubeError('KUBE_JSON', error instanceof Error ? error.message : String(error), { cause: error });
  }
  if (mayHaveProto(text)) return parseExactly(text, maxDepth);
  const keys = countKeys(value, maxDepth);
  if (keys < 0) return parseExactly(text, maxDepth);
  if (text.includes('\\') && hasBackslashInKey(value)) return parseExactly(text, maxDepth);
  return keys === countKeyEnds(text) ? value : parseExactly(text, maxDepth);
}

/** Also when some of its letters are escaped: an underscore is u005f, the other letters lie in u006 and u007. */
function mayHaveProto(text: string): boolean {
  return text.includes('__proto__') || escapedLetter.test(text);
}

const escapedLetter = /\\u00[567]/;

/** The number of keys in a value; negative (for good) when it holds something the exact parser must judge. */
function countKeys(value: Json, depth: number): number {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value) ? UNSURE : 0;
  if (typeof value !== 'object' || value === null) return 0;
  if (depth === 0) return UNSURE;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item !== 'string') count += countKeys(item, depth - 1);
    return count;
  }
  for (const key in value) {
    count++;
    const item = value[key] as Json;
    if (typeof item !== 'string') count += countKeys(item, depth - 1);
  }
  return count;
}

/**
 * V8 guesses the next key from objects it parsed before, and compares its guess with the raw text: after a document with
 * the key `\` it takes `"\""` for that key, too (nodejs/node#63785, V8 12.8 to 14.6 at least). A wrong guess always has a backslash in it.
 */
function hasBackslashInKey(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasBackslashInKey);
  for (const key in value) if (key.includes('\\') || hasBackslashInKey(value[key] as Json)) return true;
  return false;
}

/** So far below zero that no number of keys lifts it above. */
const UNSURE = -1e15;

/**
 * How often a quote is followed by a colon, the quote not being escaped. Every key ends so. A string that begins with a
 * colon looks the same and makes the count too high, which only costs time. Too low it must never be: that would hide a
 * key given twice. So where a key could end otherwise (a space before the colon, a backslash as its last character)
 * there is no answer.
 */
function countKeyEnds(text: string): number {
  if (text.includes('\\\\"') || spaceBeforeColon.test(text)) return -1;
  let count = 0;
  for (let at = text.indexOf('":'); at >= 0; at = text.indexOf('":', at + 2)) {
    if (text.charCodeAt(at - 1) !== BACKSLASH) count++;
  }
  return count;
}

const BACKSLASH = 92;
const spaceBeforeColon = /"[ \t\n\r]+:/;
