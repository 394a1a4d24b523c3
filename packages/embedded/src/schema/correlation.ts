/**
 * A value and what it was before. Ratcheting rests on it: what did not change is not validated again, so that a rule
 * that is new, or was tightened, does not lock objects that were fine before.
 */
import { isObject } from '../object/draft.ts';
import { goJson } from '../format/go-json.ts';
import { deepEqual } from './equal.ts';
import { additionalOf, itemsOf, type JsonSchema, listTypeOf, mapKeysOf, propertyOf } from './json-schema.ts';

export class Correlation {
  readonly value: unknown;
  readonly old: unknown;
  readonly #schema: JsonSchema;
  readonly #children = new Map<string | number, Correlation>();
  #equal: boolean | undefined;
  #oldItems: OldItems | undefined;

  constructor(value: unknown, old: unknown, schema: JsonSchema) {
    this.value = value;
    this.old = old;
    this.#schema = schema;
  }

  /** The same of a field; nothing if it is new, gone, or without a schema. */
  key(name: string): Correlation | undefined {
    const known = this.#children.get(name);
    if (known) return known;
    if (!isObject(this.value) || !isObject(this.old)) return undefined;
    if (!Object.hasOwn(this.value, name) || !Object.hasOwn(this.old, name)) return undefined;
    const schema = propertyOf(this.#schema, name) ?? additionalOf(this.#schema);
    return schema && this.#remember(name, new Correlation(this.value[name], this.old[name], schema));
  }

  /** The same of an item. Only items of a list with keys can be found again. */
  index(at: number): Correlation | undefined {
    const known = this.#children.get(at);
    if (known) return known;
    if (!Array.isArray(this.value) || !Array.isArray(this.old) || at >= this.value.length) return undefined;
    const schema = itemsOf(this.#schema);
    const old = this.#itemsBefore(this.old).find(this.value[at]);
    return schema && old !== undefined ? this.#remember(at, new Correlation(this.value[at], old, schema)) : undefined;
  }

  isUnchanged(): boolean {
    this.#equal ??= this.#compare();
    return this.#equal;
  }

  #compare(): boolean {
    const { value, old } = this;
    if (Array.isArray(value) && Array.isArray(old)) {
      if (value.length !== old.length) return false;
      if (listTypeOf(this.#schema) !== 'map') return deepEqual(value, old);
      return value.every((_item, at) => this.index(at)?.isUnchanged() === true);
    }
    if (isObject(value) && isObject(old)) {
      const names = Object.keys(value);
      if (names.length !== Object.keys(old).length) return false;
      return names.every((name) => this.key(name)?.isUnchanged() === true);
    }
    return deepEqual(value, old);
  }

  #itemsBefore(old: readonly unknown[]): OldItems {
    this.#oldItems ??= new OldItems(this.#schema, old);
    return this.#oldItems;
  }

  #remember(name: string | number, correlation: Correlation): Correlation {
    this.#children.set(name, correlation);
    return correlation;
  }
}

/** The items of a list as it was, by their keys. */
export class OldItems {
  readonly #keys: readonly string[];
  readonly #items = new Map<string, unknown>();

  constructor(schema: JsonSchema, items: readonly unknown[]) {
    const hasKeys = schema.type === 'array' && listTypeOf(schema) === 'map';
    this.#keys = hasKeys ? mapKeysOf(schema) : [];
    if (this.#keys.length === 0) return;
    for (const item of items) {
      const composite = this.#keyOf(item);
      if (composite !== undefined && !this.#items.has(composite)) this.#items.set(composite, item);
    }
  }

  find(item: unknown): unknown {
    const composite = this.#keys.length === 0 ? undefined : this.#keyOf(item);
    return composite === undefined ? undefined : this.#items.get(composite);
  }

  #keyOf(item: unknown): string | undefined {
    if (!isObject(item)) return undefined;
    const parts: string[] = [];
    for (const name of this.#keys) {
      const part = Object.hasOwn(item, name) ? item[name] : undefined;
      if (part === undefined || part === null || typeof part === 'object') return undefined;
      parts.push(goJson(part));
    }
    return JSON.stringify(parts);
  }
}
