/** Text: what the language has itself, and the strings extension (version 2). Positions count characters. */
import { fn, method, type Overload } from '../function.ts';
import { EvaluationError, type Meter, noSuchOverload } from '../meter.ts';
import { BOOL, type CelType, DYN, INT, listOf, STRING } from '../type.ts';
import { ArrayList, characterCount, type ListValue, type Value } from '../value.ts';
import { formatString } from './format-string.ts';

const out = (index: bigint): EvaluationError => new EvaluationError(`index out of range: ${index}`);

/** Characters; a string without others than the first 65,536 is its own array of them. */
function characters(text: string): readonly string[] | string {
  return /[\ud800-\udfff]/.test(text) ? Array.from(text) : text;
}

function slice(text: string, from: number, to?: number): string {
  const all = characters(text);
  const part = all.slice(from, to);
  return typeof part === 'string' ? part : part.join('');
}

function charAt(text: string, index: bigint): string {
  const all = characters(text);
  if (index < 0n || index > BigInt(all.length)) throw out(index);
  return all[Number(index)] ?? '';
}

function substring(text: string, start: bigint, end?: bigint): string {
  const { length } = characters(text);
  const last = end ?? BigInt(length);
  if (start > last) {
    throw end === undefined
      ? out(start)
      : new EvaluationError(`invalid substring range. start: ${start}, end: ${last}`);
  }
  if (start < 0n || start > BigInt(length)) throw out(start);
  if (last < 0n || last > BigInt(length)) throw out(last);
  return slice(text, Number(start), Number(last));
}

/** Positions in UTF-16 and in characters differ only where there are surrogates. */
function position(text: string, unit: number): bigint {
  return BigInt(unit < 0 ? -1 : characterCount(text.slice(0, unit)));
}

function indexOf(text: string, part: string, from: bigint): bigint {
  if (part === '') return from;
  if (from < 0n) throw out(from);
  if (from >= BigInt(characters(text).length)) return -1n;
  const before = slice(text, 0, Number(from)).length;
  return position(text, text.indexOf(part, before));
}

function lastIndexOf(text: string, part: string, from?: bigint): bigint {
  const { length } = characters(text);
  if (part === '') return from ?? BigInt(length);
  if (from === undefined) return position(text, text.lastIndexOf(part));
  if (from < 0n || from > BigInt(length)) throw out(from);
  return position(text, text.lastIndexOf(part, slice(text, 0, Number(from)).length));
}

/** The result can be much longer than all that went in, so it is paid for before it is made. */
function replace(text: string, part: string, by: string, most: bigint, meter: Meter): string {
  const places = part === '' ? text.length + 1 : text.split(part).length - 1;
  meter.work(Math.min(places, most < 0n ? places : Number(most)) * by.length);
  if (most < 0n) return text.replaceAll(part, () => by);
  const pieces = split(text, part, most + 1n);
  if (part !== '') return pieces.join(by);
  const all = Array.from(text);
  const count = Number(most);
  return all.map((one, index) => (index < count ? by + one : one)).join('') + (count > all.length ? by : '');
}

/** At most `most` pieces, the last one with all that is left; all of them if it is negative. */
function split(text: string, separator: string, most: bigint): string[] {
  if (most === 0n) return [];
  const pieces = separator === '' ? Array.from(text) : text.split(separator);
  if (most < 0n || BigInt(pieces.length) <= most) return pieces;
  const count = Number(most);
  return [...pieces.slice(0, count - 1), pieces.slice(count - 1).join(separator)];
}

function join(list: ListValue, separator: string, meter: Meter): string {
  const texts: string[] = [];
  for (const item of list) {
    if (typeof item !== 'string') throw noSuchOverload();
    meter.work(1 + item.length + separator.length);
    texts.push(item);
  }
  return texts.join(separator);
}

const quotes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

function quote(text: string): string {
  return `"${Array.from(text.toWellFormed(), (one) => quotes[one] ?? one).join('')}"`;
}

const upper = (text: string): string => text.replace(/[a-z]+/g, (part) => part.toUpperCase());
const lower = (text: string): string => text.replace(/[A-Z]+/g, (part) => part.toLowerCase());
const SPACE = /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]$/;

/** White space as Unicode has it. Not by one pattern: looking for its end would backtrack. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && SPACE.test(text.charAt(start))) start++;
  while (end > start && SPACE.test(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

type Args = readonly never[];
/** A method on text; the id is made of the types of its arguments. */
function text(name: string, args: readonly CelType[], result: CelType, run: (...args: Args) => Value): Overload {
  const id = ['string', name, ...args.map(({ kind }) => kind)].join('_');
  return method(name, id, [STRING, ...args], result, (values) => run(...(values as Args)));
}

export const strings: readonly Overload[] = [
  text('contains', [STRING], BOOL, (one: string, other: string) => one.includes(other)),
  text('startsWith', [STRING], BOOL, (one: string, other: string) => one.startsWith(other)),
  text('endsWith', [STRING], BOOL, (one: string, other: string) => one.endsWith(other)),
  text('charAt', [INT], STRING, charAt),
  text('indexOf', [STRING], INT, (one: string, part: string) => indexOf(one, part, 0n)),
  text('indexOf', [STRING, INT], INT, indexOf),
  text('lastIndexOf', [STRING], INT, (one: string, part: string) => lastIndexOf(one, part)),
  text('lastIndexOf', [STRING, INT], INT, lastIndexOf),
  text('lowerAscii', [], STRING, lower),
  text('upperAscii', [], STRING, upper),
  method('replace', 'string_replace_string_string', [STRING, STRING, STRING], STRING, (args, meter) => {
    const [one, part, by] = args as readonly [string, string, string];
    return replace(one, part, by, -1n, meter);
  }),
  method('replace', 'string_replace_string_string_int', [STRING, STRING, STRING, INT], STRING, (args, meter) => {
    const [one, part, by, most] = args as readonly [string, string, string, bigint];
    return replace(one, part, by, most, meter);
  }),
  text('split', [STRING], listOf(STRING), (one: string, by: string) => new ArrayList(split(one, by, -1n))),
  text('split', [STRING, INT], listOf(STRING), (one: string, by: string, most: bigint) => {
    return new ArrayList(split(one, by, most));
  }),
  text('substring', [INT], STRING, (one: string, start: bigint) => substring(one, start)),
  text('substring', [INT, INT], STRING, substring),
  text('trim', [], STRING, trim),
  method('format', 'string_format', [STRING, listOf(DYN)], STRING, ([pattern, args], meter) =>
    formatString(pattern as string, args as ListValue, meter),
  ),
  method('join', 'list_join', [listOf(STRING)], STRING, ([list], meter) => join(list as ListValue, '', meter)),
  method('join', 'list_join_string', [listOf(STRING), STRING], STRING, ([list, separator], meter) =>
    join(list as ListValue, separator as string, meter),
  ),
  fn('strings.quote', 'strings_quote', [STRING], STRING, ([one]) => quote(one as string)),
];
