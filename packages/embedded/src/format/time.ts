/** Instants and durations: how they are read and written, and what a clock in some zone shows. */
import { plain } from './go-text.ts';

export const SECOND = 1_000_000_000n;
const FIRST = -62135596800n * SECOND;
const LAST = 253402300800n * SECOND - 1n;
const DAY_MS = 86_400_000;

/** From year 1 to 9999. */
export const isInstant = (nanos: bigint): boolean => nanos >= FIRST && nanos <= LAST;

const instant = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)$/;

/** RFC 3339. The offset is kept for writing only. */
export function parseInstant(text: string): { readonly nanos: bigint; readonly offsetMinutes: number } | undefined {
  const match = instant.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as number[];
  const ms = utc(year as number, (month as number) - 1, day as number);
  if (ms === undefined || (hour as number) > 23 || (minute as number) > 59 || (second as number) > 59) return undefined;
  const offset = parseOffset(match[8] as string);
  if (offset === undefined) return undefined;
  const seconds = BigInt(ms / 1000) + BigInt((hour as number) * 3600 + (minute as number) * 60 + (second as number));
  const fraction = BigInt((match[7] ?? '').slice(0, 9).padEnd(9, '0'));
  const nanos = (seconds - BigInt(offset * 60)) * SECOND + fraction;
  return isInstant(nanos) ? { nanos, offsetMinutes: offset } : undefined;
}

/** `2006-01-02`. */
export function parseDate(text: string): bigint | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (!match) return undefined;
  const ms = utc(Number(match[1]), Number(match[2]) - 1, Number(match[3]));
  return ms === undefined ? undefined : BigInt(ms) * 1_000_000n;
}

/** Milliseconds at the beginning of a day that exists. */
function utc(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  return date.getUTCMonth() === month && date.getUTCDate() === day ? date.getTime() : undefined;
}

function parseOffset(text: string): number | undefined {
  if (text === 'Z') return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(4, 6));
  if (hours > 24 || minutes > 59) return undefined;
  return (text.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

export function formatInstant(nanos: bigint, offsetMinutes: number): string {
  const local = nanos + BigInt(offsetMinutes) * 60n * SECOND;
  const fraction = ((local % SECOND) + SECOND) % SECOND;
  const date = new Date(Number((local - fraction) / 1_000_000n));
  const text = `${String(date.getUTCFullYear()).padStart(4, '0')}${date.toISOString().slice(-20, -5)}`;
  const part = fraction === 0n ? '' : `.${fraction.toString().padStart(9, '0').replace(/0+$/, '')}`;
  return text + part + formatOffset(offsetMinutes);
}

function formatOffset(minutes: number): string {
  if (minutes === 0) return 'Z';
  const size = Math.abs(minutes);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: SECOND,
  m: 60n * SECOND,
  h: 3600n * SECOND,
};

const LONGEST = 2n ** 63n - 1n;
/** Far more than the longest duration has. */
const MOST_DIGITS = 1000;

/** `1h30m`, `-1.5s`. */
export function parseDuration(text: string): bigint | undefined {
  const match = /^([+-]?)(0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.exec(text);
  if (!match) return undefined;
  let nanos = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of (match[2] as string).matchAll(
    /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g,
  )) {
    const size = units[unit] as bigint;
    if (whole.length > MOST_DIGITS) return undefined;
    const digits = fraction.slice(0, 18);
    nanos += BigInt(whole === '' ? 0 : whole) * size;
    if (digits !== '') nanos += (BigInt(digits) * size) / 10n ** BigInt(digits.length);
  }
  if (nanos > LONGEST) return undefined;
  return match[1] === '-' ? -nanos : nanos;
}

/** In seconds, as a double shows them. */
export function formatDuration(nanos: bigint): string {
  return `${plain(Number(nanos) / 1e9)}s`;
}

/** What a calendar and a clock in a zone show: fields from the year down to milliseconds. */
export interface Fields {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
  readonly dayOfYear: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
  readonly milliseconds: number;
}

/** `undefined` for a zone that does not exist. */
export function fieldsAt(nanos: bigint, zone = 'UTC'): Fields | undefined {
  const ms = Number(nanos >= 0n ? nanos / 1_000_000n : -((-nanos + 999_999n) / 1_000_000n));
  const offset = zoneOffset(ms, zone);
  if (offset === undefined) return undefined;
  const date = new Date(ms + offset);
  const newYear = Date.UTC(date.getUTCFullYear(), 0, 1);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth(),
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    dayOfYear: Math.floor((date.getTime() - newYear) / DAY_MS),
    hours: date.getUTCHours(),
    minutes: date.getUTCMinutes(),
    seconds: date.getUTCSeconds(),
    milliseconds: date.getUTCMilliseconds(),
  };
}

/** Milliseconds by which clocks there are ahead of UTC at that time. */
function zoneOffset(ms: number, zone: string): number | undefined {
  if (zone === 'UTC' || zone === '') return 0;
  const fixed = /^([+-]?)(\d\d):(\d\d)$/.exec(zone);
  if (fixed) return (fixed[1] === '-' ? -1 : 1) * (Number(fixed[2]) * 60 + Number(fixed[3])) * 60_000;
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
    const name = format.formatToParts(new Date(ms)).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
    const parts = /^GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(name);
    if (!parts) return undefined;
    const seconds = Number(parts[2] ?? 0) * 3600 + Number(parts[3] ?? 0) * 60 + Number(parts[4] ?? 0);
    return (parts[1] === '-' ? -1000 : 1000) * seconds;
  } catch {
    return undefined;
  }
}

/** Milliseconds since 1970 as they stand in objects: whole seconds, no parts of them. */
export const timeText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** So many seconds later, as Go counts: in nanoseconds of 64 bits, which begin anew after 292 years. */
export function secondsLater(ms: number, seconds: number | bigint): number {
  const nanos = BigInt.asIntN(64, BigInt(seconds) * SECOND);
  return ms + Math.floor(Number(nanos) / 1e6);
}
