/** Lists in strategic merge patches: merged by key, put in order. */
import type { JsonObject } from '../object/draft.ts';
import type { Json } from '@reeve/kube';
import { goPlain, goType } from '../apply/go-format.ts';
import { asMap, type PatchRule } from '../types/type.ts';
import { DIRECTIVE, SET_ORDER, withoutDirectives } from './directives.ts';
import { PatchFailure } from './result.ts';

export type MergeItem = (item: JsonObject, patch: JsonObject) => JsonObject;

/** Both lists are the caller's to give away. */
export function mergeLists(
  old: Json[],
  patch: Json[],
  mergeKey: string,
  isDeletion: boolean,
  mergeItem: MergeItem,
): Json[] {
  if (old.length === 0 && patch.length === 0) return old;
  if (!areMaps(old, patch)) {
    const given = new Set(patch);
    if (isDeletion) return old.filter((item) => !given.has(item));
    return inOrder([...new Set([...old, ...patch])], patch, old, '');
  }
  if (mergeKey === '') throw new PatchFailure(500, 'cannot merge lists without merge key for struct');
  const { kept, plain } = afterDirectives(old as JsonObject[], patch as JsonObject[], mergeKey);
  return inOrder(mergeItems([...kept], plain, mergeKey, mergeItem), plain, kept, mergeKey);
}

/** Undefined if there is no list at all, neither before nor in the patch. */
export function orderList(
  old: Json[] | undefined,
  patch: Json[] | undefined,
  order: readonly Json[],
  rule: PatchRule,
  mergeItem: MergeItem,
): Json[] | undefined {
  const { mergeKey, strategy } = rule;
  checkOrder(patch ?? [], order, mergeKey);
  let merged: Json[];
  if (old && patch) merged = strategy === 'merge' ? mergeLists([...old], patch, mergeKey, false, mergeItem) : patch;
  else if (patch) merged = withoutDirectives(patch) as Json[];
  else if (old) merged = old;
  else return undefined;
  const before = old ?? [];
  if (before.length === 0 && (patch ?? []).length === 0) {
    throw new PatchFailure(500, 'no elements in any of the given slices');
  }
  areMaps(before, patch ?? []);
  return inOrder(merged, order, before, mergeKey);
}

/** Items that the order names come in its order, the others stay in theirs, woven in where they were. */
function inOrder(items: readonly Json[], order: readonly Json[], old: readonly Json[], mergeKey: string): Json[] {
  const wantedAt = positions(order, mergeKey);
  const oldAt = positions(old, mergeKey);
  const keyed = items.map((item) => ({ item, key: keyValue(item, mergeKey) }));
  const by = (at: ReadonlyMap<Json, number>) => (a: { key: Json }, b: { key: Json }) =>
    (at.get(a.key) ?? -1) - (at.get(b.key) ?? -1);
  const left = keyed.filter(({ key }) => !wantedAt.has(key)).sort(by(oldAt));
  const right = keyed.filter(({ key }) => wantedAt.has(key)).sort(by(wantedAt));
  const stoodBefore = (a: Json, b: Json): boolean => {
    const [first, second] = [oldAt.get(a), oldAt.get(b)];
    return first !== undefined && second !== undefined && first < second;
  };
  const out: Json[] = [];
  for (let i = 0, j = 0; i < left.length || j < right.length; ) {
    const [other, wanted] = [left[i], right[j]];
    if (other && (!wanted || stoodBefore(other.key, wanted.key))) {
      out.push(other.item);
      i++;
    } else if (wanted) {
      out.push(wanted.item);
      j++;
    }
  }
  return out;
}

/** Where each key stands first. */
function positions(items: readonly Json[], mergeKey: string): Map<Json, number> {
  const at = new Map<Json, number>();
  for (const [index, item] of items.entries()) {
    const key = keyValue(item, mergeKey);
    if (!at.has(key)) at.set(key, index);
  }
  return at;
}

function keyValue(item: Json, mergeKey: string): Json {
  const map = asMap(item);
  if (mergeKey === '' && !map) return item;
  if (!map) throw new PatchFailure(500, `expected a map[string]interface {}, but received a ${goType(item)}`);
  return keyIn(map, mergeKey);
}

function keyIn(map: JsonObject, mergeKey: string): Json {
  const value = Object.hasOwn(map, mergeKey) ? map[mergeKey] : undefined;
  if (value !== undefined) return value;
  throw new PatchFailure(500, `map: ${goPlain(map)} does not contain declared merge key: ${mergeKey}`);
}

/** Carries out `$patch` in items; what is left of the patch is to be merged. */
function afterDirectives(
  old: readonly JsonObject[],
  patch: readonly JsonObject[],
  mergeKey: string,
): { kept: JsonObject[]; plain: JsonObject[] } {
  const deleted = new Set<Json>();
  let isReplaced = false;
  const plain: JsonObject[] = [];
  for (const item of patch) {
    const directive = Object.hasOwn(item, DIRECTIVE) ? (item[DIRECTIVE] ?? null) : undefined;
    if (directive === undefined) plain.push(item);
    else if (directive === 'delete') deleted.add(keyIn(item, mergeKey));
    else if (directive === 'replace') isReplaced = true;
    else if (directive === 'merge') {
      throw new PatchFailure(500, 'merging lists cannot yet be specified in the patch');
    } else {
      throw new PatchFailure(500, `unknown patch type: ${goPlain(directive)} in map: ${goPlain(item)}`);
    }
  }
  if (isReplaced) return { kept: plain, plain: [] };
  const isDeleted = (item: JsonObject) => Object.hasOwn(item, mergeKey) && deleted.has(item[mergeKey] as Json);
  return { kept: old.filter((item) => !isDeleted(item)), plain };
}

/** Only the first of several items with one key is merged. */
function mergeItems(
  items: JsonObject[],
  patch: readonly JsonObject[],
  mergeKey: string,
  mergeItem: MergeItem,
): JsonObject[] {
  const at = new Map<Json, number>();
  const note = (key: Json | undefined, index: number): void => {
    if (key !== undefined && !at.has(key)) at.set(key, index);
  };
  for (const [index, item] of items.entries()) note(item[mergeKey], index);
  for (const item of patch) {
    const key = keyIn(item, mergeKey);
    const index = at.get(key);
    if (index === undefined) {
      note(key, items.length);
      items.push(item);
    } else {
      items[index] = mergeItem(items[index] as JsonObject, item);
    }
  }
  return items;
}

/** Whether the items are maps. All must be of one sort. */
function areMaps(...lists: readonly (readonly Json[])[]): boolean {
  let sort: string | undefined;
  for (const item of lists.flat()) {
    const own = goType(item);
    if (own === '[]interface {}' && sort === undefined) throw new PatchFailure(422, 'lists of lists are not supported');
    if (sort !== undefined && own !== sort) {
      throw new PatchFailure(500, `list element types are not identical: ${goPlain(lists.map((list) => [...list]))}`);
    }
    sort = own;
  }
  return sort === 'map[string]interface {}';
}

/** The patch's own order must be that of `$setElementOrder`, and all of its items must be in it. */
function checkOrder(patch: readonly Json[], order: readonly Json[], mergeKey: string): void {
  if (order.length === 0 || patch.length === 0) return;
  const items = mergeKey === '' ? patch : patch.filter((item) => asMap(item)?.[DIRECTIVE] !== 'delete');
  let at = 0;
  let next = 0;
  while (at < items.length && next < order.length) {
    const item = items[at] as Json;
    if (Object.hasOwn(asMap(item) ?? {}, DIRECTIVE)) {
      at++;
      continue;
    }
    if (keyValue(item, mergeKey) === keyValue(order[next] as Json, mergeKey)) at++;
    next++;
  }
  if (at < items.length && next >= order.length) {
    throw new PatchFailure(
      500,
      `The order in patch list:\n${goPlain([...patch])}\n doesn't match ${SET_ORDER} list:\n${goPlain([...order])}\n`,
    );
  }
}
