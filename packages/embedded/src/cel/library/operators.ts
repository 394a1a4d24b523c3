/** Operators: arithmetic, order, equality, membership. The logical ones are the evaluator's own. */
import { compare, equals } from '../compare.ts';
import { fn, type Overload } from '../function.ts';
import { EvaluationError, noSuchOverload } from '../meter.ts';
import { isInstant } from '../../format/time.ts';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  optionalOf,
  paramOf,
  STRING,
  TIMESTAMP,
  UINT,
} from '../type.ts';
import {
  Duration,
  INT_MAX,
  INT_MIN,
  type ListValue,
  type MapValue,
  Timestamp,
  UINT_MAX,
  Uint,
  type Value,
} from '../value.ts';

const A = paramOf('A');
const B = paramOf('B');

export function int(value: bigint): bigint {
  if (value < INT_MIN || value > INT_MAX) throw new EvaluationError('integer overflow');
  return value;
}

export function uint(value: bigint): Uint {
  if (value < 0n || value > UINT_MAX) throw new EvaluationError('unsigned integer overflow');
  return new Uint(value);
}

function duration(nanos: bigint): Duration {
  return new Duration(int(nanos));
}

function timestamp(nanos: bigint, like: Timestamp): Timestamp {
  if (!isInstant(nanos)) throw new EvaluationError('timestamp overflow');
  return new Timestamp(nanos, like.offsetMinutes);
}

type Int = (one: bigint, other: bigint) => bigint;
type Double = (one: number, other: number) => number;

/** An operator on two ints, two uints and, if it has one, two doubles. */
function numeric(name: string, id: string, ofInts: Int, ofDoubles?: Double): readonly Overload[] {
  const overloads = [
    fn(name, `${id}_int64`, [INT, INT], INT, ([one, other]) => int(ofInts(one as bigint, other as bigint))),
    fn(name, `${id}_uint64`, [UINT, UINT], UINT, ([one, other]) =>
      uint(ofInts((one as Uint).value, (other as Uint).value)),
    ),
  ];
  if (ofDoubles) {
    const run = ([one, other]: readonly Value[]): number => ofDoubles(one as number, other as number);
    overloads.push(fn(name, `${id}_double`, [DOUBLE, DOUBLE], DOUBLE, run));
  }
  return overloads;
}

function divide(one: bigint, other: bigint): bigint {
  if (other === 0n) throw new EvaluationError('division by zero');
  return one / other;
}

function modulo(one: bigint, other: bigint): bigint {
  if (other === 0n) throw new EvaluationError('modulus by zero');
  return one % other;
}

const arithmetic: readonly Overload[] = [
  ...numeric(
    '_+_',
    'add',
    (one, other) => one + other,
    (one, other) => one + other,
  ),
  ...numeric(
    '_-_',
    'subtract',
    (one, other) => one - other,
    (one, other) => one - other,
  ),
  ...numeric(
    '_*_',
    'multiply',
    (one, other) => one * other,
    (one, other) => one * other,
  ),
  ...numeric('_/_', 'divide', divide, (one, other) => one / other),
  ...numeric('_%_', 'modulo', modulo),
  fn('_+_', 'add_string', [STRING, STRING], STRING, ([one, other]) => (one as string) + (other as string)),
  fn('_+_', 'add_bytes', [BYTES, BYTES], BYTES, ([one, other]) =>
    Uint8Array.from([...(one as Uint8Array), ...(other as Uint8Array)]),
  ),
  fn('_+_', 'add_list', [listOf(A), listOf(A)], listOf(A), ([one, other], meter) => {
    meter.work((one as ListValue).concatWork(other as ListValue));
    return (one as ListValue).concat(other as ListValue);
  }),
  fn('_+_', 'add_duration_duration', [DURATION, DURATION], DURATION, ([one, other]) =>
    duration((one as Duration).nanos + (other as Duration).nanos),
  ),
  fn('_+_', 'add_duration_timestamp', [DURATION, TIMESTAMP], TIMESTAMP, ([one, other]) =>
    timestamp((one as Duration).nanos + (other as Timestamp).nanos, other as Timestamp),
  ),
  fn('_+_', 'add_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP, ([one, other]) =>
    timestamp((one as Timestamp).nanos + (other as Duration).nanos, one as Timestamp),
  ),
  fn('_-_', 'subtract_duration_duration', [DURATION, DURATION], DURATION, ([one, other]) =>
    duration((one as Duration).nanos - (other as Duration).nanos),
  ),
  fn('_-_', 'subtract_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP, ([one, other]) =>
    timestamp((one as Timestamp).nanos - (other as Duration).nanos, one as Timestamp),
  ),
  fn('_-_', 'subtract_timestamp_timestamp', [TIMESTAMP, TIMESTAMP], DURATION, ([one, other]) =>
    duration((one as Timestamp).nanos - (other as Timestamp).nanos),
  ),
  fn('-_', 'negate_int64', [INT], INT, ([one]) => int(-(one as bigint))),
  fn('-_', 'negate_double', [DOUBLE], DOUBLE, ([one]) => -(one as number)),
  fn('!_', 'logical_not', [BOOL], BOOL, ([one]) => one !== true),
];

const numbers: readonly CelType[] = [INT, UINT, DOUBLE];
/** Pairs that can be ordered: numbers with each other, everything else with its like. */
const ordered: readonly (readonly [CelType, CelType])[] = [
  [BOOL, BOOL],
  ...numbers.flatMap((one) => numbers.map((other) => [one, other] as const)),
  [STRING, STRING],
  [BYTES, BYTES],
  [TIMESTAMP, TIMESTAMP],
  [DURATION, DURATION],
];

function order(name: string, id: string, holds: (order: number) => boolean): readonly Overload[] {
  return ordered.map(([one, other]) =>
    fn(name, `${id}_${one.kind}_${other.kind}`, [one, other], BOOL, ([left, right]) => {
      // Where one side is not a number the answer is no, whatever is asked.
      if (Number.isNaN(left) || Number.isNaN(right)) return false;
      return holds(compare(left as Value, right as Value));
    }),
  );
}

/** Never run: the evaluator does these itself, for they need not look at all of their arguments. */
function lazy(name: string, params: readonly CelType[], result: CelType): Overload {
  return fn(name, name, params, result, () => {
    throw noSuchOverload();
  });
}

export const operators: readonly Overload[] = [
  ...arithmetic,
  ...order('_<_', 'less', (result) => result < 0),
  ...order('_<=_', 'less_equals', (result) => result <= 0),
  ...order('_>_', 'greater', (result) => result > 0),
  ...order('_>=_', 'greater_equals', (result) => result >= 0),
  fn('_==_', 'equals', [A, A], BOOL, ([one, other], meter) => equals(one as Value, other as Value, meter)),
  fn('_!=_', 'not_equals', [A, A], BOOL, ([one, other], meter) => !equals(one as Value, other as Value, meter)),
  fn('@in', 'in_list', [A, listOf(A)], BOOL, ([one, list], meter) => {
    for (const item of list as ListValue) if (equals(item, one as Value, meter)) return true;
    return false;
  }),
  fn('@in', 'in_map', [A, mapOf(A, B)], BOOL, ([one, map]) => (map as MapValue).has(one as Value)),
  lazy('_&&_', [BOOL, BOOL], BOOL),
  lazy('_||_', [BOOL, BOOL], BOOL),
  lazy('_?_:_', [BOOL, A, A], A),
  lazy('@not_strictly_false', [BOOL], BOOL),
  lazy('_[_]', [listOf(A), INT], A),
  lazy('_[_]', [mapOf(A, B), A], B),
  lazy('_[_]', [optionalOf(listOf(A)), INT], optionalOf(A)),
  lazy('_[_]', [optionalOf(mapOf(A, B)), A], optionalOf(B)),
  lazy('_[?_]', [listOf(A), INT], optionalOf(A)),
  lazy('_[?_]', [optionalOf(listOf(A)), INT], optionalOf(A)),
  lazy('_[?_]', [mapOf(A, B), A], optionalOf(B)),
  lazy('_[?_]', [optionalOf(mapOf(A, B)), A], optionalOf(B)),
  lazy('_?._', [DYN, STRING], optionalOf(A)),
];
