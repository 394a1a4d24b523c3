/**
 * Objects that are parsed as they are read. Of most events only the metadata matter, and of thousands of cached objects few are
 * looked into: so metadata and single values are parsed at once, and every other field (spec, status, data …) stays the text that
 * the server sent until somebody asks for it. Managed fields that nobody wants are never parsed.
 *
 * To its readers it is an object like any other: all fields are its own and are enumerated, compared, copied and written as always.
 * What the scanner does not know (spaces, odd keys, a key given twice) is left to the parser, which reads the whole.
 */
import { type Json, parseJson } from '../json/parse.ts';
import { isKey, isNested, scanList, scanObject, skipValue } from '../json/scan.ts';
import type { KubeList, KubeObject } from './object.ts';

/** The text of a field, or what was made of it. */
type Slot = string | { readonly value: Json };

const SLOTS = Symbol('fields as they were sent, or as they were read');

interface Shell {
  readonly [SLOTS]: Slot[];
}

/** One for each place, shared by all objects: so those with the same fields have the same shape for the engine, too. */
const accessors: readonly PropertyDescriptor[] = Array.from({ length: 16 }, (_, place) => ({
  get(this: Shell) {
    return read(this[SLOTS], place);
  },
  enumerable: true,
  configurable: true,
}));

function read(slots: Slot[], place: number): Json {
  const slot = slots[place] as Slot;
  if (typeof slot !== 'string') return slot.value;
  const value = parseJson(slot);
  slots[place] = { value };
  return value;
}

export interface Lazy {
  readonly object: KubeObject;
  /** Where its text ends. */
  readonly end: number;
}

/** Texts that the objects of a list or a watch have in common, `apiVersion` and `kind`: each is parsed and kept once. */
export type Common = Map<string, string>;

const MOST_COMMON = 64;

/** The object whose text begins at `at`. Undefined: the parser must judge. */
export function lazyObject(bytes: Buffer, at: number, dropManagedFields: boolean, common?: Common): Lazy | undefined {
  const object: Record<string, Json> = {};
  const slots: Slot[] = [];
  const end = scanObject(bytes, at, (keyAt, valueAt) => {
    const name = usualName(bytes, keyAt, valueAt) ?? nameOf(bytes, keyAt, valueAt);
    if (name === undefined || Object.hasOwn(object, name)) return -1;
    if (name === 'metadata') {
      const metadata = scanMetadata(bytes, valueAt, dropManagedFields);
      const value = metadata && parsed(metadata.text);
      if (!metadata || value === undefined) return -1;
      object.metadata = value;
      return metadata.end;
    }
    const valueEnd = skipValue(bytes, valueAt);
    if (valueEnd < 0) return -1;
    const text = bytes.toString('utf8', valueAt, valueEnd);
    if (isNested(bytes, valueAt)) {
      const accessor = accessors[slots.length];
      if (!accessor) return -1;
      Object.defineProperty(object, name, accessor);
      slots.push(text);
    } else {
      const value = common?.get(text) ?? parsed(text);
      if (value === undefined) return -1;
      if (common && typeof value === 'string' && common.size < MOST_COMMON) common.set(text, value);
      object[name] = value;
    }
    return valueEnd;
  });
  if (end < 0 || object.metadata === undefined) return undefined;
  Object.defineProperty(object, SLOTS, { value: slots });
  return { object: object as unknown as KubeObject, end };
}

/** A whole answer that is one object. */
export function lazyAnswer(bytes: Buffer, dropManagedFields: boolean): KubeObject | undefined {
  const lazy = lazyObject(bytes, 0, dropManagedFields);
  return lazy && isEnd(bytes, lazy.end) ? lazy.object : undefined;
}

/** A whole answer that is a list of objects. */
export function lazyList(bytes: Buffer, dropManagedFields: boolean): KubeList<KubeObject> | undefined {
  const list: Record<string, unknown> = {};
  const items: KubeObject[] = [];
  const common: Common = new Map();
  const end = scanObject(bytes, 0, (keyAt, valueAt) => {
    const name = nameOf(bytes, keyAt, valueAt);
    if (name === undefined || Object.hasOwn(list, name)) return -1;
    if (name === 'items' && isNested(bytes, valueAt)) {
      list.items = items;
      return scanList(bytes, valueAt, (itemAt) => {
        const lazy = lazyObject(bytes, itemAt, dropManagedFields, common);
        if (lazy) items.push(lazy.object);
        return lazy?.end ?? -1;
      });
    }
    const valueEnd = skipValue(bytes, valueAt);
    const value = valueEnd < 0 ? undefined : parsed(bytes.toString('utf8', valueAt, valueEnd));
    if (value === undefined) return -1;
    list[name] = value;
    return valueEnd;
  });
  return end >= 0 && isEnd(bytes, end) && list.metadata ? (list as unknown as KubeList<KubeObject>) : undefined;
}

/** What an object holds in memory: the values of its fields, as text where nobody has read them yet. */
export function heldValues(object: object): readonly unknown[] {
  const slots = (object as Partial<Shell>)[SLOTS];
  if (!slots) return Object.values(object);
  const held: unknown[] = slots.map((slot) => (typeof slot === 'string' ? slot : slot.value));
  // The others: a field in a slot has no value of its own.
  for (const { value } of Object.values(Object.getOwnPropertyDescriptors(object))) held.push(value);
  return held;
}

/** The text of the metadata that begin at `at`, without managed fields if those are to go. */
function scanMetadata(bytes: Buffer, at: number, drop: boolean): { text: string; end: number } | undefined {
  let from = 0;
  let to = 0;
  const end = scanObject(bytes, at, (keyAt, valueAt) => {
    const valueEnd = skipValue(bytes, valueAt);
    if (drop && isKey(bytes, keyAt, 'managedFields')) {
      if (to > 0) return -1;
      from = keyAt;
      to = valueEnd;
    }
    return valueEnd;
  });
  if (end < 0) return undefined;
  if (to === 0) return { text: bytes.toString('utf8', at, end), end };
  // One comma goes with them: the one after, or at the end the one before.
  if (bytes[to] === COMMA) to++;
  else if (bytes[from - 1] === COMMA) from--;
  return { text: bytes.toString('utf8', at, from) + bytes.toString('utf8', to, end), end };
}

const COMMA = 44;

/** The keys that nearly all objects have, known by their bytes: making a text of each key of each event costs more than reading it. */
function usualName(bytes: Buffer, keyAt: number, valueAt: number): string | undefined {
  const name = usualNameAt(bytes, keyAt, valueAt - keyAt - 3);
  return name !== undefined && isKey(bytes, keyAt, name) ? name : undefined;
}

function usualNameAt(bytes: Buffer, keyAt: number, length: number): string | undefined {
  switch (length) {
    case 4:
      return bytes[keyAt + 1] === SMALL_K ? 'kind' : 'spec';
    case 6:
      return 'status';
    case 8:
      return 'metadata';
    case 10:
      return 'apiVersion';
    default:
      return undefined;
  }
}

const SMALL_K = 107;

/** A name as fields have them: nothing in it is escaped, and it is no name that means something to JavaScript. */
function nameOf(bytes: Buffer, keyAt: number, valueAt: number): string | undefined {
  const name = bytes.toString('latin1', keyAt + 1, valueAt - 2);
  return /^[A-Za-z]\w*$/.test(name) ? name : undefined;
}

/** Undefined: it is no JSON. The parser of the whole says where. */
function parsed(text: string): Json | undefined {
  // Most single values are plain texts: no quote, no backslash, no control character. Not a slice, which would keep the whole.
  if (/^"[ !#-[\]-\uffff]*"$/.test(text)) return JSON.parse(text) as string;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function isEnd(bytes: Buffer, at: number): boolean {
  return bytes.toString('latin1', at).trim() === '';
}
