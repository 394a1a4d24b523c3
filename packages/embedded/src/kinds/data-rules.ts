/** What the data of a ConfigMap or a Secret may be. */
import { type Draft, isSame, objectOf } from '../object/draft.ts';
import { type FieldError, forbidden, tooLong } from '../status/field-error.ts';

/** Only the values count, as the real server counts them. */
const MOST_BYTES = 1024 * 1024;

export function configMapErrors(map: Draft, old?: Draft): readonly FieldError[] {
  const size = sizeOf(map.data, 'utf8') + sizeOf(map.binaryData, 'base64');
  // The real server means the whole object by this path.
  return [...keptData(map, old, ['data', 'binaryData']), ...(size > MOST_BYTES ? [tooLong('[]', MOST_BYTES)] : [])];
}

export function secretErrors(secret: Draft, old?: Draft): readonly FieldError[] {
  const size = sizeOf(secret.data, 'base64');
  return [...keptData(secret, old, ['data']), ...(size > MOST_BYTES ? [tooLong('data', MOST_BYTES)] : [])];
}

/** Who says that his data shall not change is taken at his word. */
function keptData(object: Draft, old: Draft | undefined, fields: readonly string[]): readonly FieldError[] {
  if (old?.immutable !== true) return [];
  const changed = fields.filter((field) => !isSame(object[field], old[field]));
  const all = object.immutable === true ? changed : ['immutable', ...changed];
  return all.map((field) => forbidden(field, 'field is immutable when `immutable` is set'));
}

function sizeOf(data: unknown, encoding: 'utf8' | 'base64'): number {
  let size = 0;
  for (const value of Object.values(objectOf(data))) {
    if (typeof value === 'string') size += Buffer.byteLength(value, encoding);
  }
  return size;
}
