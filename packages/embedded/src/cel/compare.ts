/** Equality and order of values, across numeric types too. */
import { EvaluationError, type Meter, noSuchOverload } from './meter.ts';
import { Duration, ListValue, MapValue, Opaque, Optional, Timestamp, TypeValue, Uint, type Value } from './value.ts';

export function equals(one: Value, other: Value, meter: Meter): boolean {
  meter.work(1);
  const left = numberOf(one);
  if (left !== undefined) {
    const right = numberOf(other);
    return right !== undefined && compareNumbers(left, right) === 0;
  }
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) return one === other;
  if (one instanceof ListValue) {
    return other instanceof ListValue && one.equals(other, (a, b) => equals(a, b, meter));
  }
  if (one instanceof MapValue) return other instanceof MapValue && equalMaps(one, other, meter);
  if (one instanceof Uint8Array) return other instanceof Uint8Array && Buffer.compare(one, other) === 0;
  if (one instanceof Timestamp) return other instanceof Timestamp && one.nanos === other.nanos;
  if (one instanceof Duration) return other instanceof Duration && one.nanos === other.nanos;
  if (one instanceof TypeValue) return other instanceof TypeValue && one.name === other.name;
  if (one instanceof Optional) return other instanceof Optional && equalOptionals(one, other, meter);
  return one instanceof Opaque && other instanceof Opaque && one.typeName === other.typeName && one.equals(other);
}

function equalMaps(one: MapValue, other: MapValue, meter: Meter): boolean {
  if (one.size !== other.size) return false;
  for (const key of one.keys()) {
    const left = one.get(key);
    const right = other.get(key);
    if (left === undefined || right === undefined || !equals(left, right, meter)) return false;
  }
  return true;
}

function equalOptionals(one: Optional, other: Optional, meter: Meter): boolean {
  if (one.value === undefined || other.value === undefined) return one.value === other.value;
  return equals(one.value, other.value, meter);
}

function numberOf(value: Value): bigint | number | undefined {
  if (typeof value === 'bigint' || typeof value === 'number') return value;
  return value instanceof Uint ? value.value : undefined;
}

/** As doubles when one of them is, so that the largest ints equal the double next to them; NaN when one of them is. */
function compareNumbers(left: bigint | number, right: bigint | number): number {
  const isMixed = typeof left !== typeof right;
  const [one, other] = isMixed ? [Number(left), Number(right)] : [left, right];
  if (one < other) return -1;
  if (one > other) return 1;
  return Number.isNaN(one) || Number.isNaN(other) ? Number.NaN : 0;
}

/** -1, 0 or 1. What cannot be ordered is an error. */
export function compare(one: Value, other: Value): number {
  const left = numberOf(one);
  const right = numberOf(other);
  if (left !== undefined && right !== undefined) {
    const order = compareNumbers(left, right);
    if (Number.isNaN(order)) throw new EvaluationError('NaN values cannot be ordered');
    return order;
  }
  if (typeof one === 'string' && typeof other === 'string') return compareStrings(one, other);
  if (typeof one === 'boolean' && typeof other === 'boolean') return Number(one) - Number(other);
  if (one instanceof Uint8Array && other instanceof Uint8Array) return Buffer.compare(one, other);
  if (one instanceof Timestamp && other instanceof Timestamp) return compareNumbers(one.nanos, other.nanos);
  if (one instanceof Duration && other instanceof Duration) return compareNumbers(one.nanos, other.nanos);
  throw noSuchOverload();
}

/** By characters. UTF-16 units would put what lies beyond them before U+E000. */
function compareStrings(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let i = 0; i < length; i++) {
    const left = one.charCodeAt(i);
    const right = other.charCodeAt(i);
    if (left !== right) return rank(left) < rank(right) ? -1 : 1;
  }
  return Math.sign(one.length - other.length);
}

/** Surrogates stand for characters beyond all others. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
