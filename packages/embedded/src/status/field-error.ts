/** What is wrong with a field of an object, in the server's own words. */

/** The words for machines, as they appear in the causes of a Status. */
export type FieldErrorType =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

export interface FieldError {
  readonly type: FieldErrorType;
  /** `metadata.labels`, `spec.ports[0].port`. */
  readonly field: string;
  /** Without the field: `Invalid value: "x": must be …`. */
  readonly message: string;
}

const titles: Readonly<Record<FieldErrorType, string>> = {
  FieldValueNotFound: 'Not found',
  FieldValueRequired: 'Required value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
  FieldValueTypeInvalid: 'Invalid value',
  InternalError: 'Internal error',
};

function make(type: FieldErrorType, field: string, detail: string, shown?: string): FieldError {
  const parts = [titles[type], ...(shown === undefined ? [] : [shown]), ...(detail === '' ? [] : [detail])];
  return { type, field, message: parts.join(': ') };
}

const show = (value: unknown): string => JSON.stringify(value) ?? 'null';

/** Several errors as one sentence, each once. */
export function sentenceOf(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map(({ field, message }) => `${field}: ${message}`))];
  return texts.length === 1 ? (texts[0] as string) : `[${texts.join(', ')}]`;
}

export const invalid = (field: string, value: unknown, detail: string): FieldError =>
  make('FieldValueInvalid', field, detail, show(value));
export const required = (field: string, detail: string): FieldError => make('FieldValueRequired', field, detail);
export const forbidden = (field: string, detail: string): FieldError => make('FieldValueForbidden', field, detail);
export const tooLong = (field: string, most: number): FieldError =>
  make('FieldValueTooLong', field, `may not be more than ${most} bytes`);
export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError =>
  make('FieldValueNotSupported', field, `supported values: ${supported.map(show).join(', ')}`, show(value));
