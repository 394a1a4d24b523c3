/** The types of the expression language, and how they are written in messages. */
export type Kind =
  | 'bool'
  | 'bytes'
  | 'double'
  | 'duration'
  | 'dyn'
  | 'error'
  | 'int'
  | 'list'
  | 'map'
  | 'null'
  | 'object'
  | 'opaque'
  | 'param'
  | 'string'
  | 'timestamp'
  | 'type'
  | 'uint';

export interface CelType {
  readonly kind: Kind;
  /** What `type(x)` answers and messages say; for objects and opaque types also what tells them apart. */
  readonly name: string;
  readonly params: readonly CelType[];
  /** Of objects: their fields by the names that expressions use. Absent: an object nothing can be selected from. */
  readonly fields?: ReadonlyMap<string, CelType>;
}

const simple = (kind: Kind, name: string): CelType => ({ kind, name, params: [] });

export const BOOL = simple('bool', 'bool');
export const BYTES = simple('bytes', 'bytes');
export const DOUBLE = simple('double', 'double');
export const DURATION = simple('duration', 'google.protobuf.Duration');
export const DYN = simple('dyn', 'dyn');
/** Of what is wrong already: everything fits, so that one mistake is told once. */
export const ERROR = simple('error', '!error!');
export const INT = simple('int', 'int');
export const NULL = simple('null', 'null_type');
export const STRING = simple('string', 'string');
export const TIMESTAMP = simple('timestamp', 'google.protobuf.Timestamp');
export const UINT = simple('uint', 'uint');

export const listOf = (element: CelType): CelType => ({ kind: 'list', name: 'list', params: [element] });
export const mapOf = (key: CelType, value: CelType): CelType => ({ kind: 'map', name: 'map', params: [key, value] });
export const optionalOf = (type: CelType): CelType => ({ kind: 'opaque', name: 'optional_type', params: [type] });
export const typeOf = (type: CelType): CelType => ({ kind: 'type', name: 'type', params: [type] });
export const paramOf = (name: string): CelType => simple('param', name);
export const opaqueOf = (name: string): CelType => simple('opaque', name);
export const objectOf = (name: string, fields?: ReadonlyMap<string, CelType>): CelType =>
  fields === undefined ? simple('object', name) : { kind: 'object', name, params: [], fields };

export const isDyn = (type: CelType): boolean => type.kind === 'dyn';
export const isOptional = (type: CelType): boolean => type.kind === 'opaque' && type.name === 'optional_type';

/** The type in an optional, and whether it was one. */
export function unwrapOptional(type: CelType): readonly [CelType, boolean] {
  const [inner] = type.params;
  return isOptional(type) && inner ? [inner, true] : [type, false];
}

export function sameType(one: CelType, other: CelType): boolean {
  if (one === other) return true;
  return (
    one.kind === other.kind &&
    one.name === other.name &&
    one.params.length === other.params.length &&
    one.params.every((param, index) => sameType(param, other.params[index] as CelType))
  );
}

/** As messages of the type checker say it. */
export function formatType(type: CelType): string {
  switch (type.kind) {
    case 'duration':
      return 'duration';
    case 'timestamp':
      return 'timestamp';
    case 'null':
      return 'null';
    default:
      return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(formatType).join(', ')})`;
  }
}

/** By its full name: what an expression must not be instead of a bool. */
export function fullName({ name, params }: CelType): string {
  return params.length === 0 ? name : `${name}(${params.map(fullName).join(', ')})`;
}

/** `(int, string)`, or `list(int).(string)` for a method. */
export function formatSignature(types: readonly CelType[], isMethod: boolean): string {
  const names = types.map(formatType);
  return isMethod ? `${names[0]}.(${names.slice(1).join(', ')})` : `(${names.join(', ')})`;
}
