/** Parts of timestamps and durations. */
import { method, type Overload } from '../function.ts';
import { EvaluationError } from '../meter.ts';
import { type Fields, fieldsAt, SECOND } from '../../format/time.ts';
import { DURATION, INT, STRING, TIMESTAMP } from '../type.ts';
import type { Duration, Timestamp } from '../value.ts';

/** Months and days of month count from zero, except for `getDate`. */
const parts: Readonly<Record<string, (fields: Fields) => number>> = {
  getFullYear: ({ year }) => year,
  getMonth: ({ month }) => month,
  getDayOfYear: ({ dayOfYear }) => dayOfYear,
  getDayOfMonth: ({ day }) => day - 1,
  getDate: ({ day }) => day,
  getDayOfWeek: ({ weekday }) => weekday,
  getHours: ({ hours }) => hours,
  getMinutes: ({ minutes }) => minutes,
  getSeconds: ({ seconds }) => seconds,
  getMilliseconds: ({ milliseconds }) => milliseconds,
};

function partsOf(name: string, part: (fields: Fields) => number): readonly Overload[] {
  const read = (time: Timestamp, zone?: string): bigint => {
    const fields = fieldsAt(time.nanos, zone);
    if (!fields) throw new EvaluationError(`unknown time zone ${zone}`);
    return BigInt(part(fields));
  };
  return [
    method(name, `timestamp_${name}`, [TIMESTAMP], INT, ([time]) => read(time as Timestamp)),
    method(name, `timestamp_${name}_with_tz`, [TIMESTAMP, STRING], INT, ([time, zone]) =>
      read(time as Timestamp, zone as string),
    ),
  ];
}

const lengths: Readonly<Record<string, bigint>> = {
  getHours: 3600n * SECOND,
  getMinutes: 60n * SECOND,
  getSeconds: SECOND,
  getMilliseconds: SECOND / 1000n,
};

export const times: readonly Overload[] = [
  ...Object.entries(parts).flatMap(([name, part]) => partsOf(name, part)),
  ...Object.entries(lengths).map(([name, unit]) =>
    method(name, `duration_${name}`, [DURATION], INT, ([value]) => (value as Duration).nanos / unit),
  ),
];
