/** What a call costs at run time, in the units of the real server: about one for each step, a tenth for a character. */
import { ListValue, MapValue, Opaque, sizeOf, type Value } from './value.ts';

export const SELECT_COST = 1;
export const LIST_COST = 10;
export const MAP_COST = 30;
export const PER_CHARACTER = 0.1;
export const PER_PATTERN_CHARACTER = 0.25;
/** Asking the authorizer is by far the dearest. */
export const AUTHORIZER_COST = 350_000;

type Cost = (args: readonly Value[], result: Value, id: string) => number;

const traverse = (size: number, factor = 1): number => Math.ceil(size * factor * PER_CHARACTER);
const first: Cost = ([one]) => traverse(sizeOf(one));
const firstTwice: Cost = ([one]) => traverse(sizeOf(one), 2);
const one: Cost = () => 1;

/** Of a text and a pattern. */
export function patternCost(text: number, pattern: number): number {
  return Math.ceil((1 + text) * PER_CHARACTER) * Math.ceil(pattern * PER_PATTERN_CHARACTER);
}

const match: Cost = ([text, pattern]) => patternCost(sizeOf(text), sizeOf(pattern));

/** All of one list with all of another. */
function pairs(times: number): Cost {
  return ([one, other]) => 1 + times * sizeOf(one) * sizeOf(other);
}

const smaller: Cost = ([left, right]) => {
  if (left instanceof Opaque) return 1;
  return traverse(Math.min(sizeOf(left), sizeOf(right)));
};

const allocate = (factor: number, size: number): number => Math.floor(size * factor) + 1 + LIST_COST;

/** Sorting and removing duplicates count as comparing all with all. */
function selfCompare(list: Value | undefined): number {
  const size = sizeOf(list);
  const sample = list instanceof ListValue && list.length > 0 ? list.at(0) : undefined;
  const isText = typeof sample === 'string' || sample instanceof Uint8Array;
  return allocate(isText ? 2 + PER_CHARACTER : 2, size * size);
}

/** All that is in a value. */
function traversal(value: Value): number {
  if (typeof value === 'string') return Math.floor(Buffer.byteLength(value) * PER_CHARACTER);
  if (value instanceof Uint8Array) return Math.floor(value.length * PER_CHARACTER);
  let sum = 0;
  if (value instanceof ListValue) {
    for (const item of value) sum += traversal(item);
    return sum;
  }
  if (value instanceof MapValue) {
    for (const key of value.keys()) sum += traversal(key) + traversal(value.get(key) ?? null);
    return sum;
  }
  return 1;
}

const wholeTraversal: Cost = ([list]) => traversal(list ?? null);

const selector: Cost = ([, text]) => {
  const size = sizeOf(text);
  return LIST_COST + Math.ceil(size * PER_CHARACTER) + Math.ceil(Math.ceil(size * 0.5) * (LIST_COST + 40));
};

const contained: Cost = ([net, other], _result, id) =>
  traverse(sizeOf(net), 2) + (id.endsWith('_string') ? traverse(sizeOf(other)) : 0);

/** By the name of the function; those not listed cost one. */
const byName: Readonly<Record<string, Cost>> = {
  check: () => AUTHORIZER_COST,
  fieldSelector: selector,
  labelSelector: selector,
  isSorted: wholeTraversal,
  sum: wholeTraversal,
  max: wholeTraversal,
  min: wholeTraversal,
  indexOf: wholeTraversal,
  lastIndexOf: wholeTraversal,
  url: first,
  lowerAscii: first,
  upperAscii: first,
  substring: first,
  trim: first,
  replace: firstTwice,
  split: firstTwice,
  join: (_args, result) => traverse(sizeOf(result), 2),
  find: match,
  findAll: match,
  matches: match,
  contains: ([text, part]) => traverse(sizeOf(text)) * traverse(sizeOf(part)),
  startsWith: first,
  endsWith: first,
  format: first,
  'strings.quote': first,
  cidr: first,
  isIP: first,
  isCIDR: first,
  ip: (args, result, id) => (id === 'cidr_ip' ? 1 : first(args, result, id)),
  'ip.isCanonical': firstTwice,
  containsIP: contained,
  containsCIDR: (args, result, id) => contained(args, result, id) + traverse(sizeOf(args[0])) + 1,
  quantity: first,
  isQuantity: first,
  semver: first,
  isSemver: first,
  validate: ([format, text]) => patternCost(sizeOf(text), format instanceof Opaque ? format.size : 1),
  '_==_': smaller,
  '_!=_': ([left, right]) => traverse(Math.min(sizeOf(left), sizeOf(right))),
  '@in': ([, range], _result, id) => (id === 'in_list' ? sizeOf(range) : 1),
  'sets.contains': pairs(1),
  'sets.intersects': pairs(1),
  'sets.equivalent': pairs(2),
  slice: (_args, result) => allocate(1, sizeOf(result)),
  flatten: ([list, depth]) => allocate(typeof depth === 'bigint' ? Number(depth) : 1, sizeOf(list)),
  'lists.range': (_args, result) => allocate(1, sizeOf(result)),
  reverse: (_args, result) => allocate(1, sizeOf(result)),
  distinct: ([list]) => selfCompare(list),
  sort: ([list]) => selfCompare(list),
  '@sortByAssociatedKeys': ([, keys]) => selfCompare(keys),
};

/** By overload, where only some of a function's differ. */
const byId: Readonly<Record<string, Cost>> = {
  add_string: ([left, right]) => traverse(sizeOf(left) + sizeOf(right)),
  add_bytes: ([left, right]) => traverse(sizeOf(left) + sizeOf(right)),
  string_to_bytes: first,
  bytes_to_string: first,
};

const textOrder = /^(?:less|greater)(?:_equals)?_(?:string|bytes)_/;

/** The id is empty where the types left several overloads: then their particular costs do not count. */
export function callCost(name: string, id: string, args: readonly Value[], result: Value): number {
  if (textOrder.test(id)) return smaller(args, result, id);
  return (byId[id] ?? byName[name] ?? one)(args, result, id);
}
