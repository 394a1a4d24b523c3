/** The set of fields that an object has. */
import type { Json } from '@reeve/kube';
import {
  asList,
  asMap,
  formOf,
  isEmptyMap,
  type ListType,
  type MapType,
  settled,
  type Type,
  typeOfField,
} from '../types/type.ts';
import { type Element, fieldElement } from './element.ts';
import { type FieldSet, SetBuilder } from './field-set.ts';
import { knownItemElement } from './list-items.ts';

export function fieldsOf(value: Json, type: Type): FieldSet {
  const walk = new Extracting();
  walk.visit(value, type);
  return walk.found.set;
}

class Extracting {
  readonly found = new SetBuilder();
  readonly #path: Element[] = [];

  visit(value: Json, type: Type): void {
    switch (settled(type, formOf(type, value))) {
      case 'scalar':
        this.found.insert(this.#path);
        return;
      case 'list':
        if (type.list?.relation === 'atomic') this.found.insert(this.#path);
        else this.#listItems(asList(value) ?? [], type.list as ListType);
        return;
      case 'map':
        if (type.map?.atomic === true) this.found.insert(this.#path);
        else this.#mapItems(value, type.map as MapType);
    }
  }

  #mapItems(value: Json, map: MapType): void {
    for (const [name, item] of Object.entries(asMap(value) ?? {})) {
      const type = typeOfField(map, name);
      this.#path.push(fieldElement(name));
      if (type) this.visit(item, type);
      const items = asMap(item);
      // Nothing is below an empty value that could tell of it, and the keys of a map exist by themselves.
      if (item === null || (items && isEmptyMap(items)) || !map.fields.has(name)) this.found.insert(this.#path);
      this.#path.pop();
    }
  }

  /** An item that is there twice is one field as a whole: what is below could not be told apart. */
  #listItems(items: readonly Json[], list: ListType): void {
    const elements = items.map((item) => knownItemElement(list, item));
    const counts = new Map<Element, number>();
    for (const element of elements) counts.set(element, (counts.get(element) ?? 0) + 1);
    for (const [index, element] of elements.entries()) {
      this.#path.push(element);
      this.found.insert(this.#path);
      if (counts.get(element) === 1) this.visit(items[index] as Json, list.element);
      this.#path.pop();
    }
  }
}
