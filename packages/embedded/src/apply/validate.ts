/** Whether an object can have a type at all: forms fit, fields are declared, list items can be told apart. */
import type { Json } from '@reeve/kube';
import {
  asList,
  asMap,
  formOf,
  type ListType,
  type MapType,
  type Scalar,
  settled,
  type Type,
  typeOfField,
} from '../types/type.ts';
import { type Element, elementText, fieldElement, pathText } from './element.ts';
import { goPlain, goSyntax, goType } from './go-format.ts';
import { itemElement } from './list-items.ts';

export interface ValidateOptions {
  /** Live objects may hold an item twice: they may be older than the schema. */
  readonly allowDuplicates: boolean;
}

/** The server's message; undefined if all is well. */
export function invalidity(value: Json, type: Type, options: ValidateOptions): string | undefined {
  const walk = new Validating(options.allowDuplicates);
  walk.visit(value, type);
  const { errors } = walk;
  if (errors.length <= 1) return errors[0];
  return ['errors:', ...errors.map((error) => `  ${error}`)].join('\n');
}

class Validating {
  readonly errors: string[] = [];
  readonly #allowDuplicates: boolean;
  readonly #path: Element[] = [];

  constructor(allowDuplicates: boolean) {
    this.#allowDuplicates = allowDuplicates;
  }

  visit(value: Json, type: Type): void {
    switch (settled(type, formOf(type, value))) {
      case 'scalar':
        this.#scalar(value, type.scalar ?? 'untyped');
        return;
      case 'list': {
        const items = asList(value);
        if (items) this.#listItems(items, type.list as ListType);
        else if (value !== null) this.#error(`expected list, got &{${goPlain(value)}}`);
        return;
      }
      case 'map': {
        const fields = asMap(value);
        if (fields) this.#mapItems(fields, type.map as MapType);
        else if (value !== null) this.#error(`expected map, got &{${goPlain(value)}}`);
      }
    }
  }

  #scalar(value: Json, scalar: Scalar): void {
    if (value === null) return;
    const kind = typeof value === 'bigint' ? 'number' : typeof value;
    if (scalar === 'numeric' && kind !== 'number') {
      this.#error(`expected numeric (int or float), got ${goType(value)}`);
    } else if (scalar === 'string' && kind !== 'string') {
      this.#error(`expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`);
    } else if (scalar === 'boolean' && kind !== 'boolean') {
      this.#error(`expected boolean, got &{${goPlain(value)}}`);
    } else if (scalar === 'untyped' && kind === 'object') {
      this.#error(`expected any scalar, got &{${goPlain(value)}}`);
    }
  }

  #mapItems(fields: { [key: string]: Json }, map: MapType): void {
    for (const name in fields) {
      const type = typeOfField(map, name);
      this.#path.push(fieldElement(name));
      if (type) this.visit(fields[name] as Json, type);
      else this.#error('field not declared in schema');
      this.#path.pop();
      if (!type) return; // the server stops at the first one, too
    }
  }

  #listItems(items: readonly Json[], list: ListType): void {
    const seen = new Set<Element>();
    for (const [index, item] of items.entries()) {
      let step: Element = `i:${index}`;
      if (list.relation !== 'atomic') {
        try {
          step = itemElement(list, item);
        } catch (error) {
          this.#error(`element ${index}: ${error instanceof Error ? error.message : String(error)}`);
          return;
        }
        if (seen.has(step) && !this.#allowDuplicates) this.#error(`duplicate entries for key ${elementText(step)}`);
        seen.add(step);
      }
      this.#path.push(step);
      this.visit(item, list.element);
      this.#path.pop();
    }
  }

  #error(message: string): void {
    const path = pathText(this.#path);
    this.errors.push(path === '' ? message : `${path}: ${message}`);
  }
}
