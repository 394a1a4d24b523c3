import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customTypes, type StructuralSchema } from '../types/custom.ts';
import { ownersOf } from '../cases/world-testing.ts';
import type { JsonObject } from '../object/draft.ts';
import { applyPatch } from './apply.ts';

const list = (how: StructuralSchema): StructuralSchema => ({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        list: { type: 'array', ...how },
        map: { type: 'object', ...how, additionalProperties: { type: 'string' } },
      },
    },
  },
});
const items: StructuralSchema = { type: 'object', properties: { name: { type: 'string' }, value: { type: 'string' } } };
const asMaps = list({ items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] });
const atomic = list({ items, 'x-kubernetes-list-type': 'atomic', 'x-kubernetes-map-type': 'atomic' });

const typesOf = (schema: StructuralSchema) =>
  customTypes({ group: 'e.com', kind: 'E', versions: [{ name: 'v1', schema }] }, 'v1');
const object = (spec: JsonObject): JsonObject => ({ apiVersion: 'e.com/v1', kind: 'E', metadata: { name: 'e' }, spec });

function apply(schema: StructuralSchema, live: JsonObject | undefined, spec: JsonObject, manager: string): JsonObject {
  const result = applyPatch({
    types: typesOf(schema),
    applied: object(spec),
    manager,
    now: 0,
    ...(live ? { live } : {}),
  });
  assert.ok('object' in result, JSON.stringify(result));
  return result.object;
}

test('where a list or map has become atomic, who owned a part of it owns the whole', () => {
  const live = apply(asMaps, undefined, { list: [{ name: 'a', value: '1' }], map: { k: 'v' } }, 'a');
  const after = apply(atomic, live, { list: [{ name: 'a', value: '1' }], map: { k: 'v' } }, 'b');
  assert.deepEqual(ownersOf(after), {
    'a Apply': ['.spec.list', '.spec.map'],
    'b Apply': ['.spec.list', '.spec.map'],
  });
});

test('where a list has become one with items, its owner may still replace them', () => {
  const live = apply(atomic, undefined, { list: [{ name: 'a', value: '1' }] }, 'a');
  const after = apply(asMaps, live, { list: [{ name: 'b', value: '2' }] }, 'a');
  assert.deepEqual(ownersOf(after), {
    'a Apply': ['.spec.list[name="b"]', '.spec.list[name="b"].name', '.spec.list[name="b"].value'],
  });
});
