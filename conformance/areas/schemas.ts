/** Schemas of custom kinds: what is pruned, defaulted and refused. */
import type { Json } from '@reeve/kube';
import { type Case, get, merge, post, put } from '../case.ts';
import { changeCase, GADGETS, gadget, gadgetDefinition, schemaOf, specCase } from './gadget.ts';

const text = { type: 'string' };
const integer = { type: 'integer' };

const limits = schemaOf({
  name: { ...text, minLength: 2, maxLength: 4, pattern: '^[a-z]+$' },
  size: { ...integer, minimum: 1, maximum: 9 },
  open: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true },
  even: { ...integer, multipleOf: 2 },
  color: { ...text, enum: ['red', 'green'] },
  list: { type: 'array', items: text, minItems: 1, maxItems: 2 },
  map: { type: 'object', additionalProperties: integer, minProperties: 1, maxProperties: 2 },
});
const defaults = schemaOf({
  size: { ...integer, default: 3 },
  name: { ...text, default: '' },
  flag: { type: 'boolean', default: false },
  list: { type: 'array', items: { type: 'object', properties: { a: { ...text, default: 'x' }, b: text } } },
  nested: { type: 'object', default: {}, properties: { deep: { ...integer, default: 7 } } },
  map: { type: 'object', additionalProperties: { type: 'object', properties: { k: { ...integer, default: 1 } } } },
  nullable: { ...text, nullable: true, default: 'd' },
});
const lists = schemaOf({
  set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
  keyed: {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name', 'port'],
    items: {
      type: 'object',
      required: ['name'],
      properties: { name: text, port: { ...integer, default: 80 }, value: text },
    },
  },
});
const loose = schemaOf({
  any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  partly: {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    properties: { known: { type: 'object', properties: { a: text } } },
  },
  either: { 'x-kubernetes-int-or-string': true },
  pod: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
});
const formatted = schemaOf(
  Object.fromEntries(
    [
      'date-time',
      'date',
      'duration',
      'ipv4',
      'ipv6',
      'cidr',
      'uuid',
      'email',
      'hostname',
      'byte',
      'uri',
      'unheard',
    ].map((format) => [format, { ...text, format }]),
  ),
);
const numbers = schemaOf({
  i32: { ...integer, format: 'int32' },
  i64: { ...integer, format: 'int64' },
  n: { type: 'number' },
});
const combined = schemaOf(
  { a: text, b: text, c: integer },
  {
    oneOf: [{ required: ['a'] }, { required: ['b'] }],
    not: { required: ['c'] },
    anyOf: [{ required: ['a'] }, { required: ['b'] }],
  },
);

const required = schemaOf(
  { a: text, b: { type: 'object', required: ['c'], properties: { c: text } } },
  { required: ['a'] },
);
const mixed: Json = {
  type: 'object',
  required: ['spec'],
  properties: { spec: { type: 'object', properties: { a: text } } },
};

export const schemaCases: readonly Case[] = [
  specCase('lengths, patterns and enums', limits, [
    [{ name: 'abc', color: 'red' }],
    [{ name: 'a' }, 422],
    [{ name: 'abcde' }, 422],
    [{ name: 'AB' }, 422],
    [{ color: 'blue' }, 422],
    [{ name: 'ÄÖ' }, 422],
  ]),
  specCase('bounds of numbers', limits, [
    [{ size: 1, open: 0.5, even: 4 }],
    [{ size: 0 }, 422],
    [{ size: 10 }, 422],
    [{ open: 0 }, 422],
    [{ open: 1 }, 422],
    [{ even: 3 }, 422],
  ]),
  specCase('bounds of lists and maps', limits, [
    [{ list: ['a'], map: { a: 1 } }],
    [{ list: [] }, 422],
    [{ list: ['a', 'b', 'c'] }, 422],
    [{ map: {} }, 422],
    [{ map: { a: 1, b: 2, c: 3 } }, 422],
  ]),
  specCase('several errors at once', limits, [[{ name: 'A', size: 0, color: 'blue', list: [] }, 422]]),
  specCase('wrong types', limits, [
    [{ name: 1 }, 422],
    [{ size: '1' }, 422],
    [{ size: 1.5 }, 422],
    [{ list: 'a' }, 422],
    [{ list: [1] }, 422],
    [{ map: [] }, 422],
    [{ map: { a: 'x' } }, 422],
    ['text', 422],
    [[], 422],
  ]),
  specCase('nulls', limits, [
    [{ name: null, size: null }],
    [{ list: [null] }, 422],
    [{ map: { a: null } }, 422],
    [null],
  ]),
  specCase('required fields', required, [[{ a: 'x' }], [{}, 422], [{ a: 'x', b: {} }, 422], [{ a: '', b: { c: '' } }]]),
  specCase('unknown fields are pruned, with a warning', limits, [
    [{ name: 'abc', what: 1, list: ['x'] }],
    [{ map: { a: 1 }, deep: { down: true } }],
  ]),
  specCase('unknown fields, strictly', limits, [[{ name: 'abc', what: 1, who: 2 }, 400]], {
    query: { fieldValidation: 'Strict' },
  }),
  specCase('unknown fields, ignored', limits, [[{ name: 'abc', what: 1 }]], { query: { fieldValidation: 'Ignore' } }),
  specCase('a way to judge fields that is none', limits, [[{ name: 'abc' }, 422]], {
    query: { fieldValidation: 'Loose' },
  }),
  specCase('defaults', defaults, [
    [{}],
    [{ size: 0, name: 'n', flag: true, nested: { deep: 1 } }],
    [{ list: [{}, { a: 'y', b: 'z' }], map: { x: {}, y: { k: 2 } } }],
    [{ size: null, nullable: null, nested: null }],
  ]),
  changeCase('defaults on update', defaults, { size: 1 }, [
    [{ size: null }],
    [{ nested: { deep: null } }],
    [{ list: [{}] }],
  ]),
  specCase('sets', lists, [[{ set: ['a', 'b'] }], [{ set: ['a', 'b', 'a'] }, 422], [{ set: [] }]]),
  specCase('keyed lists', lists, [
    [{ keyed: [{ name: 'a' }, { name: 'a', port: 81 }] }],
    [{ keyed: [{ name: 'a' }, { name: 'a', port: 80 }] }, 422],
    [{ keyed: [{ port: 1 }] }, 422],
  ]),
  specCase('preserved fields', loose, [
    [{ any: { a: { b: [1, 'x', null] } }, partly: { known: { a: 'x', b: 'gone' }, other: { kept: true } } }],
  ]),
  specCase('int or string', loose, [
    [{ either: 1 }],
    [{ either: '50%' }],
    [{ either: true }, 422],
    [{ either: 1.5 }, 422],
  ]),
  specCase('embedded resources', loose, [
    [{ pod: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', labels: { a: 'b' } }, spec: { any: 1 } } }],
    [{ pod: { kind: 'Pod' } }, 422],
    [{ pod: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'Not_A_Name' } } }],
    [{ pod: { apiVersion: 'v1', kind: 'Pod', metadata: { unheard: 1, labels: { a: 1 } } } }, 400],
  ]),
  specCase('formats that fit', formatted, [
    [
      {
        'date-time': '2020-01-02T03:04:05Z',
        date: '2020-01-02',
        duration: '1h2m',
        ipv4: '10.0.0.1',
        ipv6: '::1',
        cidr: '10.0.0.0/8',
        uuid: '00000000-0000-4000-8000-000000000000',
        email: 'a@b.example',
        hostname: 'a.example',
        byte: 'aGk=',
        uri: 'https://a.example/x',
        unheard: 'anything',
      },
    ],
  ]),
  specCase('formats that do not fit', formatted, [
    [{ 'date-time': 'yesterday' }, 422],
    [{ date: '2020-13-01' }, 422],
    [{ duration: 'long' }, 422],
    [{ ipv4: '::1' }, 422],
    [{ ipv6: '10.0.0.1' }, 422],
    [{ cidr: '10.0.0.0' }, 422],
    [{ uuid: 'x' }, 422],
    [{ email: 'x' }, 422],
    [{ byte: '!' }, 422],
  ]),
  specCase('numbers', numbers, [
    [{ i32: 2147483647, i64: 9007199254740991, n: 1.25 }],
    [{ i32: 2147483648 }, 422],
    [{ n: 1e21 }],
    [{ n: -0.5 }],
  ]),
  specCase('one of, any of, not', combined, [
    [{ a: 'x' }],
    [{}, 422],
    [{ a: 'x', b: 'y' }, 422],
    [{ a: 'x', c: 1 }, 422],
  ]),
  {
    name: 'what is at the root',
    definition: gadgetDefinition(mixed),
    steps: [
      post(GADGETS, gadget('a'), { code: 422 }),
      post(GADGETS, gadget('b', { a: 'x' }, { extra: 1 })),
      post(GADGETS, { ...gadget('c', {}), metadata: { name: 'c', unheard: 1, labels: { a: 'b' } } }),
      post(GADGETS, { ...gadget('d', {}), metadata: { name: 'd', labels: { a: 1 } } }, { code: 400 }),
    ],
  },
  {
    name: 'the kind and version that an object says',
    definition: gadgetDefinition(limits),
    steps: [
      post(GADGETS, { ...gadget('a'), kind: 'Widget' }, { code: 422 }),
      post(GADGETS, { ...gadget('a'), apiVersion: '<group>/v2' }, { code: 400 }),
      post(GADGETS, { metadata: { name: 'a' } }, { code: 400 }),
      post(GADGETS, { kind: 'Gadget', metadata: { name: 'a' } }, { any: true }),
      post(GADGETS, '{"kind":', { code: 400 }),
      post(GADGETS, '[]', { code: 400 }),
    ],
  },
  {
    name: 'a status is checked through its own path, and only there',
    definition: gadgetDefinition(limits),
    steps: [
      post(GADGETS, gadget('a', {}, { status: { phase: 1 } }), { any: true }),
      post(GADGETS, gadget('b', { name: 'abc' }, { status: { phase: 'x' } })),
      merge(`${GADGETS}/b/status`, { status: { phase: 'ok', count: 2 } }),
      merge(`${GADGETS}/b/status`, { status: { count: 'many' } }, { code: 422 }),
      merge(`${GADGETS}/b/status`, { spec: { size: 99 }, status: { count: 3, what: 1 } }),
      put(`${GADGETS}/b/status`, gadget('b', {}, { status: {} }), { any: true }),
      get(`${GADGETS}/b`),
    ],
  },
  {
    name: 'generations count changes of the spec',
    definition: gadgetDefinition(limits),
    steps: [
      post(GADGETS, gadget('a', { size: 1 })),
      merge(`${GADGETS}/a`, { spec: { size: 2 } }),
      merge(`${GADGETS}/a`, { metadata: { labels: { a: 'b' } } }),
      merge(`${GADGETS}/a/status`, { status: { phase: 'x' } }),
      merge(`${GADGETS}/a`, { spec: { size: 2 } }),
      merge(`${GADGETS}/a`, { metadata: { generation: 9 } }),
    ],
  },
  {
    name: 'without a status of its own',
    definition: gadgetDefinition(limits, { subresources: {} }),
    steps: [
      post(GADGETS, gadget('a', { size: 1 }, { status: { phase: 'x' } })),
      merge(`${GADGETS}/a`, { status: { phase: 'y' } }),
      merge(`${GADGETS}/a/status`, { status: { phase: 'z' } }, { code: 404 }),
      get(`${GADGETS}/a/status`, { code: 404 }),
    ],
  },
  {
    name: 'scale',
    definition: gadgetDefinition(schemaOf({ replicas: { ...integer, minimum: 0 }, selector: text }), {
      subresources: {
        status: {},
        scale: {
          specReplicasPath: '.spec.replicas',
          statusReplicasPath: '.status.count',
          labelSelectorPath: '.spec.selector',
        },
      },
    }),
    steps: [
      post(GADGETS, gadget('a', { replicas: 2, selector: 'app=x' })),
      get(`${GADGETS}/a/scale`),
      { change: { spec: { replicas: 5 } }, path: `${GADGETS}/a/scale` },
      merge(`${GADGETS}/a/scale`, { spec: { replicas: 6 } }),
      merge(`${GADGETS}/a/scale`, { spec: { replicas: -1 } }, { any: true }),
      get(`${GADGETS}/a`),
    ],
  },
];
