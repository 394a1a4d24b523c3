/** Schemas and objects for tests. */
import type { JsonObject } from '../object/draft.ts';
import type { Json } from '@reeve/kube';
import fc from 'fast-check';
import { CustomResourceSchema } from './custom-resource.ts';
import { describeFieldError } from '../status/field-error.ts';
import type { JsonSchema, ValidationRule } from './json-schema.ts';

export const object = (properties: Readonly<Record<string, JsonSchema>>, rest: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  properties,
  ...rest,
});

/** A kind whose spec is this. */
export const withSpec = (spec: JsonSchema): JsonSchema => object({ spec, status: { type: 'object' } });

export const foo = (spec: unknown): JsonObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Foo',
  metadata: { name: 'x' },
  spec: spec as Json,
});

export const ruled = (schema: JsonSchema, ...rules: readonly (string | ValidationRule)[]): JsonSchema => ({
  ...schema,
  'x-kubernetes-validations': rules.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
});

/** What is wrong with a spec, after it was decoded; with what it was before, as an update. */
export function errorsOf(spec: JsonSchema, value: unknown, old?: unknown): readonly string[] {
  const schema = new CustomResourceSchema(withSpec(spec));
  const made = foo(structuredClone(value));
  schema.decode(made);
  const errors = old === undefined ? schema.validate(made) : schema.validateUpdate(made, foo(old));
  return errors.map(describeFieldError);
}

/** A spec after decoding, and what was removed. */
export function decoded(
  spec: JsonSchema,
  value: unknown,
): { readonly spec: unknown; readonly unknown: readonly string[] } {
  const made = foo(structuredClone(value));
  const { unknown } = new CustomResourceSchema(withSpec(spec)).decode(made);
  return { spec: made['spec'], unknown };
}

const name = fc.constantFrom('a', 'b', 'c', 'toString', '__proto__x');
const flag = fc.constantFrom<JsonSchema>({}, {}, { nullable: true });

/** Structural schemas with defaults that fit. */
export const { schemas } = fc.letrec<{ schemas: JsonSchema }>((tie) => ({
  schemas: fc
    .tuple(
      fc.oneof(
        { maxDepth: 3, depthIdentifier: 'schema' },
        fc.constantFrom<JsonSchema>(
          { type: 'string' },
          { type: 'string', default: 'd' },
          { type: 'integer', default: 1, minimum: 0 },
          { type: 'boolean' },
          { 'x-kubernetes-int-or-string': true },
          { 'x-kubernetes-preserve-unknown-fields': true },
        ),
        fc
          .tuple(fc.dictionary(name, tie('schemas'), { maxKeys: 3 }), fc.boolean(), fc.boolean())
          .map(([properties, keeps, isDefault]) =>
            object(properties, {
              ...(keeps ? { 'x-kubernetes-preserve-unknown-fields': true } : {}),
              ...(isDefault ? { default: {} } : {}),
            }),
          ),
        tie('schemas').map((additionalProperties): JsonSchema => ({ type: 'object', additionalProperties })),
        tie('schemas').map((items): JsonSchema => ({ type: 'array', items })),
      ),
      flag,
    )
    .map(([schema, more]) => ({ ...schema, ...more })),
}));

/** Values that resemble them now and then. */
export const { values } = fc.letrec<{ values: unknown }>((tie) => ({
  values: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'value' },
    fc.constantFrom<unknown>(null, 'x', 1, -1, 2.5, true, {}, []),
    fc.dictionary(name, tie('values'), { maxKeys: 4 }),
    fc.array(tie('values'), { maxLength: 3 }),
  ),
}));
