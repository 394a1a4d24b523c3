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
  /** What is shown of the value, where the type shows one. */
  readonly value?: unknown;
  readonly detail: string;
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

const withoutValue: readonly FieldErrorType[] = [
  'FieldValueRequired',
  'FieldValueForbidden',
  'FieldValueTooLong',
  'InternalError',
];

/** The error without its field, as a cause has it. */
export function bodyOf({ type, value, detail }: FieldError): string {
  const title = titles[type];
  const shown = withoutValue.includes(type) ? title : `${title}: ${JSON.stringify(value) ?? 'null'}`;
  return detail === '' ? shown : `${shown}: ${detail}`;
}

/** Several errors as one sentence, each once. */
export function sentenceOf(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map((error) => `${error.field}: ${bodyOf(error)}`))];
  return texts.length === 1 ? (texts[0] as string) : `[${texts.join(', ')}]`;
}

export const invalid = (field: string, value: unknown, detail: string): FieldError => ({
  type: 'FieldValueInvalid',
  field,
  value,
  detail,
});
export const required = (field: string, detail: string): FieldError => ({ type: 'FieldValueRequired', field, detail });
export const forbidden = (field: string, detail: string): FieldError => ({
  type: 'FieldValueForbidden',
  field,
  detail,
});
export const tooLong = (field: string, most: number): FieldError => ({
  type: 'FieldValueTooLong',
  field,
  detail: `may not be more than ${most} bytes`,
});
export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  type: 'FieldValueNotSupported',
  field,
  value,
  detail: `supported values: ${supported.map((one) => JSON.stringify(one)).join(', ')}`,
});
