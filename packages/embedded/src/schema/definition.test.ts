/** What is refused in the schema of a definition. Compared with the real server's answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definitionErrors } from './definition.ts';
import { describeFieldError } from '../status/field-error.ts';
import type { JsonSchema } from './json-schema.ts';
import { object, ruled } from './schema-testing.ts';

const at = (schema: JsonSchema, hasStatus = false): readonly string[] =>
  definitionErrors(schema, 'x', { hasStatus }).map(describeFieldError);
const spec = (schema: JsonSchema): readonly string[] => at(object({ spec: schema }));
const text: JsonSchema = { type: 'string' };

test('a schema must be structural', () => {
  assert.deepEqual(at({}), ['x.type: Required value: must not be empty at the root']);
  assert.deepEqual(at(text), ['x.type: Invalid value: "string": must be object at the root']);
  assert.deepEqual(spec({}), [
    'x.properties[spec].type: Required value: must not be empty for specified object fields',
  ]);
  assert.deepEqual(spec({ type: 'array' }), ['x.properties[spec].items: Required value: must be specified']);
  assert.deepEqual(at({ type: 'object', additionalProperties: text }), [
    'x.additionalProperties: Forbidden: must not be used at the root',
  ]);
  assert.deepEqual(spec({ type: 'string', anyOf: [{ type: 'string', description: 'd' }] }), [
    'x.properties[spec].anyOf[0].description: Forbidden: must be empty to be structural',
    'x.properties[spec].anyOf[0].type: Forbidden: must be empty to be structural',
  ]);
  assert.deepEqual(spec({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }), []);
  assert.deepEqual(at(object({ a: text }, { anyOf: [{ properties: { b: { minLength: 1 } } }] })), [
    'x.properties[b]: Required value: because it is defined in x.anyOf[0].properties[b]',
  ]);
  assert.deepEqual(spec({ type: 'string', pattern: '[' }), [
    'x.properties[spec].pattern: Invalid value: "[": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ]: `[`',
  ]);
});

test('metadata is the server’s', () => {
  const only = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
  assert.deepEqual(at(object({ metadata: object({ name: text }) })), []);
  assert.deepEqual(at(object({ metadata: object({ labels: { type: 'object' } }) })), [
    `x.properties[metadata]: Forbidden: ${only}`,
  ]);
  assert.deepEqual(at(object({ apiVersion: { type: 'string', default: 'x' } })), [
    'x.properties[apiVersion].default: Forbidden: must not be set in top-level apiVersion',
  ]);
});

test('what is not supported', () => {
  assert.deepEqual(spec({ type: 'foo' }), [
    'x.properties[spec].type: Unsupported value: "foo": supported values: "array", "boolean", "integer", "number", "object", "string"',
  ]);
  assert.deepEqual(spec({ type: 'string', $ref: '#/x' }), [
    'x.properties[spec].$ref: Forbidden: $ref is not supported',
  ]);
  assert.deepEqual(spec({ type: 'object', 'x-kubernetes-preserve-unknown-fields': false }), [
    'x.properties[spec].x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined',
  ]);
  assert.deepEqual(spec({ type: 'array', items: text, uniqueItems: true }), [
    'x.properties[spec].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
  ]);
  assert.deepEqual(spec(object({ a: text }, { additionalProperties: text })), [
    'x.properties[spec].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive',
  ]);
  assert.equal(at({ type: 'object', maxProperties: 1 }, true).length, 1);
  assert.equal(at({ type: 'object', maxProperties: 1 }, false).length, 0);
});

test('defaults must be pruned and valid', () => {
  assert.deepEqual(spec({ type: 'string', default: 'x' }), []);
  assert.deepEqual(spec({ type: 'string', default: 1 }), [
    'x.properties[spec].default: Invalid value: "integer": x.properties[spec].default in body must be of type string: "integer"'.replace(
      'x.properties[spec].default in',
      ' in',
    ),
  ]);
  assert.deepEqual(spec(object({ a: text }, { default: { a: 'x', b: 1 } })), [
    'x.properties[spec].default: Invalid value: {"a":"x","b":1}: must not have unknown fields',
  ]);
  assert.deepEqual(spec(ruled({ type: 'integer', default: 1 }, 'self > 5')), [
    'x.properties[spec].default: Invalid value: 1: failed rule: self > 5',
  ]);
});

test('lists that are sets or maps', () => {
  const keyed = (items: JsonSchema, ...keys: readonly string[]): JsonSchema => ({
    type: 'array',
    items,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
  });
  assert.deepEqual(spec(keyed(object({ a: text }, { required: ['a'] }), 'a')), []);
  assert.deepEqual(spec(keyed(object({ a: text }), 'a')), [
    'x.properties[spec].items.properties[a].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
  ]);
  assert.deepEqual(spec(keyed(object({ a: text }, { required: ['a'] }), 'a', 'b')), [
    'x.properties[spec].x-kubernetes-list-map-keys: Invalid value: ["a","b"]: entries must all be names of item properties',
  ]);
  assert.deepEqual(spec({ type: 'array', items: object({}), 'x-kubernetes-list-type': 'set' }), [
    'x.properties[spec].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set',
  ]);
  assert.deepEqual(spec({ type: 'string', 'x-kubernetes-list-type': 'set' }), [
    'x.properties[spec].type: Invalid value: "string": must be array if x-kubernetes-list-type is specified',
  ]);
});

test('rules must compile against the schema', () => {
  const shown = (rule: string): string =>
    `{"Rule":${JSON.stringify(rule)},"Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}`;
  const inner = object({ n: { type: 'integer' } });
  const place = 'x.properties[spec].x-kubernetes-validations[0]';
  assert.deepEqual(spec(ruled(inner, 'self.n > 0')), []);
  assert.deepEqual(spec(ruled(inner, 'self.nope > 0')), [
    `${place}.rule: Invalid value: ${shown('self.nope \\u003e 0').replaceAll('\\\\u003e', '\\u003e')}: compilation failed: ERROR: <input>:1:5: undefined field 'nope'\n | self.nope > 0\n | ....^`,
  ]);
  assert.deepEqual(spec(ruled(inner, 'self.n')), [
    `${place}.rule: Invalid value: ${shown('self.n')}: cel expression must evaluate to a bool`,
  ]);
  assert.deepEqual(spec(ruled(inner, '')), [`${place}.rule: Required value: rule is not specified`]);
  assert.deepEqual(spec(ruled(inner, { rule: 'true', fieldPath: '.nope' })), [
    `${place}.fieldPath: Invalid value: ".nope": must be a valid path`,
  ]);
  assert.deepEqual(spec(ruled(inner, { rule: 'true', reason: 'Why' })), [
    `${place}.reason: Unsupported value: "Why": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
  ]);
  assert.deepEqual(spec(ruled(inner, { rule: 'true', optionalOldSelf: true })), [
    `${place}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule`,
  ]);
  assert.deepEqual(spec({ type: 'array', maxItems: 3, items: ruled({ type: 'integer' }, 'self == oldSelf') }), [
    'x.properties[spec].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within x.properties[spec]',
  ]);
});
