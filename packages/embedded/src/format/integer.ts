/** Integers of Go's widths, in what JSON gives: a number, or a bigint where a double does not hold it. */
import { plain } from './go-text.ts';

export type Integer = 'int32' | 'int64';

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const INT32_MAX = 2 ** 31 - 1;

/** Whether a value is an integer of this width. */
export function isInteger(value: unknown, width: Integer): value is number | bigint {
  if (typeof value === 'bigint') return width === 'int64' && value >= INT64_MIN && value <= INT64_MAX;
  if (!Number.isInteger(value)) return false;
  const size = value as number;
  return width === 'int32' ? size >= -INT32_MAX - 1 && size <= INT32_MAX : size >= -(2 ** 63) && size < 2 ** 63;
}

/** The same of a double as Go writes it: with zeros after the digits that tell it apart, so that 2^63 - 1 is none. */
export function isIntegerAsWritten(value: number, width: Integer): boolean {
  return Number.isSafeInteger(value)
    ? isInteger(value, width)
    : Number.isInteger(value) && isInteger(BigInt(plain(value)), width);
}
