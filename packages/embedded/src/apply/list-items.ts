/** Which step leads to an item of a list that has items. */
import type { Json } from '@reeve/kube';
import { asMap, type ListType } from '../types/type.ts';
import { type Element, keyElement, valueElement } from './element.ts';

/** Throws if the item cannot be told apart; the messages are the server's. */
export function itemElement(list: ListType, item: Json): Element {
  return list.relation === 'map' ? keyed(list, item) : valued(item);
}

/** The same for items that were validated before; those that are not told apart all lead to one place. */
export function knownItemElement(list: ListType, item: Json): Element {
  try {
    return itemElement(list, item);
  } catch {
    return '';
  }
}

function keyed(list: ListType, item: Json): Element {
  if (item === null) throw new Error('associative list with keys may not have a null element');
  const map = asMap(item);
  if (!map) throw new Error('associative list with keys may not have non-map elements');
  const keys: [string, Json][] = [];
  for (const name of list.keys) {
    const value = Object.hasOwn(map, name) ? map[name] : list.element.map?.fields.get(name)?.default;
    // A key without a value is left out: the item differs from one that has it.
    if (value !== undefined) keys.push([name, value]);
  }
  if (keys.length === 0) {
    const names = list.keys.map((name) => JSON.stringify(name)).join(' ');
    throw new Error(
      `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    );
  }
  return keyElement(keys);
}

function valued(item: Json): Element {
  if (item === null) throw new Error("associative list without keys has an element that's an explicit null");
  if (Array.isArray(item)) throw new Error('not supported: associative list with lists as elements');
  if (typeof item === 'object') throw new Error("associative list without keys has an element that's a map type");
  return valueElement(item);
}
