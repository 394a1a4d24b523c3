/** Expressions in the schemas of custom kinds: what they refuse, how they say it, and what is no expression. */
import type { Json } from '@reeve/kube';
import { type Case, merge, post } from '../case.ts';
import { changeCase, DEFINITIONS, GADGETS, gadget, gadgetDefinition, schemaOf, specCase, type Try } from './gadget.ts';

type Fields = { [key: string]: Json };
const text = { type: 'string' };
const integer = { type: 'integer' };
const fields: Fields = {
  min: integer,
  max: integer,
  name: { ...text, maxLength: 64 },
  other: { ...text, maxLength: 64 },
  list: { type: 'array', maxItems: 10, items: { ...text, maxLength: 20 } },
  map: { type: 'object', maxProperties: 10, additionalProperties: { ...text, maxLength: 20 } },
  items: {
    type: 'array',
    maxItems: 10,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['id'],
    items: { type: 'object', required: ['id'], properties: { id: { ...text, maxLength: 10 }, n: integer } },
  },
  when: { ...text, format: 'date-time' },
  span: { ...text, format: 'duration' },
  either: { 'x-kubernetes-int-or-string': true },
  quantity: { ...text, maxLength: 20 },
  nullable: { ...integer, nullable: true },
};

const ruled = (...rules: readonly Json[]): Json => schemaOf(fields, { 'x-kubernetes-validations': [...rules] });
const rule = (expression: string, more: Fields = {}): Json => ({ rule: expression, ...more });

/** A rule of the spec, and specs that it is asked about. */
const aCase = (name: string, expression: string, tries: readonly Try[], more: Fields = {}): Case =>
  specCase(name, ruled(rule(expression, more)), tries);

/** A rule that is none. */
const refused = (name: string, ...rules: readonly Json[]): Case => ({
  name: `refused: ${name}`,
  steps: [post(DEFINITIONS, gadgetDefinition(ruled(...rules)), { code: 422 })],
});

export const expressionCases: readonly Case[] = [
  aCase('a comparison of two fields', 'self.min <= self.max', [
    [{ min: 1, max: 2 }],
    [{ min: 3, max: 2 }, 422],
    [{ min: 3 }, 422],
  ]),
  aCase('a message', 'self.min <= self.max', [[{ min: 3, max: 2 }, 422]], { message: 'min must not be above max' }),
  aCase('a message of an expression', 'self.min <= self.max', [[{ min: 3, max: 2 }, 422]], {
    messageExpression: '"the gadget " + self.name + " is above"',
  }),
  aCase('a message of an expression that fails', 'self.min <= self.max', [[{ min: 3, max: 2 }, 422]], {
    messageExpression: 'self.name',
    message: 'instead',
  }),
  aCase('a reason and a path', 'self.min <= self.max', [[{ min: 3, max: 2 }, 422]], {
    reason: 'FieldValueForbidden',
    fieldPath: '.min',
  }),
  aCase('a field that may be missing', '!has(self.name) || self.name.startsWith("a")', [
    [{}],
    [{ name: 'abc' }],
    [{ name: 'xyz' }, 422],
  ]),
  aCase('texts', 'self.name.matches("^[a-z]+$") && self.name.size() < 5 && self.name.contains("b")', [
    [{ name: 'abc' }],
    [{ name: 'ABC' }, 422],
    [{ name: 'abcdef' }, 422],
  ]),
  aCase('functions of texts', 'self.name.lowerAscii() == self.other && self.name.split("-").size() == 2', [
    [{ name: 'A-B', other: 'a-b' }],
    [{ name: 'A-B', other: 'x' }, 422],
  ]),
  aCase('lists', 'self.list.all(x, x.startsWith("a")) && self.list.exists(x, x == "ab") && size(self.list) < 3', [
    [{ list: ['a', 'ab'] }],
    [{ list: ['b'] }, 422],
    [{ list: ['a'] }, 422],
  ]),
  aCase('functions of lists', 'self.list.isSorted() && self.list.indexOf("b") == 1', [
    [{ list: ['a', 'b'] }],
    [{ list: ['b', 'a'] }, 422],
  ]),
  aCase('exactly one', 'self.list.exists_one(x, x == "a") && self.list.filter(x, x != "a").size() == 1', [
    [{ list: ['a', 'b'] }],
    [{ list: ['a', 'a'] }, 422],
  ]),
  aCase('maps', 'self.map.all(k, self.map[k] != "") && "a" in self.map', [
    [{ map: { a: 'x' } }],
    [{ map: { b: 'x' } }, 422],
    [{ map: { a: '' } }, 422],
  ]),
  aCase('items by their keys', 'self.items.all(i, has(i.n) && i.n > 0)', [
    [{ items: [{ id: 'a', n: 1 }] }],
    [{ items: [{ id: 'a', n: 0 }] }, 422],
    [{ items: [{ id: 'a' }] }, 422],
  ]),
  aCase('times', 'timestamp(self.when) < timestamp("2021-01-01T00:00:00Z") && self.when.getFullYear() == 2020', [
    [{ when: '2020-05-06T07:08:09Z' }],
    [{ when: '2022-05-06T07:08:09Z' }, 422],
  ]),
  aCase('spans of time', 'self.span <= duration("1h")', [[{ span: '30m' }], [{ span: '2h' }, 422]]),
  aCase('int or string in an expression', 'type(self.either) == int ? self.either < 5 : self.either.endsWith("%")', [
    [{ either: 1 }],
    [{ either: '5%' }],
    [{ either: 9 }, 422],
    [{ either: 'x' }, 422],
  ]),
  aCase('quantities', 'quantity(self.quantity).isGreaterThan(quantity("1Gi")) && isQuantity(self.quantity)', [
    [{ quantity: '2Gi' }],
    [{ quantity: '1M' }, 422],
    [{ quantity: 'lots' }, 422],
  ]),
  aCase('addresses', 'isIP(self.name) && ip(self.name).family() == 4 && cidr(self.other).containsIP(self.name)', [
    [{ name: '10.0.0.1', other: '10.0.0.0/8' }],
    [{ name: '::1', other: '10.0.0.0/8' }, 422],
    [{ name: '11.0.0.1', other: '10.0.0.0/8' }, 422],
  ]),
  aCase('links', 'isURL(self.name) && url(self.name).getHostname() == "a.example"', [
    [{ name: 'https://a.example:80/x' }],
    [{ name: 'https://b.example' }, 422],
    [{ name: 'nothing' }, 422],
  ]),
  aCase('formats by name', '!format.dns1123Label().validate(self.name).hasValue()', [
    [{ name: 'abc' }],
    [{ name: 'A_B' }, 422],
  ]),
  aCase('optionals', 'self.?name.orValue("none") != "none" && self.?other.hasValue()', [
    [{ name: 'a', other: 'b' }],
    [{ other: 'b' }, 422],
  ]),
  aCase('arithmetic', 'self.min * 2 + self.max % 3 == 10 && self.min / 2 == 2', [
    [{ min: 4, max: 5 }],
    [{ min: 6, max: 0 }, 422],
    [{ min: 4, max: 9007199254740991 }, 422],
  ]),
  aCase('division by nothing', 'self.max / self.min == 1', [[{ min: 0, max: 1 }, 422], [{ min: 1, max: 1 }]]),
  aCase('an index that is not there', 'self.list[1] == "b"', [[{ list: ['a', 'b'] }], [{ list: ['a'] }, 422]]),
  specCase('several rules are all told', ruled(rule('self.min > 0'), rule('self.max > 0'), rule('self.name != ""')), [
    [{ min: 0, max: 0, name: '' }, 422],
    [{ min: 1, max: 1, name: 'x' }],
  ]),
  specCase(
    'rules of fields and of items',
    schemaOf({
      a: { ...integer, 'x-kubernetes-validations': [rule('self % 2 == 0', { message: 'must be even' })] },
      list: {
        type: 'array',
        maxItems: 5,
        items: { ...text, maxLength: 5, 'x-kubernetes-validations': [rule('self != "bad"')] },
      },
      map: {
        type: 'object',
        maxProperties: 5,
        additionalProperties: { ...integer, 'x-kubernetes-validations': [rule('self < 10')] },
      },
    }),
    [[{ a: 2, list: ['x'], map: { k: 1 } }], [{ a: 3, list: ['x', 'bad'], map: { k: 10, l: 1 } }, 422]],
  ),
  specCase('a rule beside an error of the schema', ruled(rule('self.min > 0')), [
    [{ min: 'x' }, 422],
    [{ min: 0, name: 'x'.repeat(65) }, 422],
  ]),
  changeCase('an old value', ruled(rule('self.min >= oldSelf.min', { message: 'may only grow' })), { min: 2 }, [
    [{ min: 3 }],
    [{ min: 1 }, 422],
    [{ name: 'x' }],
  ]),
  changeCase('what may not change', ruled(rule('self.name == oldSelf.name')), { name: 'a' }, [
    [{ name: 'b' }, 422],
    [{ min: 1 }],
    [{ name: null }, 422],
  ]),
  changeCase(
    'what may not change once it is set',
    ruled(rule('!has(oldSelf.name) || has(self.name) && self.name == oldSelf.name')),
    {},
    [[{ name: 'a' }], [{ name: 'b' }, 422], [{ name: null }, 422]],
  ),
  specCase(
    'an old value that may be missing',
    ruled(rule('oldSelf.hasValue() || self.min == 0', { optionalOldSelf: true })),
    [[{ min: 0 }], [{ min: 1 }, 422]],
  ),
  changeCase(
    'old items by their keys',
    schemaOf({
      items: {
        ...(fields['items'] as Fields),
        items: {
          ...((fields['items'] as Fields)['items'] as Fields),
          'x-kubernetes-validations': [rule('!has(oldSelf.n) || self.n >= oldSelf.n')],
        },
      },
    }),
    {
      items: [
        { id: 'a', n: 1 },
        { id: 'b', n: 5 },
      ],
    },
    [
      [
        {
          items: [
            { id: 'b', n: 6 },
            { id: 'a', n: 1 },
          ],
        },
      ],
      [{ items: [{ id: 'b', n: 2 }] }, 422],
    ],
  ),
  {
    name: 'rules of a status',
    definition: gadgetDefinition({
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { size: integer } },
        status: {
          type: 'object',
          properties: { count: integer },
          'x-kubernetes-validations': [rule('self.count >= 0')],
        },
      },
      'x-kubernetes-validations': [rule('!has(self.status) || self.status.count <= self.spec.size')],
    }),
    steps: [
      post(GADGETS, gadget('a', { size: 2 })),
      merge(`${GADGETS}/a/status`, { status: { count: 1 } }),
      merge(`${GADGETS}/a/status`, { status: { count: -1 } }, { code: 422 }),
      merge(`${GADGETS}/a/status`, { status: { count: 3 } }, { code: 422 }),
      merge(`${GADGETS}/a`, { spec: { size: 0 } }, { code: 422 }),
    ],
  },
  {
    name: 'the name of an object in a rule at the root',
    definition: gadgetDefinition({
      ...(schemaOf(fields) as Fields),
      'x-kubernetes-validations': [rule('self.metadata.name.startsWith("a")'), rule('self.kind == "Gadget"')],
    }),
    steps: [post(GADGETS, gadget('a1', {})), post(GADGETS, gadget('b1', {}), { code: 422 })],
  },
  refused('null, where there is none', rule('self.nullable == null || self.nullable > 1')),
  refused('texts that may grow', rule('self.list.map(x, x.trim()).join("+") == self.other')),
  refused(
    'a message that may be long',
    rule('self.min > 0', { messageExpression: '"min " + string(self.min) + " is above " + string(self.max)' }),
  ),
  refused('a syntax error', rule('self.min >')),
  refused('a field that is not there', rule('self.none == 1')),
  refused('types that cannot be compared', rule('self.min == "x"')),
  refused('no boolean', rule('self.min')),
  refused('a function that is none', rule('self.name.shout() == "X"')),
  refused('an empty rule', rule('')),
  refused('a message of several lines', rule('self.min > 0', { message: 'one\ntwo' })),
  refused('a message that is no text', rule('self.min > 0', { messageExpression: 'self.min' })),
  refused('a reason that is none', rule('self.min > 0', { reason: 'Because' })),
  refused('a path that leads nowhere', rule('self.min > 0', { fieldPath: '.none' })),
  refused('an old self that may be missing, not used', rule('self.min > 0', { optionalOldSelf: true })),
  {
    name: 'refused: a rule that could cost too much',
    steps: [
      post(
        DEFINITIONS,
        gadgetDefinition(
          schemaOf(
            { list: { type: 'array', items: text } },
            { 'x-kubernetes-validations': [rule('self.list.all(x, self.list.all(y, x == y || x.contains(y)))')] },
          ),
        ),
        { code: 422 },
      ),
    ],
  },
  {
    name: 'refused: an old value within a list without keys',
    steps: [
      post(
        DEFINITIONS,
        gadgetDefinition(
          schemaOf({
            list: {
              type: 'array',
              maxItems: 5,
              items: { ...text, maxLength: 5, 'x-kubernetes-validations': [rule('self == oldSelf')] },
            },
          }),
        ),
        { code: 422 },
      ),
    ],
  },
];
