/**
 * Strategic merge patch: a merge patch that merges lists by their keys and knows directives. kubectl sends it for
 * built-in kinds. Works on copies and changes them in place, like the original: the order of steps matters.
 */
import type { JsonObject } from '../object/draft.ts';
import type { Json } from '@reeve/kube';
import { goPlain } from '../apply/go-format.ts';
import { type KindTypes, typeOf } from '../types/kind-types.ts';
import { asList, asMap, type PatchRule, type Type } from '../types/type.ts';
import { attempted, jsonSort, PatchFailure, type PatchResult } from './result.ts';
import { DELETE_FROM, DIRECTIVE, RETAIN_KEYS, SET_ORDER, withoutDirectives } from './directives.ts';
import { withoutNulls } from './merge-patch.ts';
import { type MergeItem, mergeLists, orderList } from './strategic-list.ts';
import { Work } from './work.ts';

/** The result is not yet in the server's form: the caller shapes and defaults it, as after every write. */
export function strategicMergePatch(object: JsonObject, patch: Json, types: KindTypes): PatchResult {
  return attempted(() => {
    const type = typeOf(types);
    // Structs with the rules of patches are known of built-in kinds only.
    if (type.map?.name === undefined) throw new PatchFailure(400, 'strategic merge patch format is not supported');
    const map = patch === null ? {} : asMap(patch);
    if (!map) {
      throw new PatchFailure(
        400,
        `json: cannot unmarshal ${jsonSort(patch)} into Go value of type map[string]interface {}`,
      );
    }
    const work = new Work();
    return mergeMaps(work.copy(object) as JsonObject, work.copy(map) as JsonObject, type);
  });
}

function mergeMaps(object: JsonObject, patch: JsonObject, type: Type): JsonObject {
  if (Object.hasOwn(patch, DIRECTIVE)) return directed(patch);
  retainKeys(object, patch);
  mergeOrderedLists(object, patch, type);
  for (const [name, value] of Object.entries(patch)) {
    const isDeletion = name.startsWith(DELETE_FROM);
    const key = isDeletion ? keyAfter(name, 'invalid patch format of primitive list') : name;
    if (value === null) delete object[key];
    else mergeField(object, key, value, type, isDeletion);
  }
  return object;
}

function itemMerger(type: Type): MergeItem {
  return (item, patch) => mergeMaps(item, { ...patch }, type);
}

function mergeField(object: JsonObject, key: string, value: Json, type: Type, isDeletion: boolean): void {
  const old = Object.hasOwn(object, key) ? object[key] : undefined;
  const oldMap = asMap(old);
  const map = asMap(value);
  const oldList = asList(old);
  const list = asList(value);
  if (oldMap && map) {
    const { below, rule } = lookUp(type, key);
    object[key] = rule?.strategy === 'replace' ? map : mergeMaps(oldMap, map, below);
  } else if (oldList && list) {
    const { below, rule } = lookUpList(type, key);
    const isMerged = isDeletion || rule?.strategy === 'merge';
    object[key] = isMerged
      ? mergeLists([...oldList], [...list], rule?.mergeKey ?? '', isDeletion, itemMerger(below))
      : [...list];
  } else if (!isDeletion) {
    const kept = withoutDirectives(withoutNulls(value));
    if (kept === undefined) delete object[key];
    else object[key] = kept;
  }
}

/** `$patch` in a map: the map takes the old one's place, or nothing does. */
function directed(patch: JsonObject): JsonObject {
  const { [DIRECTIVE]: directive = null, ...rest } = patch;
  if (directive === 'replace') return rest;
  if (directive === 'delete') return {};
  throw new PatchFailure(500, `unknown patch type: ${goPlain(directive)} in map: ${goPlain(patch)}`);
}

/** `$retainKeys` names all keys that may be left; the patch must not set others. */
function retainKeys(object: JsonObject, patch: JsonObject): void {
  if (!Object.hasOwn(patch, RETAIN_KEYS)) return;
  const keys = asList(patch[RETAIN_KEYS]);
  delete patch[RETAIN_KEYS];
  const isWrong = (name: string, value: Json) =>
    value !== null && !name.startsWith(DELETE_FROM) && !name.startsWith(SET_ORDER) && keys?.includes(name) !== true;
  if (!keys || Object.entries(patch).some(([name, value]) => isWrong(name, value))) {
    throw new PatchFailure(400, 'invalid patch format of retainKeys');
  }
  for (const name of Object.keys(object)) if (!keys.includes(name)) delete object[name];
}

/** `$setElementOrder/field` says how a list is to be ordered; it is merged together with its field. */
function mergeOrderedLists(object: JsonObject, patch: JsonObject, type: Type): void {
  for (const [name, given] of Object.entries(patch)) {
    if (!name.startsWith(SET_ORDER)) continue;
    delete patch[name];
    const order = listIn(given);
    const key = keyAfter(name, 'invalid patch format of setElementOrder list');
    const old = Object.hasOwn(object, key) ? listIn(object[key]) : undefined;
    const list = Object.hasOwn(patch, key) ? listIn(patch[key]) : undefined;
    const { below, rule } = lookUpList(type, key);
    const ordered = orderList(old, list, order, rule ?? noRule, itemMerger(below));
    if (!ordered) continue;
    object[key] = ordered;
    delete patch[key];
  }
}

const noRule: PatchRule = { strategy: '', mergeKey: '' };

function listIn(value: Json | undefined): Json[] {
  const list = asList(value);
  if (list) return [...list];
  const sort = value === null || value === undefined ? '%!s(<nil>)' : jsonSort(value);
  throw new PatchFailure(500, `expected a []interface {}, but received a ${goSort(sort)}`);
}

function goSort(sort: string): string {
  return sort === 'object' ? 'map[string]interface {}' : sort === 'number' ? 'int64' : sort;
}

function keyAfter(name: string, complaint: string): string {
  const slash = name.indexOf('/');
  const prefix = slash < 0 ? name : name.slice(0, slash);
  if (slash < 0 || (prefix !== DELETE_FROM && prefix !== SET_ORDER)) throw new PatchFailure(400, complaint);
  return name.slice(slash + 1);
}

interface Below {
  readonly below: Type;
  readonly rule: PatchRule | undefined;
}

function lookUp(type: Type, name: string): Below {
  const { map } = type;
  if (map?.name === undefined) {
    throw new PatchFailure(500, 'merging an object in json but data type is not struct, instead is: map');
  }
  const field = map.fields.get(name) ?? foldedField(map.fields, name);
  if (!field) {
    throw new PatchFailure(
      500,
      `unable to find api field in struct ${map.name} for the json field ${JSON.stringify(name)}`,
    );
  }
  return { below: field.type, rule: field.patch };
}

function foldedField<T>(fields: ReadonlyMap<string, T>, name: string): T | undefined {
  for (const [known, field] of fields) if (known.toLowerCase() === name.toLowerCase()) return field;
  return undefined;
}

function lookUpList(type: Type, name: string): Below {
  const { below, rule } = lookUp(type, name);
  if (!below.list) throw new PatchFailure(500, 'expected slice or array type, but got: struct');
  return { below: below.list.element, rule };
}
