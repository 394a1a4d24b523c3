/** Lists: those of Kubernetes, the lists extension (version 3), and sets. */
import { compare, equals } from '../compare.ts';
import { fn, method, type Overload } from '../function.ts';
import { EvaluationError, type Meter, noSuchOverload } from '../meter.ts';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  paramOf,
  STRING,
  TIMESTAMP,
  UINT,
} from '../type.ts';
import { ArrayList, Duration, ListValue, typeName, Uint, type Value } from '../value.ts';
import { int, uint } from './operators.ts';

const T = paramOf('T');
const comparable: readonly CelType[] = [INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES];
const zeros: readonly (readonly [CelType, Value])[] = [
  [INT, 0n],
  [UINT, new Uint(0n)],
  [DOUBLE, 0],
  [DURATION, new Duration(0n)],
];

function add(one: Value, other: Value): Value {
  if (typeof one === 'bigint' && typeof other === 'bigint') return int(one + other);
  if (typeof one === 'number' && typeof other === 'number') return one + other;
  if (one instanceof Uint && other instanceof Uint) return uint(one.value + other.value);
  if (one instanceof Duration && other instanceof Duration) return new Duration(int(one.nanos + other.nanos));
  throw noSuchOverload();
}

function sum(list: ListValue, zero: Value, meter: Meter): Value {
  meter.work(list.length);
  let total = list.length > 0 ? undefined : zero;
  for (const item of list) total = total === undefined ? item : add(total, item);
  return total ?? zero;
}

function isSorted(list: ListValue, meter: Meter): boolean {
  meter.work(list.length);
  for (let i = 1; i < list.length; i++) if (compare(list.at(i - 1), list.at(i)) > 0) return false;
  return true;
}

function extreme(list: ListValue, name: string, wanted: number, meter: Meter): Value {
  meter.work(list.length);
  let best: Value | undefined;
  for (const item of list) if (best === undefined || compare(item, best) === wanted) best = item;
  if (best === undefined) throw new EvaluationError(`${name} called on empty list`);
  return best;
}

function find(list: ListValue, item: Value, meter: Meter, fromEnd: boolean): bigint {
  for (let i = 0; i < list.length; i++) {
    const index = fromEnd ? list.length - 1 - i : i;
    if (equals(list.at(index), item, meter)) return BigInt(index);
  }
  return -1n;
}

function slice(list: ListValue, start: bigint, end: bigint): ListValue {
  const head = `cannot slice(${start}, ${end})`;
  if (start < 0n || end < 0n) throw new EvaluationError(`${head}, negative indexes not supported`);
  if (start > end) throw new EvaluationError(`${head}, start index must be less than or equal to end index`);
  if (BigInt(list.length) < end) throw new EvaluationError(`${head}, list is length ${list.length}`);
  return new ArrayList(Array.from({ length: Number(end - start) }, (_unused, at) => list.at(Number(start) + at)));
}

function flatten(list: ListValue, depth: bigint, meter: Meter): Value[] {
  if (depth < 0n) throw new EvaluationError('level must be non-negative');
  const flat: Value[] = [];
  for (const item of list) {
    meter.work(1);
    if (item instanceof ListValue && depth > 0n) for (const inner of flatten(item, depth - 1n, meter)) flat.push(inner);
    else flat.push(item);
  }
  return flat;
}

function distinct(list: ListValue, meter: Meter): ListValue {
  const kept: Value[] = [];
  for (const item of list) if (!kept.some((known) => equals(known, item, meter))) kept.push(item);
  return new ArrayList(kept);
}

function sortBy(list: ListValue, keys: ListValue, meter: Meter): ListValue {
  meter.work(list.length * Math.ceil(Math.log2(list.length + 1)));
  const sample = keys.length > 0 ? typeName(keys.at(0)) : '';
  const pairs = Array.from(list, (item, index) => ({ item, key: keys.at(index) }));
  if (pairs.some(({ key }) => typeName(key) !== sample)) {
    throw new EvaluationError('list elements must have the same type');
  }
  pairs.sort((one, other) => compare(one.key, other.key));
  return new ArrayList(pairs.map(({ item }) => item));
}

function range(count: bigint, meter: Meter): ListValue {
  meter.work(Number(count));
  return new ArrayList(Array.from({ length: Math.max(0, Number(count)) }, (_unused, index) => BigInt(index)));
}

function contains(list: ListValue, others: ListValue, meter: Meter): boolean {
  return [...others].every((other) => find(list, other, meter, false) >= 0n);
}

function intersects(list: ListValue, others: ListValue, meter: Meter): boolean {
  return [...others].some((other) => find(list, other, meter, false) >= 0n);
}

type Sets = (list: ListValue, others: ListValue, meter: Meter) => boolean;

function sets(name: string, run: Sets): Overload {
  return fn(`sets.${name}`, `list_sets_${name}_list`, [listOf(T), listOf(T)], BOOL, ([one, other], meter) =>
    run(one as ListValue, other as ListValue, meter),
  );
}

/** A method on a list of anything. */
function onList(
  name: string,
  args: readonly CelType[],
  result: CelType,
  run: (list: ListValue, args: readonly Value[], meter: Meter) => Value,
): Overload {
  const id = ['list', name, ...args.map(({ kind }) => kind)].join('_');
  return method(name, id, [listOf(T), ...args], result, ([list, ...rest], meter) =>
    run(list as ListValue, rest, meter),
  );
}

export const lists: readonly Overload[] = [
  ...zeros.map(([type, zero]) =>
    method('sum', `list_${type.kind}_sum`, [listOf(type)], type, ([list], meter) =>
      sum(list as ListValue, zero, meter),
    ),
  ),
  ...comparable.flatMap((type) => [
    method('isSorted', `list_${type.kind}_is_sorted`, [listOf(type)], BOOL, ([list], meter) =>
      isSorted(list as ListValue, meter),
    ),
    method('min', `list_${type.kind}_min`, [listOf(type)], type, ([list], meter) =>
      extreme(list as ListValue, 'min', -1, meter),
    ),
    method('max', `list_${type.kind}_max`, [listOf(type)], type, ([list], meter) =>
      extreme(list as ListValue, 'max', 1, meter),
    ),
    method('sort', `list_${type.kind}_sort`, [listOf(type)], listOf(type), ([list], meter) =>
      sortBy(list as ListValue, list as ListValue, meter),
    ),
    method(
      '@sortByAssociatedKeys',
      `list_${type.kind}_sortByAssociatedKeys`,
      [listOf(T), listOf(type)],
      listOf(T),
      ([list, keys], meter) => sortBy(list as ListValue, keys as ListValue, meter),
    ),
  ]),
  onList('indexOf', [T], INT, (list, [item], meter) => find(list, item as Value, meter, false)),
  onList('lastIndexOf', [T], INT, (list, [item], meter) => find(list, item as Value, meter, true)),
  onList('slice', [INT, INT], listOf(T), (list, [start, end]) => slice(list, start as bigint, end as bigint)),
  onList('reverse', [], listOf(T), (list) => new ArrayList([...list].reverse())),
  onList('distinct', [], listOf(T), (list, _args, meter) => distinct(list, meter)),
  method(
    'flatten',
    'list_flatten',
    [listOf(listOf(T))],
    listOf(T),
    ([list], meter) => new ArrayList(flatten(list as ListValue, 1n, meter)),
  ),
  method(
    'flatten',
    'list_flatten_int',
    [listOf(DYN), INT],
    listOf(DYN),
    ([list, depth], meter) => new ArrayList(flatten(list as ListValue, depth as bigint, meter)),
  ),
  fn('lists.range', 'lists_range', [INT], listOf(INT), ([count], meter) => range(count as bigint, meter)),
  sets('contains', contains),
  sets('equivalent', (one, other, meter) => contains(one, other, meter) && contains(other, one, meter)),
  sets('intersects', intersects),
];
