import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse, parseAllDocuments } from 'yaml';
import { crdOf, kind, type KindObject } from './kind.ts';
import { anything, bool, integer, list, map, object, oneOf, optional, text } from './schema.ts';
import { toYaml } from './yaml.ts';

const shop = kind({
  group: 'test.dev',
  version: 'v1',
  kind: 'Shop',
  plural: 'shops',
  namespaced: true,
  shortNames: ['sh'],
  spec: object(
    {
      name: text({ minLength: 1, maxLength: 63, description: 'On the door.' }),
      size: oneOf(['small', 'large']),
      staff: optional(
        list(object({ id: text(), age: optional(integer({ minimum: 18 })) }), { maxItems: 8, key: 'id' }),
      ),
      labels: optional(map(text(), { maxProperties: 4 })),
      rest: optional(anything()),
    },
    { rules: [{ rule: 'self.name != oldSelf.name', message: 'a name does not change' }] },
  ),
  status: object({ open: optional(bool()) }),
  columns: [{ name: 'Size', type: 'string', jsonPath: '.spec.size' }],
});

type Shop = KindObject<typeof shop>;

test('the static type and the CRD come from one value', () => {
  // Compiled: required fields are required, optional ones are not, enums are unions.
  const one: Shop = { metadata: { name: 'a' }, spec: { name: 'corner', size: 'small' } };
  const two: Shop = { ...one, spec: { ...one.spec, staff: [{ id: 'x', age: 20 }] }, status: { open: true } };
  assert.equal(two.spec.staff?.[0]?.age, 20);
  const crd = crdOf(shop) as { spec: { versions: readonly { schema: { openAPIV3Schema: object } }[] } };
  assert.deepEqual(crd.spec.versions[0]?.schema.openAPIV3Schema, {
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: {
        type: 'object',
        required: ['name', 'size'],
        properties: {
          name: { type: 'string', minLength: 1, maxLength: 63, description: 'On the door.' },
          size: { type: 'string', enum: ['small', 'large'] },
          staff: {
            type: 'array',
            maxItems: 8,
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['id'],
            items: {
              type: 'object',
              required: ['id'],
              properties: { id: { type: 'string' }, age: { type: 'integer', format: 'int64', minimum: 18 } },
            },
          },
          labels: { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 4 },
          rest: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
        'x-kubernetes-validations': [{ rule: 'self.name != oldSelf.name', message: 'a name does not change' }],
      },
      status: { type: 'object', properties: { open: { type: 'boolean' } } },
    },
  });
});

test('what is written as YAML is read as the same data', () => {
  const crd = crdOf(shop);
  assert.deepEqual(parse(toYaml(crd)), crd);
  const documents = parseAllDocuments(toYaml(crd, { a: [] }, [1])).map((document) =>
    (document as { toJS(): unknown }).toJS(),
  );
  assert.deepEqual(documents, [crd, { a: [] }, [1]]);
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      if (JSON.stringify(value).includes('__proto__')) return;
      assert.deepEqual(parse(toYaml(value)), JSON.parse(JSON.stringify(value)));
    }),
    { numRuns: 100 },
  );
});
