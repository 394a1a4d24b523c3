/** How much a ConfigMap or a Secret may hold. Only the values count, as the real server counts them. */
import { type Draft, objectOf } from '../object/draft.ts';
import { type FieldError, tooLong } from '../status/field-error.ts';

const MOST_BYTES = 1024 * 1024;

export function configMapErrors({ data, binaryData }: Draft): readonly FieldError[] {
  // The real server means the whole object by this path.
  return sizeOf(data, 'utf8') + sizeOf(binaryData, 'base64') > MOST_BYTES ? [tooLong('[]', MOST_BYTES)] : [];
}

export function secretErrors({ data }: Draft): readonly FieldError[] {
  return sizeOf(data, 'base64') > MOST_BYTES ? [tooLong('data', MOST_BYTES)] : [];
}

function sizeOf(data: unknown, encoding: 'utf8' | 'base64'): number {
  let size = 0;
  for (const value of Object.values(objectOf(data))) {
    if (typeof value === 'string') size += Buffer.byteLength(value, encoding);
  }
  return size;
}
