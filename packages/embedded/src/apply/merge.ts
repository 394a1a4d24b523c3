/**
 * An applied configuration laid over the live object. Nothing is removed here. What does not change stays the very same
 * value, so that an apply without effect is seen as one at a glance.
 */
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
import type { Element } from './element.ts';
import { knownItemElement } from './list-items.ts';
import { equalValues } from './value.ts';

export function merge(live: Json, applied: Json, type: Type): Json {
  return node(live, applied, type) ?? null;
}

function node(live: Json | undefined, applied: Json | undefined, type: Type): Json | undefined {
  if (applied === undefined) return live;
  return form(formOf(type, applied), live, applied, type);
}

function form(which: Form, live: Json | undefined, applied: Json, type: Type): Json | undefined {
  const chosen = settled(type, which);
  if (chosen === 'list' && type.list && type.list.relation !== 'atomic') {
    const mine = asList(applied) ?? [];
    const theirs = asList(live) ?? [];
    if (mine.length > 0 || theirs.length > 0) return listItems(type.list, theirs, mine);
  } else if (chosen === 'map' && type.map && !type.map.atomic) {
    const mine = asMap(applied);
    const theirs = asMap(live);
    if (!isEmptyMap(mine) || !isEmptyMap(theirs)) return mapItems(type.map, theirs, mine);
  }
  return live !== undefined && equalValues(live, applied) ? live : applied;
}

function mapItems(map: MapType, live: JsonObject | undefined, applied: JsonObject | undefined): Json | undefined {
  const out: JsonObject = { ...live };
  let isChanged = live === undefined;
  for (const name in applied) {
    const theirs = live && Object.hasOwn(live, name) ? live[name] : undefined;
    const merged = field(map, name, theirs, applied[name]);
    if (merged === theirs) continue;
    isChanged = true;
    if (merged === undefined) delete out[name];
    else out[name] = merged;
  }
  if (!isChanged) return live;
  return isEmptyMap(out) ? undefined : out;
}

function field(map: MapType, name: string, live: Json | undefined, applied: Json | undefined): Json | undefined {
  const type = typeOfField(map, name);
  return type ? node(live, applied, type) : applied === undefined ? live : applied;
}

/**
 * The order of a merged list: applied items in their order, items that only the live list has before the applied item
 * that follows them there. A walk along both lists; `shared` holds the applied items that the live list has, too.
 */
function listItems(list: ListType, live: readonly Json[], applied: readonly Json[]): Json | undefined {
  const mine = indexed(list, applied);
  const theirs = indexed(list, live);
  const shared = mine.order.filter((element) => theirs.items.has(element));
  const merged = new Set<Element>();
  const out: Json[] = [];
  const take = (theirItem: Json | undefined, myItem: Json | undefined): void => {
    const item = node(theirItem, myItem, list.element);
    if (item !== undefined) out.push(item);
  };
  const takeMine = (element: Element): void => {
    merged.add(element);
    take(theirs.items.get(element), mine.items.get(element));
  };

  let left = 0;
  let right = 0;
  let next = 0;
  while (left < theirs.order.length || right < mine.order.length) {
    const theirElement = theirs.order[left];
    const myElement = mine.order[right];
    if (theirElement !== undefined && myElement !== undefined) {
      if (theirElement === myElement) {
        takeMine(myElement);
        left++;
        right++;
        next++;
        continue;
      }
      const wanted = shared[next];
      // An applied item, but not the one whose turn it is: it is taken when its turn comes.
      if (mine.items.has(theirElement) && wanted !== undefined && wanted !== theirElement) {
        left++;
        continue;
      }
    }
    if (theirElement !== undefined) {
      if (!mine.items.has(theirElement)) {
        take(live[left], undefined);
        left++;
        continue;
      }
      if (merged.has(theirElement)) left++;
    }
    if (myElement !== undefined) {
      takeMine(myElement);
      right++;
      if (shared[next] === myElement) next++;
    }
  }
  if (out.length === live.length && out.every((item, index) => item === live[index])) return live as Json[];
  return out.length === 0 ? undefined : out;
}

/** An item that is there twice is not merged with anything: it counts as null. */
function indexed(list: ListType, items: readonly Json[]): { order: Element[]; items: Map<Element, Json> } {
  const order: Element[] = [];
  const found = new Map<Element, Json>();
  for (const item of items) {
    const element = knownItemElement(list, item);
    found.set(element, found.has(element) ? null : item);
    order.push(element);
  }
  return { order, items: found };
}
