/** `"%d of %s".format([1, "x"])`. */
import { fixedPoint, goQuote } from '../../format/go-text.ts';
import { EvaluationError, type Meter } from '../meter.ts';
import { Duration, ListValue, MapValue, Timestamp, TypeValue, typeName, Uint, type Value } from '../value.ts';
import { toText } from './conversions.ts';

const PRECISION = 6;
/** More digits than a double has are noise; and nobody shall ask for a million of them. */
const MOST_DIGITS = 32;

/** A piece of a format: text as it is, or a clause for one argument. */
export type Piece = { readonly text: string } | { readonly clause: string; readonly precision: number | undefined };

/** The pieces of a format, or what is wrong with it. */
export function parseFormat(format: string): readonly Piece[] | string {
  const pieces: Piece[] = [];
  for (let at = 0; at < format.length; ) {
    const percent = format.indexOf('%', at);
    if (percent < 0) {
      pieces.push({ text: format.slice(at) });
      break;
    }
    if (percent > at) pieces.push({ text: format.slice(at, percent) });
    if (percent + 1 >= format.length) return 'unexpected end of string';
    if (format[percent + 1] === '%') {
      pieces.push({ text: '%' });
      at = percent + 2;
      continue;
    }
    const digits = /^\.(\d*)/.exec(format.slice(percent + 1));
    const letterAt = percent + 1 + (digits?.[0].length ?? 0);
    const clause = format[letterAt];
    if (clause === undefined) return 'could not parse formatting clause: unexpected end of string';
    if (!'sdfexXbo'.includes(clause)) {
      return `could not parse formatting clause: unrecognized formatting clause "${clause}"`;
    }
    pieces.push({ clause, precision: digits ? Number(digits[1]) : undefined });
    at = letterAt + 1;
  }
  return pieces;
}

export function formatString(format: string, args: ListValue, meter: Meter): string {
  const pieces = parseFormat(format);
  if (typeof pieces === 'string') throw new EvaluationError(pieces);
  let next = 0;
  return pieces
    .map((piece) => {
      if ('text' in piece) return piece.text;
      const index = next++;
      if (index >= args.length) throw new EvaluationError(`index ${index} out of range`);
      const text = formatClause(piece.clause, piece.precision, args.at(index));
      meter.work(text.length);
      return text;
    })
    .join('');
}

function refuse(message: string, value: Value): EvaluationError {
  return new EvaluationError(`error during formatting: ${message}, was given ${typeName(value)}`);
}

/** What each clause takes, by the names of types; for the check of literals. */
export const clauses: Readonly<Record<string, { readonly takes: readonly string[]; readonly complaint: string }>> = {
  d: { takes: ['int', 'uint'], complaint: 'decimal clause can only be used on integers' },
  f: { takes: ['double'], complaint: 'fixed-point clause can only be used on doubles' },
  e: { takes: ['double'], complaint: 'scientific clause can only be used on doubles' },
  b: { takes: ['int', 'uint', 'bool'], complaint: 'only integers and bools can be formatted as binary' },
  o: { takes: ['int', 'uint'], complaint: 'octal clause can only be used on integers' },
  x: { takes: ['int', 'uint', 'string', 'bytes'], complaint: hexComplaint() },
  X: { takes: ['int', 'uint', 'string', 'bytes'], complaint: hexComplaint() },
};

function hexComplaint(): string {
  return 'only integers, byte buffers, and strings can be formatted as hex';
}

function formatClause(clause: string, precision: number | undefined, value: Value): string {
  if (clause === 's') return asText(value);
  const { takes, complaint } = clauses[clause] as { takes: readonly string[]; complaint: string };
  const isWord = 'fe'.includes(clause) && ['NaN', 'Infinity', '-Infinity'].includes(value as string);
  if (!takes.includes(typeName(value)) && !isWord) throw refuse(complaint, value);
  switch (clause) {
    case 'd':
      return toText(value) ?? '';
    case 'f':
      return fixed(Number(value), Math.min(precision ?? PRECISION, MOST_DIGITS));
    case 'e':
      return scientific(Number(value));
    case 'b':
      return typeof value === 'boolean' ? String(Number(value)) : integer(value).toString(2);
    case 'o':
      return integer(value).toString(8);
    default: {
      const hex = isBytes(value) ? Buffer.from(value).toString('hex') : integer(value).toString(16);
      return clause === 'X' ? hex.toUpperCase() : hex;
    }
  }
}

const isBytes = (value: Value): value is string | Uint8Array =>
  typeof value === 'string' || value instanceof Uint8Array;

const integer = (value: Value): bigint => (value instanceof Uint ? value.value : (value as bigint));

/** With commas between thousands, as in the United States. */
function fixed(value: number, digits: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '∞' : '-∞';
  const [whole = '', fraction] = fixedPoint(value, digits).split('.');
  const grouped = whole.replace(/\d(?=(?:\d{3})+$)/g, '$&,');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

function scientific(value: number): string {
  if (!Number.isFinite(value)) return fixed(value, PRECISION);
  const [mantissa = '', exponent = '0'] = value.toExponential(PRECISION).split('e');
  const power = Number(exponent);
  const digits = String(Math.abs(power)).padStart(2, '0');
  const raised = Array.from(digits, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('');
  return `${mantissa}×10${power < 0 ? '⁻' : ''}${raised}`;
}

function asText(value: Value): string {
  if (value === null) return 'null';
  if (value instanceof ListValue || value instanceof MapValue) return nested(value);
  const text = toText(value);
  if (text === undefined) {
    throw refuse(
      'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
      value,
    );
  }
  return text;
}

/** Inside of lists and maps text is quoted and doubles have six digits. */
function nested(value: Value): string {
  if (value instanceof ListValue) return `[${Array.from(value, nested).join(', ')}]`;
  if (value instanceof MapValue) {
    const entries = Array.from(value.keys(), (key) => [nested(key), nested(value.get(key) ?? null)] as const);
    entries.sort(([one], [other]) => (one < other ? -1 : 1));
    return `{${entries.map(([key, item]) => `${key}:${item}`).join(', ')}}`;
  }
  if (typeof value === 'string') return goQuote(value);
  if (value instanceof Uint8Array) return `b${goQuote(toText(value) ?? '')}`;
  if (typeof value === 'number') return Number.isFinite(value) ? fixedPoint(value, PRECISION) : goQuote(String(value));
  if (value instanceof Timestamp) return `timestamp(${goQuote(toText(value) ?? '')})`;
  if (value instanceof Duration) return `duration(${goQuote(toText(value) ?? '')})`;
  if (value === null) return 'null';
  const text = value instanceof TypeValue ? value.name : toText(value);
  if (text === undefined)
    throw new EvaluationError(`error during formatting: no formatting function for ${typeName(value)}`);
  return text;
}
