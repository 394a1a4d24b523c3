/** What the data of a ConfigMap or a Secret may be. */
import { type Draft, isSame, objectOf, textOf } from '../object/draft.ts';
import { type FieldError, forbidden, invalid, required, tooLong } from '../status/field-error.ts';
import { configKey } from '../values/rules.ts';

/** Only the values count, as the real server counts them. */
const MOST_BYTES = 1024 * 1024;

export function configMapErrors(map: Draft, old?: Draft): readonly FieldError[] {
  const size = sizeOf(map.data, 'utf8') + sizeOf(map.binaryData, 'base64');
  const binary = objectOf(map.binaryData);
  const twice = Object.keys(objectOf(map.data)).filter((key) => Object.hasOwn(binary, key));
  return [
    ...keptData(map, old, ['data', 'binaryData']),
    ...keyErrors(map, 'data'),
    ...twice.map((key) => invalid(`data[${key}]`, key, 'duplicate of key present in binaryData')),
    ...keyErrors(map, 'binaryData'),
    // The real server means the whole object by this path.
    ...(size > MOST_BYTES ? [tooLong('[]', MOST_BYTES)] : []),
  ];
}

export function secretErrors(secret: Draft, old?: Draft): readonly FieldError[] {
  const size = sizeOf(secret.data, 'base64');
  const isOther = old !== undefined && old.type !== secret.type;
  return [
    ...(isOther ? [invalid('type', secret.type, 'field is immutable')] : []),
    ...keptData(secret, old, ['data']),
    ...keyErrors(secret, 'data'),
    ...(size > MOST_BYTES ? [tooLong('data', MOST_BYTES)] : []),
    ...typeErrors(secret),
  ];
}

const keyErrors = (object: Draft, field: string): readonly FieldError[] =>
  Object.keys(objectOf(object[field])).flatMap((key) =>
    configKey(key).map((problem) => invalid(`${field}[${key}]`, key, problem)),
  );

const ACCOUNT = 'kubernetes.io/service-account.name';
/** What secrets of a type must have. */
const contents: ReadonlyMap<string, readonly string[]> = new Map([
  ['kubernetes.io/dockercfg', ['.dockercfg']],
  ['kubernetes.io/dockerconfigjson', ['.dockerconfigjson']],
  ['kubernetes.io/ssh-auth', ['ssh-privatekey']],
  ['kubernetes.io/tls', ['tls.crt', 'tls.key']],
]);

function typeErrors({ type, data, metadata }: Draft): readonly FieldError[] {
  const given = objectOf(data);
  const lacking = (keys: readonly string[]): readonly FieldError[] => keys.map((key) => required(`data[${key}]`));
  if (type === 'kubernetes.io/service-account-token') {
    return textOf(objectOf(metadata.annotations)[ACCOUNT]) === '' ? [required(`metadata.annotations[${ACCOUNT}]`)] : [];
  }
  if (type === 'kubernetes.io/basic-auth') {
    const keys = ['username', 'password'];
    return keys.some((key) => given[key] !== undefined) ? [] : lacking(keys);
  }
  return lacking((contents.get(textOf(type)) ?? []).filter((key) => given[key] === undefined));
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
