/**
 * What apply and patch have to know about a value: not what is valid (that is the schema's business), but what is one
 * whole and what has parts that different managers may own. A type has up to three forms; a type with several of them
 * (an unknown field, int-or-string) takes the form that the value has.
 */
import type { Json } from '@reeve/kube';
import type { JsonObject } from '../object/draft.ts';

export type Scalar = 'numeric' | 'string' | 'boolean' | 'untyped';

/** What a scalar of a built-in kind is to Go, where its form alone does not tell. */
export type GoScalar = 'int32' | 'int64' | 'float64' | 'IntOrString' | 'Time';

export interface Type {
  readonly scalar?: Scalar;
  /** Only of interest where values of clients are read. */
  readonly goScalar?: GoScalar;
  readonly list?: ListType;
  readonly map?: MapType;
  /** A scalar that has one canonical spelling in a server (`quantity.ts`). */
  readonly isQuantity?: boolean;
}

export interface ListType {
  /** `atomic`: one value. `set`: scalars, each its own. `map`: objects told apart by `keys`. */
  readonly relation: 'atomic' | 'set' | 'map';
  readonly keys: readonly string[];
  readonly element: Type;
}

/** A struct (fields), a map (element), or a struct that lets unknown fields pass (both). */
export interface MapType {
  /** How Go calls the struct; messages of strategic merge patch name it. */
  readonly name?: string;
  readonly fields: ReadonlyMap<string, Field>;
  /** The type of what is not among the fields; undefined if nothing else may be there. */
  readonly element: Type | undefined;
  readonly atomic: boolean;
}

export interface Field {
  readonly type: Type;
  /** Only of interest where the field is a key of a list: an element without it has this one. */
  readonly default?: Json;
  /** How a server writes the field when there is nothing in it; absent for custom kinds, which are kept as they came. */
  readonly presence?: Presence;
  /** The zero value of a field that is always written. */
  readonly zero?: Json;
  readonly patch?: PatchRule;
}

/** `always`: written also when empty. `pointer`: written if it was given. `filled`: written if not empty. */
export type Presence = 'always' | 'pointer' | 'filled';

/** How a strategic merge patch treats the field. */
export interface PatchRule {
  readonly strategy: 'merge' | 'replace' | '';
  readonly mergeKey: string;
}

export type Form = 'scalar' | 'list' | 'map' | 'any';

/**
 * Which form of the type applies to the value. `any` is the answer for null and absent values of a type with several
 * forms: they fit all of them.
 */
export function formOf(type: Type, value: Json | undefined): Form {
  const only = onlyForm(type);
  if (only !== undefined) return only;
  if (value === undefined || value === null) return 'any';
  if (Array.isArray(value)) return type.list ? 'list' : 'any';
  if (typeof value === 'object') return type.map ? 'map' : 'any';
  return type.scalar ? 'scalar' : 'any';
}

function onlyForm(type: Type): Form | undefined {
  if (type.map) return type.scalar || type.list ? undefined : 'map';
  if (type.list) return type.scalar ? undefined : 'list';
  return 'scalar';
}

/** The form that stands for `any`: the order is the server's. */
export function settled(type: Type, form: Form): Exclude<Form, 'any'> {
  if (form !== 'any') return form;
  if (type.map) return 'map';
  return type.scalar ? 'scalar' : 'list';
}

export function typeOfField(map: MapType, name: string): Type | undefined {
  return map.fields.get(name)?.type ?? map.element;
}

/** Null and other forms count as no map: they have no items. */
export function asMap(value: Json | undefined): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

export function asList(value: Json | undefined): readonly Json[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

export function isEmptyMap(map: JsonObject | undefined): boolean {
  if (map !== undefined) for (const _ in map) return false;
  return true;
}
