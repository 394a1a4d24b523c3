/** Conversions between types, sizes, and the types themselves. */
import { fn, method, type Overload } from '../function.ts';
import { goNumber } from '../../format/go-text.ts';
import { EvaluationError } from '../meter.ts';
import { formatDuration, formatInstant, isInstant, parseDuration, parseInstant, SECOND } from '../../format/time.ts';
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
  paramOf,
  STRING,
  TIMESTAMP,
  typeOf,
  UINT,
} from '../type.ts';
import {
  Duration,
  INT_MAX,
  INT_MIN,
  sizeOf,
  Timestamp,
  TypeValue,
  typeName,
  UINT_MAX,
  Uint,
  type Value,
} from '../value.ts';
import { int, uint } from './operators.ts';

const A = paramOf('A');
const B = paramOf('B');
const DIGITS = /^[+-]?\d+$/;
/** Of the largest integer. */
const MOST_DIGITS = 20;
/** Of doubles that int64 and uint64 hold. */
const INT_BOUND = 2 ** 63;
const UINT_BOUND = 2 ** 64;

function failure(from: string, to: string): EvaluationError {
  return new EvaluationError(`type conversion error from '${from}' to '${to}'`);
}

function convert(name: string, from: CelType, to: CelType, run: (value: never) => Value): Overload {
  return fn(name, `${from.kind}_to_${to.kind}`, [from], to, ([value]) => run(value as never));
}

function parseInteger(text: string, min: bigint, max: bigint, to: string): bigint {
  if (!DIGITS.test(text) || (to === 'uint' && /^[+-]/.test(text))) throw failure('string', to);
  const digits = text.replace(/^[+-]?0*(?=\d)/, '');
  if (digits.length > MOST_DIGITS) throw failure('string', to);
  const value = BigInt(text.startsWith('-') ? `-${digits}` : digits);
  if (value < min || value > max) throw failure('string', to);
  return value;
}

function parseDouble(text: string): number {
  if (/^[+-]?(?:inf|infinity)$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  if (/^nan$/i.test(text)) return Number.NaN;
  const value = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) throw failure('string', 'double');
  return value;
}

function parseBool(text: string): boolean {
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(text)) return false;
  throw failure('string', 'bool');
}

function doubleToInt(value: number): bigint {
  if (!(value > -INT_BOUND && value < INT_BOUND)) throw new EvaluationError('integer overflow');
  return BigInt(Math.trunc(value));
}

function doubleToUint(value: number): Uint {
  if (!(value >= 0 && value < UINT_BOUND)) throw new EvaluationError('unsigned integer overflow');
  return new Uint(BigInt(Math.trunc(value)));
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new EvaluationError('invalid UTF-8 in bytes, cannot convert to string');
  }
}

function toTimestamp(text: string): Timestamp {
  const instant = parseInstant(text);
  if (!instant) throw failure('string', 'google.protobuf.Timestamp');
  return new Timestamp(instant.nanos, instant.offsetMinutes);
}

function toDuration(text: string): Duration {
  const nanos = parseDuration(text);
  if (nanos === undefined) throw failure('string', 'google.protobuf.Duration');
  return new Duration(nanos);
}

function fromSeconds(seconds: bigint): Timestamp {
  const nanos = seconds * SECOND;
  if (!isInstant(nanos)) throw new EvaluationError('timestamp overflow');
  return new Timestamp(nanos);
}

function floorSeconds(nanos: bigint): bigint {
  return nanos >= 0n ? nanos / SECOND : -((-nanos + SECOND - 1n) / SECOND);
}

/** What `string(x)` makes of a value that has such a form. */
export function toText(value: Value): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return goNumber(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) return decode(value);
  if (value instanceof Timestamp) return formatInstant(value.nanos, value.offsetMinutes);
  if (value instanceof Duration) return formatDuration(value.nanos);
  return value instanceof TypeValue ? value.name : undefined;
}

const same = (name: string, type: CelType): Overload => convert(name, type, type, (value: Value) => value);

const sized: readonly CelType[] = [STRING, BYTES, listOf(A), mapOf(A, B)];

export const conversions: readonly Overload[] = [
  same('int', INT),
  convert('int', UINT, INT, (value: Uint) => int(value.value)),
  convert('int', DOUBLE, INT, doubleToInt),
  convert('int', STRING, INT, (text: string) => parseInteger(text, INT_MIN, INT_MAX, 'int')),
  convert('int', TIMESTAMP, INT, (value: Timestamp) => floorSeconds(value.nanos)),
  convert('int', DURATION, INT, (value: Duration) => value.nanos),
  same('uint', UINT),
  convert('uint', INT, UINT, uint),
  convert('uint', DOUBLE, UINT, doubleToUint),
  convert('uint', STRING, UINT, (text: string) => new Uint(parseInteger(text, 0n, UINT_MAX, 'uint'))),
  same('double', DOUBLE),
  convert('double', INT, DOUBLE, Number),
  convert('double', UINT, DOUBLE, (value: Uint) => Number(value.value)),
  convert('double', STRING, DOUBLE, parseDouble),
  same('bool', BOOL),
  convert('bool', STRING, BOOL, parseBool),
  same('string', STRING),
  ...[BOOL, INT, UINT, DOUBLE, BYTES, TIMESTAMP, DURATION].map((type) =>
    convert('string', type, STRING, (value: Value) => toText(value) ?? ''),
  ),
  same('bytes', BYTES),
  convert('bytes', STRING, BYTES, (text: string) => new TextEncoder().encode(text)),
  same('timestamp', TIMESTAMP),
  convert('timestamp', STRING, TIMESTAMP, toTimestamp),
  convert('timestamp', INT, TIMESTAMP, fromSeconds),
  same('duration', DURATION),
  convert('duration', STRING, DURATION, toDuration),
  convert('duration', INT, DURATION, (nanos: bigint) => new Duration(nanos)),
  fn('dyn', 'to_dyn', [A], DYN, ([value]) => value as Value),
  fn('type', 'type', [A], typeOf(A), ([value]) => new TypeValue(typeName(value as Value))),
  ...sized.flatMap((type) => [
    fn('size', `size_${type.kind}`, [type], INT, ([value]) => BigInt(sizeOf(value))),
    method('size', `${type.kind}_size`, [type], INT, ([value]) => BigInt(sizeOf(value))),
  ]),
];
