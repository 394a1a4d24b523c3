/** What is wrong with a field of an object, in the server's own words. */
import type { StatusCause } from '@reeve/kube';
import { goJson } from '../format/go-json.ts';
import { goNumber, goQuote } from '../format/go-text.ts';

/** The words for machines, as they appear in the causes of a Status. */
export type FieldErrorType =
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueInvalid'
  | 'FieldValueNotFound'
  | 'FieldValueNotSupported'
  | 'FieldValueRequired'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

export interface FieldError {
  readonly type: FieldErrorType;
  /** `spec.list[0].name`; `<nil>` for the whole object. */
  readonly field: string;
  /** Without the field: `Invalid value: "x": must be …`. */
  readonly message: string;
}

/** Where a value is not shown: objects and lists, mostly. */
export const OMITTED: unique symbol = Symbol('omitted');

const words: Readonly<Record<FieldErrorType, string>> = {
  FieldValueDuplicate: 'Duplicate value',
  FieldValueForbidden: 'Forbidden',
  FieldValueInvalid: 'Invalid value',
  FieldValueNotFound: 'Not found',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueRequired: 'Required value',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
  FieldValueTypeInvalid: 'Invalid value',
  InternalError: 'Internal error',
};

function make(type: FieldErrorType, path: string, value: unknown, detail: string): FieldError {
  const shown = value === OMITTED ? '' : `: ${show(value)}`;
  return {
    type,
    field: path === '' ? '<nil>' : path,
    message: `${words[type]}${shown}${detail === '' ? '' : `: ${detail}`}`,
  };
}

function show(value: unknown): string {
  if (typeof value === 'string') return goQuote(value);
  // What is whole and no integer that a double holds was a double to the server, too.
  return typeof value === 'number' ? (Number.isSafeInteger(value) ? String(value) : goNumber(value)) : goJson(value);
}

export const invalid = (path: string, value: unknown, detail: string): FieldError =>
  make('FieldValueInvalid', path, value, detail);
export const typeInvalid = (path: string, value: unknown, detail: string): FieldError =>
  make('FieldValueTypeInvalid', path, value, detail);
export const required = (path: string, detail = ''): FieldError => make('FieldValueRequired', path, OMITTED, detail);
export const forbidden = (path: string, detail: string): FieldError =>
  make('FieldValueForbidden', path, OMITTED, detail);
export const duplicate = (path: string, value: unknown): FieldError => make('FieldValueDuplicate', path, value, '');
export const notFound = (path: string, value: unknown): FieldError => make('FieldValueNotFound', path, value, '');
export const internal = (path: string, detail: string): FieldError => make('InternalError', path, OMITTED, detail);

export function notSupported(path: string, value: unknown, supported: readonly string[]): FieldError {
  const detail = supported.length === 0 ? '' : `supported values: ${supported.map(goQuote).join(', ')}`;
  return make('FieldValueNotSupported', path, value, detail);
}

export function tooLong(path: string, most: number | bigint): FieldError {
  const detail = most < 0 ? 'value is too long' : `may not be more than ${most} ${most === 1 ? 'byte' : 'bytes'}`;
  return make('FieldValueTooLong', path, OMITTED, detail);
}

export function tooMany(path: string, actual: number, most: number | bigint): FieldError {
  const detail = most < 0 ? 'has too many items' : `must have at most ${most} ${most === 1 ? 'item' : 'items'}`;
  return make('FieldValueTooMany', path, actual, detail);
}

/** `list.push(...items)` breaks where there are very many. */
export function append<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}

export const child = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
export const key = (path: string, name: string): string => `${path}[${name}]`;
export const index = (path: string, at: number): string => `${path}[${at}]`;

/** `spec.x: Invalid value: …` */
export const describeFieldError = ({ field, message }: FieldError): string => `${field}: ${message}`;

export const causeOf = ({ type, field, message }: FieldError): StatusCause => ({ reason: type, message, field });

/** One error as it is, several in brackets, equal ones once. */
export function sentenceOf(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map(describeFieldError))];
  return texts.length === 1 ? (texts[0] as string) : `[${texts.join(', ')}]`;
}
