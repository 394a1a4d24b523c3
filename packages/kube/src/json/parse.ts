/**
 * The one door through which JSON enters. Like `JSON.parse`, but
 *
 * - an integer that a double cannot hold (beyond ±(2^53-1)) becomes a `bigint`, so that int64 values survive; other
 *   numbers are doubles, as Kubernetes itself has them;
 * - a number that no double holds (`1e999`) is refused: it could not be written again;
 * - a key given twice is refused (two readers would see two documents), and so is the key `__proto__`;
 * - nesting is bounded; a complaint names line, column and path.
 *
 * `constructor` and `prototype` are ordinary keys: a ConfigMap may have them, and as own properties they change nothing.
 *
 * Fast because V8's own parser does the work; then two cheap looks tell whether it was enough. One walks the result
 * (depth, unsafe numbers, number of keys), one counts in the text what can only be ends of keys. When the counts agree
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
  const keys = countKeys(value, maxDepth, text.includes('\\'));
  return keys >= 0 && keys === countKeyEnds(text) ? value : parseExactly(text, maxDepth);
}

/**
 * The number of keys in a value; negative (for good) when it holds something the exact parser must judge: the key `__proto__`, an
 * unsafe number, too deep a nesting, or (where the text has backslashes) a key that V8 may have got wrong.
 *
 * V8 guesses the next key from objects it parsed before, and compares its guess with the raw text: after a document with
 * the key `\` it takes `"\""` for that key, too (nodejs/node#63785, V8 12.8 to 14.6 at least). A wrong guess always has a backslash in it.
 */
function countKeys(value: Json, depth: number, hasBackslash: boolean): number {
  if (typeof value === 'number') return isDoubtful(value) ? UNSURE : 0;
  if (typeof value !== 'object' || value === null) return 0;
  if (depth === 0) return UNSURE;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item !== 'string') count += countKeys(item, depth - 1, hasBackslash);
    return count;
  }
  for (const key in value) {
    if (key === '__proto__' || (hasBackslash && key.includes('\\'))) return UNSURE;
    count++;
    const item = value[key] as Json;
    if (typeof item !== 'string') count += countKeys(item, depth - 1, hasBackslash);
  }
  return count;
}

/** An integer that a double does not hold, or a number that none holds at all. */
const isDoubtful = (value: number): boolean =>
  !Number.isSafeInteger(value) && (Number.isInteger(value) || !Number.isFinite(value));

/** So far below zero that no number of keys lifts it above. */
const UNSURE = -1e15;

/**
 * How often a colon follows a quote that is not escaped. Every key ends so. A string that begins with a colon looks the same and
 * makes the count too high, which only costs time. Too low it must never be: that would hide a key given twice. So where a key
 * could end otherwise (a space before the colon) there is no answer; keys that end in a backslash were found before, by their walk.
 *
 * It looks for colons, not for quotes with colons: one character is what V8 finds quickest.
 */
function countKeyEnds(text: string): number {
  let count = 0;
  for (let at = text.indexOf(':'); at >= 0; at = text.indexOf(':', at + 1)) {
    const before = text.charCodeAt(at - 1);
    if (before === QUOTE) {
      if (text.charCodeAt(at - 2) !== BACKSLASH) count++;
    } else if (before <= SPACE && endsKey(text, at)) return -1;
  }
  return count;
}

/** Whether there is nothing but space between a quote and this colon. */
function endsKey(text: string, colon: number): boolean {
  let at = colon - 1;
  while (at >= 0 && text.charCodeAt(at) <= SPACE) at--;
  return text.charCodeAt(at) === QUOTE;
}

const QUOTE = 34;
const BACKSLASH = 92;
const SPACE = 32;
