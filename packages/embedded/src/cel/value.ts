/**
 * Values at run time. An int is a bigint, a double is a number; strings, booleans and null are themselves, bytes are a
 * Uint8Array. Everything else is one of these classes.
 */
export type Value =
  | bigint
  | number
  | boolean
  | null
  | string
  | Uint8Array
  | Uint
  | Timestamp
  | Duration
  | TypeValue
  | Optional
  | ListValue
  | MapValue
  | Opaque;

export const INT_MIN = -(2n ** 63n);
export const INT_MAX = 2n ** 63n - 1n;
export const UINT_MAX = 2n ** 64n - 1n;

export class Uint {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

export class Timestamp {
  /** Nanoseconds since 1970. */
  readonly nanos: bigint;
  /** Of the zone it was given in: it is written with that. */
  readonly offsetMinutes: number;
  constructor(nanos: bigint, offsetMinutes = 0) {
    this.nanos = nanos;
    this.offsetMinutes = offsetMinutes;
  }
}

export class Duration {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** What `type(x)` answers. */
export class TypeValue {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

export class Optional {
  readonly value: Value | undefined;
  constructor(value: Value | undefined) {
    this.value = value;
  }
}

export const NONE = new Optional(undefined);

/** A value of a library: a quantity, an address … */
export abstract class Opaque {
  abstract readonly typeName: string;
  /** What costs are counted by. */
  readonly size: number;
  constructor(size = 1) {
    this.size = size;
  }
  abstract equals(other: Opaque): boolean;
}

export type Equals = (one: Value, other: Value) => boolean;

export abstract class ListValue {
  abstract readonly length: number;
  abstract at(index: number): Value;

  *[Symbol.iterator](): Generator<Value> {
    for (let i = 0; i < this.length; i++) yield this.at(i);
  }

  equals(other: ListValue, equals: Equals): boolean {
    if (this.length !== other.length) return false;
    for (let i = 0; i < this.length; i++) if (!equals(this.at(i), other.at(i))) return false;
    return true;
  }

  concat(other: ListValue): ListValue {
    return new ArrayList([...this, ...other]);
  }

  /** How many items `concat` has to touch. */
  concatWork(other: ListValue): number {
    return this.length + other.length;
  }
}

/**
 * A list of values. Lists share their array as long as nobody else has appended to it, so that a fold that appends one
 * element after another does not copy all of them each time.
 */
export class ArrayList extends ListValue {
  readonly length: number;
  readonly #items: Value[];

  constructor(items: Value[], length: number = items.length) {
    super();
    this.#items = items;
    this.length = length;
  }

  override at(index: number): Value {
    return this.#items[index] as Value;
  }

  override concat(other: ListValue): ListValue {
    if (this.length === 0) return other;
    if (other.length === 0) return this;
    const items = this.#items.length === this.length ? this.#items : this.#items.slice(0, this.length);
    for (const item of other) items.push(item);
    return new ArrayList(items);
  }

  override concatWork(other: ListValue): number {
    return (this.#items.length === this.length ? 0 : this.length) + other.length;
  }
}

const isSimple = (raw: unknown): boolean => typeof raw !== 'object' || raw === null;

/** Of lists and maps the value is kept once it was made, for they know things that are dear to find out again. */
function remember<K>(known: Map<K, Value>, key: K, make: () => Value): Value {
  const old = known.get(key);
  if (old !== undefined) return old;
  const value = make();
  if (value instanceof ListValue || value instanceof MapValue) known.set(key, value);
  return value;
}

/** A list out of JSON: its items become values when they are asked for. */
export class JsonList extends ListValue {
  protected readonly raw: readonly unknown[];
  protected readonly convert: (raw: unknown) => Value;
  readonly #known = new Map<number, Value>();

  constructor(raw: readonly unknown[], convert: (raw: unknown) => Value) {
    super();
    this.raw = raw;
    this.convert = convert;
  }

  override get length(): number {
    return this.raw.length;
  }

  override at(index: number): Value {
    const raw = this.raw[index];
    return isSimple(raw) ? this.convert(raw) : remember(this.#known, index, () => this.convert(raw));
  }
}

export abstract class MapValue {
  abstract readonly size: number;
  abstract get(key: Value): Value | undefined;
  abstract keys(): Iterable<Value>;

  has(key: Value): boolean {
    return this.get(key) !== undefined;
  }
}

/** Numbers that are equal are the same key whatever their type; what can be no key has none. */
export function keyOf(value: Value): string | undefined {
  switch (typeof value) {
    case 'string':
      return `s${value}`;
    case 'boolean':
      return `b${value}`;
    case 'bigint':
      return `n${value}`;
    case 'number':
      return Number.isInteger(value) ? `n${BigInt(value)}` : `d${value}`;
    default:
      return value instanceof Uint ? `n${value.value}` : undefined;
  }
}

/** A key in a message. */
export function showKey(value: Value): string {
  return (keyOf(value) ?? `?${typeName(value)}`).slice(1);
}

export class EntryMap extends MapValue {
  readonly #entries: Map<string, readonly [Value, Value]>;

  constructor(entries: Map<string, readonly [Value, Value]>) {
    super();
    this.#entries = entries;
  }

  static of(entries: Iterable<readonly [Value, Value]>): EntryMap {
    return new EntryMap(new Map(Array.from(entries, (entry) => [keyOf(entry[0]) as string, entry])));
  }

  override get size(): number {
    return this.#entries.size;
  }

  override get(key: Value): Value | undefined {
    const name = keyOf(key);
    return name === undefined ? undefined : this.#entries.get(name)?.[1];
  }

  override *keys(): Iterable<Value> {
    for (const [key] of this.#entries.values()) yield key;
  }

  /** Only for folds, whose accumulator nobody else can see: a copy each time would make them quadratic. */
  insert(key: Value, value: Value): void {
    this.#entries.set(keyOf(key) as string, [key, value]);
  }
}

/** A JSON object as a map of its keys. `name` makes the object's key out of what the expression says. */
export class JsonMap extends MapValue {
  readonly #raw: Readonly<Record<string, unknown>>;
  readonly #convert: (raw: unknown, key: string) => Value;
  readonly #name: (key: string) => string | undefined;
  readonly #known = new Map<string, Value>();
  #keys: readonly string[] | undefined;

  constructor(
    raw: Readonly<Record<string, unknown>>,
    convert: (raw: unknown, key: string) => Value,
    name: (key: string) => string | undefined = (key) => key,
  ) {
    super();
    this.#raw = raw;
    this.#convert = convert;
    this.#name = name;
  }

  override get size(): number {
    return this.keys().length;
  }

  override get(key: Value): Value | undefined {
    const name = typeof key === 'string' ? this.#name(key) : undefined;
    if (name === undefined || !Object.hasOwn(this.#raw, name)) return undefined;
    const raw = this.#raw[name];
    return isSimple(raw) ? this.#convert(raw, name) : remember(this.#known, name, () => this.#convert(raw, name));
  }

  override has(key: Value): boolean {
    const name = typeof key === 'string' ? this.#name(key) : undefined;
    return name !== undefined && Object.hasOwn(this.#raw, name);
  }

  override keys(): readonly string[] {
    this.#keys ??= Object.keys(this.#raw);
    return this.#keys;
  }
}

/** JSON without a schema: whole numbers are ints, others doubles. */
export function fromJson(raw: unknown): Value {
  switch (typeof raw) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return raw;
    case 'number':
      return Number.isSafeInteger(raw) ? BigInt(raw) : raw;
    case 'object':
      if (raw === null) return null;
      if (Array.isArray(raw)) return new JsonList(raw, fromJson);
      return new JsonMap(raw as Record<string, unknown>, fromJson);
    default:
      return null;
  }
}

/** The name of a value's type, as `type(x)` and messages say it. */
export function typeName(value: Value): string {
  switch (typeof value) {
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    default:
      if (value === null) return 'null_type';
      if (value instanceof Uint8Array) return 'bytes';
      if (value instanceof Uint) return 'uint';
      if (value instanceof Timestamp) return 'google.protobuf.Timestamp';
      if (value instanceof Duration) return 'google.protobuf.Duration';
      if (value instanceof ListValue) return 'list';
      if (value instanceof MapValue) return 'map';
      if (value instanceof Optional) return 'optional_type';
      if (value instanceof TypeValue) return 'type';
      return value.typeName;
  }
}

/** Characters, not UTF-16 units. */
export function characterCount(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff) count--;
  }
  return count;
}

/** What costs count by: characters, elements, entries; 1 for what has no size. */
export function sizeOf(value: Value | undefined): number {
  if (typeof value === 'string') return characterCount(value);
  if (value instanceof Uint8Array || value instanceof ListValue) return value.length;
  if (value instanceof MapValue || value instanceof Opaque) return value.size;
  if (value instanceof Optional && value.value !== undefined) return sizeOf(value.value);
  return 1;
}
