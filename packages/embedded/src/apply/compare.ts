/** What changed between two objects, as field sets. */
import type { JsonObject } from '../object/draft.ts';
import type { Json } from '@reeve/kube';
import {
  asList,
  asMap,
  type Form,
  formOf,
  isEmptyMap,
  type ListType,
  type MapType,
  settled,
  type Type,
  typeOfField,
} from '../types/type.ts';
import { type Element, fieldElement } from './element.ts';
import { addWhole } from './extract.ts';
import { type FieldSet, SetBuilder } from './field-set.ts';
import { knownItemElement } from './list-items.ts';
import { equalValues } from './value.ts';

/** No field is in two of the sets. */
export interface Comparison {
  readonly removed: FieldSet;
  readonly modified: FieldSet;
  readonly added: FieldSet;
}

export function compare(before: Json, after: Json, type: Type): Comparison {
  const walk = new Comparing();
  walk.node(before, after, type);
  return { removed: walk.removed.set, modified: walk.modified.set, added: walk.added.set };
}

class Comparing {
  readonly removed = new SetBuilder();
  readonly modified = new SetBuilder();
  readonly added = new SetBuilder();
  readonly #path: Element[] = [];

  node(before: Json, after: Json, type: Type): void {
    // What is the very same has no difference in it, and most of an object is.
    if (before === after) return;
    const was = formOf(type, before);
    const is = formOf(type, after);
    // The form changed: what the old one had below it goes, what the new one has comes.
    if (was !== is) this.#form(was, before, after, type);
    this.#form(is, before, after, type);
  }

  #form(form: Form, before: Json, after: Json, type: Type): void {
    const chosen = settled(type, form);
    // Two empty values are compared as wholes, so that null and empty stay different.
    if (chosen === 'list' && type.list && type.list.relation !== 'atomic') {
      const was = asList(before) ?? [];
      const is = asList(after) ?? [];
      if (was.length > 0 || is.length > 0) return this.#listItems(type.list, was, is);
    } else if (chosen === 'map' && type.map && !type.map.atomic) {
      const was = asMap(before);
      const is = asMap(after);
      if (!isEmptyMap(was) || !isEmptyMap(is)) return this.#mapItems(type.map, was ?? {}, is ?? {});
    }
    if (!equalValues(before, after)) this.modified.insert(this.#path);
  }

  /** What is there on one side only is added or removed with all that it holds. */
  #below(element: Element, before: Json | undefined, after: Json | undefined, type: Type | undefined): void {
    if (!type) return;
    this.#path.push(element);
    if (before !== undefined && after !== undefined) this.node(before, after, type);
    else if (after !== undefined) addWhole(after, type, element, this.added.above(this.#path));
    else if (before !== undefined) addWhole(before, type, element, this.removed.above(this.#path));
    this.#path.pop();
  }

  #mapItems(map: MapType, before: JsonObject, after: JsonObject): void {
    for (const name in before) {
      const is = Object.hasOwn(after, name) ? after[name] : undefined;
      this.#below(fieldElement(name), before[name], is, typeOfField(map, name));
    }
    for (const name in after) {
      if (!Object.hasOwn(before, name)) {
        this.#below(fieldElement(name), undefined, after[name], typeOfField(map, name));
      }
    }
  }

  #listItems(list: ListType, before: readonly Json[], after: readonly Json[]): void {
    const was = grouped(list, before);
    const is = grouped(list, after);
    for (const [element, old] of was) this.#items(list, element, old, is.get(element) ?? []);
    for (const [element, now] of is) if (!was.has(element)) this.#items(list, element, [], now);
  }

  /** Usually one of each. Items that are there several times are one field as a whole, marked at their own place. */
  #items(list: ListType, element: Element, before: readonly Json[], after: readonly Json[]): void {
    if (before.length <= 1 && after.length <= 1) {
      this.#below(element, before[0], after[0], list.element);
    } else if (before.length > 1 && after.length > 1) {
      if (!equalValues([...before], [...after])) this.modified.insert([...this.#path, element]);
    } else if (before.length > 1) {
      if (after.length === 1) this.#below(element, undefined, after[0], list.element);
      this.removed.insert([...this.#path, element]);
    } else {
      if (before.length === 1) this.#below(element, before[0], undefined, list.element);
      this.added.insert([...this.#path, element]);
    }
  }
}

function grouped(list: ListType, items: readonly Json[]): Map<Element, Json[]> {
  const groups = new Map<Element, Json[]>();
  for (const item of items) {
    const element = knownItemElement(list, item);
    const group = groups.get(element);
    if (group) group.push(item);
    else groups.set(element, [item]);
  }
  return groups;
}
