/** Rules: self and oldSelf, messages, reasons, paths, budgets, and what ratcheting forgives. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WorkBudget } from '../cel/meter.ts';
import { CustomResourceSchema } from './custom-resource.ts';
import { describeFieldError } from '../status/field-error.ts';
import { escapeName, unescapeName } from './escape.ts';
import type { JsonSchema } from './json-schema.ts';
import { compileRules, runRules } from './rules.ts';
import { errorsOf, foo, object, ruled, withSpec } from './schema-testing.ts';

const spec = object({
  min: { type: 'integer' },
  max: { type: 'integer' },
  name: { type: 'string' },
  list: { type: 'array', items: { type: 'string' } },
  m: { type: 'object', additionalProperties: { type: 'integer' } },
  'a-b': { type: 'string' },
  namespace: { type: 'string' },
  ios: { 'x-kubernetes-int-or-string': true },
  d: { type: 'string', format: 'duration' },
  t: { type: 'string', format: 'date-time' },
  b: { type: 'string', format: 'byte' },
  num: { type: 'number' },
});

test('a rule that does not hold says so, with its message if it has one', () => {
  const rule = 'self.min <= self.max';
  const value = { min: 3, max: 2 };
  const rows = [
    [{ rule }, 'spec: Invalid value: failed rule: self.min <= self.max'],
    [{ rule, message: ' min > max ' }, 'spec: Invalid value: min > max'],
    [{ rule, messageExpression: '"min " + string(self.min)' }, 'spec: Invalid value: min 3'],
    [{ rule, message: 'fallback', messageExpression: '"x" + self.name' }, 'spec: Invalid value: fallback'],
    [{ rule, messageExpression: '" "' }, 'spec: Invalid value: failed rule: self.min <= self.max'],
    [{ rule, reason: 'FieldValueForbidden', message: 'm', fieldPath: '.min' }, 'spec.min: Forbidden: m'],
    [{ rule, reason: 'FieldValueRequired', message: 'm' }, 'spec: Required value: m'],
    [{ rule, fieldPath: ".m['x']", message: 'm' }, 'spec.m[x]: Invalid value: m'],
  ] as const;
  for (const [declared, expected] of rows) {
    assert.deepEqual(errorsOf(ruled(spec, declared), value), [
      expected.replace(/^(spec[^:]*: Invalid value): /, '$1: '),
    ]);
  }
  assert.deepEqual(errorsOf(ruled(spec, rule), { min: 1, max: 2 }), []);
});

test('rules stand at values, items and fields, and see them by their types', () => {
  const inner: JsonSchema = object({
    x: ruled({ type: 'integer' }, 'self > 5'),
    l: { type: 'array', items: ruled({ type: 'string' }, 'self.size() < 3') },
    m: { type: 'object', additionalProperties: ruled({ type: 'integer' }, 'self < 10') },
  });
  assert.deepEqual(errorsOf(inner, { x: 1, l: ['abc'], m: { k: 11 } }), [
    'spec.l[0]: Invalid value: "abc": failed rule: self.size() < 3',
    'spec.m[k]: Invalid value: 11: failed rule: self < 10',
    'spec.x: Invalid value: 1: failed rule: self > 5',
  ]);
  const holding: readonly (readonly [string, object])[] = [
    ['self.a__dash__b == "x" && self.__namespace__ == "y" && self.namespace == "y"', { 'a-b': 'x', namespace: 'y' }],
    ['self.ios == 5', { ios: 5 }],
    ['self.ios == "a"', { ios: 'a' }],
    ['self.d > duration("1h")', { d: '2h' }],
    ['self.t.getFullYear() == 2020', { t: '2020-01-01T00:00:00Z' }],
    ['self.b == b"abc"', { b: 'YWJj' }],
    ['self.num > 0.5', { num: 1 }],
    ['self.m.all(k, self.m[k] > 0)', { m: { a: 1 } }],
    ['!has(self.name) && self.?name.orValue("z") == "z"', {}],
  ];
  for (const [rule, value] of holding) assert.deepEqual(errorsOf(ruled(spec, rule), value), [], rule);
});

test('the root sees its name and kind', () => {
  const schema = new CustomResourceSchema(ruled(withSpec(spec), 'self.metadata.name == "y"', 'self.kind == "Foo"'));
  assert.deepEqual(schema.validate(foo({})).map(describeFieldError), [
    '<nil>: Invalid value: failed rule: self.metadata.name == "y"',
  ]);
});

test('what goes wrong in a rule is told', () => {
  const rows: readonly (readonly [string, object, string])[] = [
    ['1 / self.min > 0', { min: 0 }, 'division by zero evaluating rule: 1 / self.min > 0'],
    ['self.m.x == 1', { m: {} }, 'no such key: x evaluating rule: self.m.x == 1'],
    [
      'self.ios + 1 > 2',
      { ios: 'x' },
      "'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.ios + 1 > 2",
    ],
  ];
  for (const [rule, value, message] of rows) {
    assert.deepEqual(errorsOf(ruled(spec, rule), value), [`spec: Invalid value: "object": ${message}`]);
  }
});

test('transition rules run when there is something to compare with', () => {
  const rule = ruled(spec, 'self.min >= oldSelf.min');
  assert.deepEqual(errorsOf(rule, { min: 1 }), []);
  assert.deepEqual(errorsOf(rule, { min: 2 }, { min: 1 }), []);
  assert.deepEqual(errorsOf(rule, { min: 1 }, { min: 2 }), [
    'spec: Invalid value: failed rule: self.min >= oldSelf.min',
  ]);
  const field = object({ x: ruled({ type: 'string' }, 'self == oldSelf') });
  assert.deepEqual(errorsOf(field, { x: 'b' }, {}), []);
  assert.deepEqual(errorsOf(field, { x: 'b' }, { x: 'a' }), [
    'spec.x: Invalid value: "b": failed rule: self == oldSelf',
  ]);
  const optional = ruled(spec, { rule: 'oldSelf.hasValue()', optionalOldSelf: true });
  assert.deepEqual(errorsOf(optional, { min: 1 }), ['spec: Invalid value: failed rule: oldSelf.hasValue()']);
  assert.deepEqual(errorsOf(optional, { min: 1 }, { min: 2 }), []);
});

test('items of keyed lists are compared with themselves wherever they stand', () => {
  const list: JsonSchema = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items: ruled(object({ k: { type: 'string' }, v: { type: 'integer' } }, { required: ['k'] }), 'self.v == oldSelf.v'),
  };
  const old = [{ k: 'a', v: 1 }];
  assert.deepEqual(
    errorsOf(
      list,
      [
        { k: 'b', v: 5 },
        { k: 'a', v: 1 },
      ],
      old,
    ),
    [],
  );
  assert.deepEqual(
    errorsOf(
      list,
      [
        { k: 'b', v: 5 },
        { k: 'a', v: 2 },
      ],
      old,
    ),
    ['spec[1]: Invalid value: failed rule: self.v == oldSelf.v'],
  );
});

test('a rule is forgiven where nothing changed, unless it looks back', () => {
  const inner = object({ a: ruled(spec, 'self.min > 5'), b: { type: 'integer' } });
  assert.deepEqual(errorsOf(inner, { a: { min: 1 }, b: 2 }, { a: { min: 1 }, b: 1 }), []);
  assert.deepEqual(errorsOf(inner, { a: { min: 2 } }, { a: { min: 1 } }), [
    'spec.a: Invalid value: failed rule: self.min > 5',
  ]);
  const back = object({ a: ruled(spec, 'self.min > oldSelf.min') });
  assert.equal(errorsOf(back, { a: { min: 1 } }, { a: { min: 1 } }).length, 1);
});

test('sets have no order, and sums of them hold nothing twice', () => {
  const set: JsonSchema = { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' };
  const rule = ruled(set, 'self == ["b", "a"]', '(self + ["a", "c"]).size() == 3');
  assert.deepEqual(errorsOf(rule, ['a', 'b']), []);
});

test('rules wait until the object is as its types say', () => {
  const schema = ruled(object({ a: { type: 'string' } }, { required: ['a'] }), 'self.a == "x"');
  assert.deepEqual(errorsOf(schema, {}), [
    'spec.a: Required value',
    '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  ]);
});

test('the budget of an object ends its rules', () => {
  const tree = compileRules(ruled(spec, 'self.min > 0', 'self.max > 0', 'self.min > 1'), false);
  assert.ok(tree);
  const { errors, budget } = runRules(tree, { min: 1, max: 1 }, undefined, { budget: 5 });
  assert.ok(budget < 0);
  assert.deepEqual(errors.map(describeFieldError), [
    '<nil>: Invalid value: "object": validation failed due to running out of cost budget, no further validation rules will be run',
  ]);
});

test('many rules that are just cheap enough end, too', () => {
  const many = Array.from({ length: 40 }, (_unused, at) => `self.list == self.list && ${at} >= 0`);
  const tree = compileRules(ruled(spec, ...many), false);
  assert.ok(tree);
  const list = Array.from({ length: 1000 }, () => '');
  assert.deepEqual(runRules(tree, { list }, undefined).errors, []);
  const { errors, budget } = runRules(tree, { list }, undefined, { work: new WorkBudget(20_000) });
  assert.ok(budget < 0);
  assert.match(errors.map(describeFieldError).join(), /actual cost limit exceeded/);
});

test('a runaway rule ends with the cost limit', () => {
  const long = Array.from({ length: 120 }, (_unused, index) => String(index));
  const [error] = errorsOf(ruled(spec, 'self.list.all(a, self.list.all(b, self.list.all(c, a + b + c != "")))'), {
    list: long,
  });
  assert.match(
    error ?? '',
    /'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule/,
  );
});

test('names of fields are escaped and back', () => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['a', 'a'],
    ['a-b', 'a__dash__b'],
    ['a.b/c', 'a__dot__b__slash__c'],
    ['a__b', 'a__underscores__b'],
    ['namespace', '__namespace__'],
    ['in', '__in__'],
    ['9a', undefined],
    ['a b', undefined],
    ['', undefined],
  ];
  for (const [name, escaped] of rows) {
    assert.equal(escapeName(name), escaped);
    if (escaped !== undefined) assert.equal(unescapeName(escaped), name);
  }
  assert.equal(unescapeName('a__nope__b'), undefined);
});
