/** Optional values, and inserting into the map of a fold. */
import { fn, method, type Overload } from '../function.ts';
import { EvaluationError, noSuchOverload } from '../meter.ts';
import { BOOL, listOf, mapOf, optionalOf, paramOf } from '../type.ts';
import {
  ArrayList,
  Duration,
  EntryMap,
  ListValue,
  MapValue,
  NONE,
  Optional,
  showKey,
  Timestamp,
  Uint,
  type Value,
} from '../value.ts';

const K = paramOf('K');
const V = paramOf('V');
const optional = optionalOf(V);
const map = mapOf(K, V);

function isZero(value: Value): boolean {
  if (value === null || value === false || value === '' || value === 0 || value === 0n) return true;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Duration) return value.nanos === 0n;
  if (value instanceof Timestamp) return false;
  if (value instanceof Uint8Array || value instanceof ListValue) return value.length === 0;
  if (value instanceof MapValue) return value.size === 0;
  return value instanceof Optional && value.value === undefined;
}

function unwrap(list: ListValue): ListValue {
  const items: Value[] = [];
  for (const item of list) {
    if (!(item instanceof Optional)) throw noSuchOverload();
    if (item.value !== undefined) items.push(item.value);
  }
  return new ArrayList(items);
}

function insert(target: Value | undefined, key: Value, value: Value): Value {
  if (!(target instanceof EntryMap)) throw noSuchOverload();
  if (target.has(key)) throw new EvaluationError(`insert failed: key ${showKey(key)} already exists`);
  target.insert(key, value);
  return target;
}

const item = (list: ListValue, index: number): Value => (list.length === 0 ? NONE : new Optional(list.at(index)));

/** Never run: the evaluator looks at the second argument only if it has to. */
const never = (): Value => {
  throw noSuchOverload();
};

export const optionals: readonly Overload[] = [
  fn('optional.of', 'optional_of', [V], optional, ([value]) => new Optional(value)),
  fn('optional.ofNonZeroValue', 'optional_ofNonZeroValue', [V], optional, ([value]) =>
    isZero(value as Value) ? NONE : new Optional(value),
  ),
  fn('optional.none', 'optional_none', [], optional, () => NONE),
  fn('optional.unwrap', 'optional_unwrap', [listOf(optional)], listOf(V), ([list]) => unwrap(list as ListValue)),
  method('unwrapOpt', 'optional_unwrapOpt', [listOf(optional)], listOf(V), ([list]) => unwrap(list as ListValue)),
  method('value', 'optional_value', [optional], V, ([one]) => {
    const { value } = one as Optional;
    if (value === undefined) throw new EvaluationError('optional.none() dereference');
    return value;
  }),
  method('hasValue', 'optional_hasValue', [optional], BOOL, ([one]) => (one as Optional).value !== undefined),
  method('or', 'optional_or_optional', [optional, optional], optional, never),
  method('orValue', 'optional_orValue_value', [optional, V], V, never),
  method('first', 'list_first', [listOf(V)], optional, ([list]) => item(list as ListValue, 0)),
  method('last', 'list_last', [listOf(V)], optional, ([list]) =>
    item(list as ListValue, (list as ListValue).length - 1),
  ),
  fn('cel.@mapInsert', 'map_insert_key_value', [map, K, V], map, ([target, key, value]) =>
    insert(target, key as Value, value as Value),
  ),
  fn('cel.@mapInsert', 'map_insert_map', [map, map], map, ([target, more], meter) => {
    for (const key of (more as MapValue).keys()) {
      meter.work(1);
      insert(target, key, (more as MapValue).get(key) as Value);
    }
    return target as Value;
  }),
];
