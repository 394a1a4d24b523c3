/** Validation of objects: the server's words for everything that can be wrong. Compared with the real server's. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringifyJson } from '@reeve/kube';
import { append } from '../status/field-error.ts';
import { invalidObject } from '../status/refusal.ts';
import type { JsonSchema } from './json-schema.ts';
import { composite, type Problem, Result } from './result.ts';
import { errorsOf, object } from './schema-testing.ts';

type Rows = readonly (readonly [JsonSchema, unknown, ...string[]])[];

function check(rows: Rows): void {
  for (const [schema, value, ...expected] of rows) {
    assert.deepEqual(errorsOf(schema, value), expected, `${stringifyJson(schema)} ${String(value)}`);
  }
}

test('types', () => {
  check([
    [{ type: 'string' }, 1, 'spec: Invalid value: "integer": spec in body must be of type string: "integer"'],
    [
      { type: 'integer' },
      1.5,
      'spec: Invalid value: "number": spec in body must be of type integer: "number"',
      '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec',
    ],
    [{ type: 'number' }, 1],
    [{ type: 'boolean' }, 'true', 'spec: Invalid value: "string": spec in body must be of type boolean: "string"'],
    [{ type: 'object' }, [], 'spec: Invalid value: "array": spec in body must be of type object: "array"'],
    [
      { type: 'array', items: { type: 'string' } },
      [null],
      'spec[0]: Invalid value: "null": spec[0] in body must be of type string: "null"',
    ],
    [{ 'x-kubernetes-int-or-string': true }, 'a'],
    [
      { 'x-kubernetes-int-or-string': true },
      true,
      'spec: Invalid value: "boolean": spec in body must be of type integer,string: "boolean"',
    ],
    [{ type: 'string', nullable: true }, null],
  ]);
});

test('strings', () => {
  check([
    [{ type: 'string', maxLength: 3 }, 'abcd', 'spec: Too long: may not be more than 3 bytes'],
    [{ type: 'string', maxLength: 3 }, '😀😀😀'],
    [{ type: 'string', minLength: 2 }, 'a', 'spec: Invalid value: "a": spec in body should be at least 2 chars long'],
    [{ type: 'string', pattern: '^a+$' }, 'b', `spec: Invalid value: "b": spec in body should match '^a+$'`],
    [{ type: 'string', enum: ['a', 'b'] }, 'c', 'spec: Unsupported value: "c": supported values: "a", "b"'],
    [
      { type: 'string', format: 'date-time' },
      'x',
      'spec: Invalid value: "x": spec in body must be of type date-time: "x"',
    ],
    [{ type: 'string', format: 'something-else' }, 'x'],
  ]);
});

test('numbers', () => {
  check([
    [{ type: 'integer', minimum: 1 }, 0, 'spec: Invalid value: 0: spec in body should be greater than or equal to 1'],
    [
      { type: 'integer', maximum: 5, exclusiveMaximum: true },
      5,
      'spec: Invalid value: 5: spec in body should be less than 5',
    ],
    [
      { type: 'number', maximum: 1e6 },
      2000000.5,
      'spec: Invalid value: 2.0000005e+06: spec in body should be less than or equal to 1e+06',
    ],
    [{ type: 'number', multipleOf: 0.1 }, 0.3],
    [{ type: 'integer', multipleOf: 2 }, 3, 'spec: Invalid value: 3: spec in body should be a multiple of 2'],
    [
      { type: 'integer', format: 'int32' },
      2147483648,
      '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec',
    ],
    [{ type: 'integer' }, 9007199254740993n],
    [{ type: 'number', enum: [1] }, 1.5],
    [{ type: 'integer', enum: [1, 2] }, 3, 'spec: Unsupported value: 3: supported values: "1", "2"'],
  ]);
});

test('bounds are doubles, and one that is no value of the type is complained of', () => {
  const MOST = 9223372036854775807n;
  const outside = (what: string, format = '(default format)') =>
    `<nil>: Invalid value: "": ${what} value must be of type integer ${format} in spec`;
  check([
    [{ type: 'integer', maximum: MOST }, 1, outside('Maximum boundary')],
    [{ type: 'integer', minimum: -MOST - 1n }, 1, outside('Minimum boundary')],
    [{ type: 'integer', multipleOf: MOST }, MOST, outside('MultipleOf')],
    [
      { type: 'integer', minimum: MOST },
      1,
      outside('Minimum boundary'),
      'spec: Invalid value: 1: spec in body should be greater than or equal to 9.223372036854776e+18',
    ],
    [
      { type: 'integer', maximum: MOST, exclusiveMaximum: true },
      MOST,
      outside('Maximum boundary'),
      'spec: Invalid value: 9.223372036854776e+18: spec in body should be less than 9.223372036854776e+18',
    ],
    [
      { type: 'integer', multipleOf: MOST },
      3,
      outside('MultipleOf'),
      'spec: Invalid value: 3: spec in body should be a multiple of 9.223372036854776e+18',
    ],
    [{ type: 'integer', maximum: 2n ** 62n }, 2n ** 62n],
    [
      { type: 'integer', maximum: 2n ** 62n },
      2n ** 62n + 1n,
      'spec: Invalid value: 4611686018427387905: spec in body should be less than or equal to 4611686018427387904',
    ],
    [{ type: 'integer', format: 'int32', maximum: 2 ** 31 }, 1, outside('Maximum boundary', 'with format int32')],
    [{ type: 'integer', maximum: 9.5 }, 9, outside('Maximum boundary')],
    [{ type: 'integer', multipleOf: 0.5 }, 1, outside('MultipleOf')],
    [{ type: 'number', maximum: 9.5 }, 10, 'spec: Invalid value: 10: spec in body should be less than or equal to 9'],
    [{ type: 'number', maximum: MOST }, 1.5],
    [{ type: 'number', maximum: MOST }, 1],
    [
      { type: 'number', maximum: MOST },
      1e300,
      'spec: Invalid value: 1e+300: spec in body should be less than or equal to 9.223372036854776e+18',
    ],
    [{ type: 'string', maxLength: -MOST }, 'x', 'spec: Too long: value is too long'],
    [{ type: 'array', items: { type: 'string' }, maxItems: -MOST }, ['x'], 'spec: Too many: 1: has too many items'],
  ]);
});

test('lists and objects', () => {
  const items: JsonSchema = { type: 'array', items: { type: 'integer' } };
  check([
    [{ ...items, minItems: 1 }, [], 'spec: Invalid value: 0: spec in body should have at least 1 items'],
    [{ ...items, maxItems: 1 }, [1, 2], 'spec: Too many: 2: must have at most 1 item'],
    [object({}, { required: ['a', 'b'] }), {}, 'spec.a: Required value', 'spec.b: Required value'],
    [
      { type: 'object', minProperties: 1, additionalProperties: { type: 'string' } },
      {},
      'spec: Invalid value: 0: spec in body should have at least 1 properties',
    ],
    [
      { type: 'object', additionalProperties: { type: 'string' } },
      { k: 1 },
      'spec.k: Invalid value: "integer": spec.k in body must be of type string: "integer"',
    ],
    [{ ...items, 'x-kubernetes-list-type': 'set' }, [1, 2, 1, 1], 'spec[2]: Duplicate value: 1'],
    [
      {
        type: 'array',
        items: object({ k: { type: 'string' }, p: { type: 'integer', default: 1 } }, { required: ['k'] }),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k', 'p'],
      },
      [{ k: 'a', p: 1 }, { k: 'a' }],
      'spec[1]: Duplicate value: {"k":"a","p":1}',
    ],
  ]);
});

test('branches blame the one that came furthest', () => {
  check([
    [
      { type: 'integer', anyOf: [{ minimum: 10 }, { maximum: 0 }] },
      5,
      '<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)',
      'spec: Invalid value: 5: spec in body should be greater than or equal to 10',
    ],
    [
      { type: 'integer', oneOf: [{ minimum: 10 }, { maximum: 20 }] },
      15,
      '<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
    [
      { type: 'integer', allOf: [{ minimum: 10 }, { maximum: 20 }] },
      5,
      'spec: Invalid value: 5: spec in body should be greater than or equal to 10',
      '<nil>: Invalid value: "": "spec" must validate all the schemas (allOf)',
    ],
    [
      { type: 'string', not: { enum: ['a'] } },
      'a',
      '<nil>: Invalid value: "": "spec" must not validate the schema (not)',
    ],
  ]);
});

test('what did not change is not validated again', () => {
  const short: JsonSchema = { type: 'string', maxLength: 1 };
  const both = object({ a: short, b: short });
  const keyed: JsonSchema = {
    type: 'array',
    items: object({ k: { type: 'string' }, v: { type: 'integer', maximum: 5 } }, { required: ['k'] }),
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
  };
  const rows: readonly (readonly [JsonSchema, unknown, unknown, ...string[]])[] = [
    [both, { a: 'xx', b: 'y' }, { a: 'xx', b: 'z' }],
    [both, { a: 'xx' }, { a: 'xxx' }, 'spec.a: Too long: may not be more than 1 byte'],
    [both, { a: 'xx' }, { a: 'xx', b: 'yy' }, 'spec.b: Too long: may not be more than 1 byte'],
    [object({ a: short }, { required: ['c'] }), { a: 'x' }, { a: 'y' }, 'spec.c: Required value'],
    [object({ a: short }, { required: ['c'] }), { a: 'x' }, { a: 'x' }],
    [
      keyed,
      [{ k: 'a', v: 9 }],
      [
        { k: 'b', v: 1 },
        { k: 'a', v: 9 },
      ],
    ],
    [
      keyed,
      [{ k: 'a', v: 9 }],
      [{ k: 'a', v: 8 }],
      'spec[0].v: Invalid value: 8: spec[0].v in body should be less than or equal to 5',
    ],
    [
      { type: 'array', items: { type: 'integer', maximum: 5 } },
      [9],
      [9, 1],
      'spec[0]: Invalid value: 9: spec[0] in body should be less than or equal to 5',
    ],
    [{ type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' }, ['a', 'a'], ['b', 'b']],
    [
      object({ a: { type: 'string' }, b: { type: 'string' } }, { allOf: [{ properties: { a: { maxLength: 1 } } }] }),
      { a: 'xx', b: 'y' },
      { a: 'xx', b: 'z' },
      'spec.a: Too long: may not be more than 1 byte',
      '<nil>: Invalid value: "": "spec" must validate all the schemas (allOf). None validated',
    ],
  ];
  for (const [schema, old, value, ...expected] of rows) assert.deepEqual(errorsOf(schema, value, old), expected);
});

test('very many errors are no trouble, and none is told twice', () => {
  const many = Array.from({ length: 200_000 }, (_unused, at) => composite(String(at)));
  const [one, other] = [new Result(), new Result()];
  one.add(many);
  other.add([composite('1'), composite('x')]);
  other.merge(one);
  assert.equal(other.problems.length, many.length + 1);
  const list: Problem[] = [];
  append(list, many);
  assert.equal(list.length, many.length);
});

test('all causes are in the Status', () => {
  const errors = [
    { type: 'FieldValueRequired', field: 'spec.a', message: 'Required value' },
    { type: 'FieldValueInvalid', field: 'spec.b', message: 'Invalid value: 1: too small' },
  ] as const;
  assert.deepEqual(invalidObject({ group: 'example.com', kind: 'Foo' }, 'x', errors).status, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'Foo.example.com "x" is invalid: [spec.a: Required value, spec.b: Invalid value: 1: too small]',
    reason: 'Invalid',
    details: {
      name: 'x',
      group: 'example.com',
      kind: 'Foo',
      causes: [
        { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.a' },
        { reason: 'FieldValueInvalid', message: 'Invalid value: 1: too small', field: 'spec.b' },
      ],
    },
    code: 422,
  });
});
