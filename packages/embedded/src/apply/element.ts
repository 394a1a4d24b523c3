/**
 * One step of a path into an object, as FieldsV1 writes it: `f:name` a field, `k:{"name":"x"}` the item of a list with
 * these keys, `v:"x"` the item of a set, `i:0` an index. The text in its canonical form is the step's identity.
 */
import { type Json, parseJson, stringifyJson } from '@reeve/kube';
import { compareText, compareValues } from './value.ts';

export type Element = string;
export type Path = readonly Element[];

export const fieldElement = (name: string): Element => `f:${name}`;

export function valueElement(value: Json): Element {
  return `v:${writtenValue(value)}`;
}

/** Keys are sorted by name. */
export function keyElement(keys: readonly (readonly [string, Json])[]): Element {
  const sorted = keys.length > 1 ? [...keys].sort(([a], [b]) => compareText(a, b)) : keys;
  return `k:{${sorted.map(([name, value]) => `${writtenValue(name)}:${writtenValue(value)}`).join(',')}}`;
}

/** As Go writes it into a key: characters that mean something in HTML are escaped. */
function writtenValue(value: Json): string {
  if (typeof value !== 'string') return escaped(stringifyJson(value));
  return plain.test(value) ? `"${value}"` : escaped(JSON.stringify(value));
}

const plain = /^[\w./:@ -]*$/;

function escaped(text: string): string {
  return text
    .replace(/[<>&\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/\\[bf]/g, (one) => (one === '\\b' ? '\\u0008' : '\\u000c'));
}

/** The text in canonical form; undefined if it is of a sort that only a later version knows. Throws if it is none. */
export function readElement(text: string): Element | undefined {
  if (isField(text) && text.charAt(1) === ':') return text;
  if (text.length < 2) throw new Error('key must be 2 characters long:');
  if (text.charAt(1) !== ':') throw new Error(`missing colon: ${text}`);
  // Nearly all are written like this, and need no second look.
  if (simple.test(text)) return text;
  const rest = text.slice(2);
  switch (text.charAt(0)) {
    case 'v':
      return valueElement(parseJson(rest));
    case 'k':
      return keyElement(Object.entries(keysIn(text)));
    case 'i':
      if (!/^[+-]?\d+$/.test(rest)) throw new Error(`not an index: ${text}`);
      return `i:${Number(rest)}`;
    default:
      return undefined;
  }
}

/** A plain text, or one key with a plain text. */
const simple = /^(?:v:|k:\{"\w+":)"[\w./:@ -]*"\}?$/;

function keysIn(element: Element): { [key: string]: Json } {
  const keys = parseJson(element.slice(2));
  if (typeof keys !== 'object' || keys === null || Array.isArray(keys)) throw new Error(`no keys: ${element}`);
  return keys;
}

export function isField(element: Element): boolean {
  return element.charCodeAt(0) === FIELD;
}
export function isKey(element: Element): boolean {
  return element.charCodeAt(0) === KEY;
}
/** The name in a `f:` step. */
export function fieldName(element: Element): string {
  return element.slice(2);
}

const FIELD = 102;
const KEY = 107;

/** Fields, then keys, values, indexes; each among themselves by content, numbers as numbers. Changes the list. */
export function sortElements(elements: Element[]): Element[] {
  if (elements.length < 2) return elements;
  // The order of UTF-16, which `sort` has, is that of code points as long as there are no high characters.
  if (elements.every(isLowField)) return elements.sort();
  // Nothing in such a text sorts before the quote that ends it, so the order of the texts is that of the contents.
  if (elements.every((element) => sortable.test(element))) return elements.sort();
  return elements
    .map((element) => ({ element, content: contentOf(element) }))
    .sort((a, b) => compareContents(a.content, b.content))
    .map(({ element }) => element);
}

const sortable = /^(?:v:|k:\{"\w+":)"[\w./:@-]*"\}?$/;

function isLowField(element: Element): boolean {
  return isField(element) && !high.test(element);
}

const high = /[\ud800-\uffff]/;

interface Content {
  readonly rank: number;
  readonly name: string;
  readonly keys: readonly [string, Json][];
  readonly value: Json;
}

function contentOf(element: Element): Content {
  const rest = element.slice(2);
  const none: Content = { rank: 'fkvi'.indexOf(element.charAt(0)), name: '', keys: [], value: null };
  if (isField(element)) return { ...none, name: rest };
  return isKey(element) ? { ...none, keys: Object.entries(keysIn(element)) } : { ...none, value: parseJson(rest) };
}

function compareContents(a: Content, b: Content): number {
  return (
    a.rank - b.rank || compareText(a.name, b.name) || compareKeys(a.keys, b.keys) || compareValues(a.value, b.value)
  );
}

function compareKeys(a: readonly [string, Json][], b: readonly [string, Json][]): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const [leftName, leftValue] = a[i] as [string, Json];
    const [rightName, rightValue] = b[i] as [string, Json];
    const order = compareText(leftName, rightName) || compareValues(leftValue, rightValue);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** How messages write it: `.spec`, `[name="a",port=80]`, `[="x"]`, `[0]`. */
export function elementText(element: Element): string {
  const rest = element.slice(2);
  if (element.startsWith('f:')) return `.${rest}`;
  if (element.startsWith('i:')) return `[${rest}]`;
  if (element.startsWith('v:')) return `[=${valueText(parseJson(rest))}]`;
  return `[${Object.entries(keysIn(element))
    .map(([name, value]) => `${name}=${valueText(value)}`)
    .join(',')}]`;
}

function valueText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([name, item]) => `${name}=${valueText(item)}`)
      .join('');
  }
  return stringifyJson(value);
}

export function pathText(path: Path): string {
  return path.map(elementText).join('');
}
