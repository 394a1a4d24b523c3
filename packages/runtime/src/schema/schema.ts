/**
 * Schemas of our own kinds, written once as values: the static type and the structural schema of the CRD come from the same value.
 * Only what our kinds need; everything a schema says is what the API server enforces.
 */

/** A structural schema as a CRD has it. */
export type OpenApiSchema = { readonly [field: string]: unknown };

/** A CEL rule of the server. `self` is the value, `oldSelf` what it was. */
export interface Rule {
  readonly rule: string;
  readonly message: string;
  /** Where `oldSelf` may be absent. */
  readonly optionalOldSelf?: boolean;
}

export interface Schema<T, Optional extends boolean = boolean> {
  readonly openApi: OpenApiSchema;
  readonly isOptional: Optional;
  /** Never there at run time: it lets TypeScript carry the type. */
  readonly type?: T;
}

/** The static type of what a schema accepts. */
export type Infer<S> = S extends Schema<infer T> ? T : never;

type Fields = Readonly<Record<string, Schema<unknown>>>;
type RequiredKeys<F extends Fields> = { [K in keyof F]: F[K]['isOptional'] extends false ? K : never }[keyof F];
type Shape<F extends Fields> = { readonly [K in RequiredKeys<F>]: Infer<F[K]> } & {
  readonly [K in Exclude<keyof F, RequiredKeys<F>>]?: Infer<F[K]>;
};

export interface About {
  readonly description?: string;
  readonly rules?: readonly Rule[];
}

function schema<T>(openApi: OpenApiSchema, { description, rules }: About): Schema<T, false> {
  return {
    isOptional: false,
    openApi: {
      ...(description !== undefined && { description }),
      ...openApi,
      ...(rules && { 'x-kubernetes-validations': rules }),
    },
  };
}

export interface TextLimits extends About {
  readonly minLength?: number;
  /** Without a limit a rule over it costs the server too much to be accepted. */
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: 'date-time' | 'int64';
}

export function text({ description, rules, ...limits }: TextLimits = {}): Schema<string, false> {
  return schema({ type: 'string', ...limits }, about(description, rules));
}

export function oneOf<const V extends string>(values: readonly V[], more: About = {}): Schema<V, false> {
  return schema({ type: 'string', enum: values }, more);
}

export interface NumberLimits extends About {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

export function integer({ description, rules, ...limits }: NumberLimits = {}): Schema<number, false> {
  return schema({ type: 'integer', format: 'int64', ...limits }, about(description, rules));
}

export function bool(more: About = {}): Schema<boolean, false> {
  return schema({ type: 'boolean' }, more);
}

export function object<const F extends Fields>(fields: F, more: About = {}): Schema<Shape<F>, false> {
  const required = Object.keys(fields).filter((name) => !fields[name]?.isOptional);
  const properties = Object.fromEntries(Object.entries(fields).map(([name, { openApi }]) => [name, openApi]));
  return schema({ type: 'object', properties, ...(required.length > 0 && { required }) }, more);
}

export interface ListLimits extends About {
  readonly maxItems: number;
  /** The items are told apart by this field: applies merge by it, and no two may be equal in it. */
  readonly key?: string;
}

export function list<T>(items: Schema<T>, { maxItems, key, ...more }: ListLimits): Schema<readonly T[], false> {
  const byKey = key !== undefined && { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] };
  return schema({ type: 'array', items: items.openApi, maxItems, ...byKey }, more);
}

export function map<T>(
  values: Schema<T>,
  { maxProperties, ...more }: About & { readonly maxProperties: number },
): Schema<Readonly<Record<string, T>>, false> {
  return schema({ type: 'object', additionalProperties: values.openApi, maxProperties }, more);
}

/** Anything a JSON object can hold: the server checks nothing of it, and no rule can look inside. */
export function anything(more: About = {}): Schema<Readonly<Record<string, unknown>>, false> {
  return schema({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, more);
}

export function optional<T>(of: Schema<T>): Schema<T, true> {
  return { openApi: of.openApi, isOptional: true };
}

function about(description: string | undefined, rules: readonly Rule[] | undefined): About {
  return { ...(description !== undefined && { description }), ...(rules && { rules }) };
}
