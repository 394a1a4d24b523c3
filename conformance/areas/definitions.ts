/** CustomResourceDefinitions themselves: what they are answered with, what is refused, what a change of them does. */
import type { Json } from '@reeve/kube';
import { type Case, get, merge, post, put, remove, type Step } from '../case.ts';
import { DEFINITIONS, GADGET_DEFINITION, GADGETS, gadget, gadgetDefinition, schemaOf } from './gadget.ts';

const text = { type: 'string' };
const plain = schemaOf({ a: text, size: { type: 'integer' } });

/** Refused as it stands. */
const refused = (name: string, schema: Json, code = 422): Case => ({
  name: `refused: ${name}`,
  steps: [post(DEFINITIONS, gadgetDefinition(schema), { code })],
});

const spec = (definition: { [key: string]: Json }, more: { [key: string]: Json }): Json => ({
  ...definition,
  spec: { ...(definition['spec'] as { [key: string]: Json }), ...more },
});
const refusedSpec = (name: string, more: { [key: string]: Json }): Case => ({
  name: `refused: ${name}`,
  steps: [post(DEFINITIONS, spec(gadgetDefinition(plain), more), { code: 422 })],
});
const version = (name: string, more: { [key: string]: Json } = {}): Json => ({
  name,
  served: true,
  storage: false,
  schema: { openAPIV3Schema: plain },
  ...more,
});
/** Served from then on: reads tell. */
const established: Step = get(GADGET_DEFINITION, { code: 200, until: '"reason":"InitialNamesAccepted"' });

export const definitionCases: readonly Case[] = [
  refused('a schema without a type', { properties: { spec: { type: 'object' } } }),
  refused('a property without a type', schemaOf({ a: {} })),
  refused('an array without items', schemaOf({ a: { type: 'array' } })),
  refused('a type that is none', schemaOf({ a: { type: 'text' } })),
  refused('a default of another type', schemaOf({ a: { type: 'integer', default: 'x' } })),
  refused('a default that would be pruned', schemaOf({ a: { type: 'object', default: { b: 1 } } })),
  refused('a pattern that is none', schemaOf({ a: { ...text, pattern: '[' } })),
  refused('a list by keys that are not there', {
    ...schemaOf({
      a: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: { type: 'object', properties: { x: text } },
      },
    }),
  }),
  refused('a list type that is none', schemaOf({ a: { type: 'array', items: text, 'x-kubernetes-list-type': 'bag' } })),
  refused('unique items', schemaOf({ a: { type: 'array', items: text, uniqueItems: true } })),
  refused('metadata with more than name and generateName', {
    type: 'object',
    properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
  }),
  refused(
    'a type below oneOf',
    schemaOf({ a: text }, { oneOf: [{ type: 'object', properties: { a: { type: 'string' } } }] }),
  ),
  refused('a reference', schemaOf({ a: { $ref: '#/definitions/x' } })),
  refusedSpec('a name that does not fit', { names: { plural: 'widgets', kind: 'Widget' } }),
  refusedSpec('a scope that is none', { scope: 'Everywhere' }),
  refusedSpec('no version', { versions: [] }),
  refusedSpec('no stored version', { versions: [version('v1')] }),
  refusedSpec('two stored versions', {
    versions: [version('v1', { storage: true }), version('v2', { storage: true })],
  }),
  refusedSpec('a version twice', { versions: [version('v1', { storage: true }), version('v1')] }),
  refusedSpec('a conversion by webhook without one', { conversion: { strategy: 'Webhook' } }),
  refusedSpec('selectable fields that are not there', {
    versions: [version('v1', { storage: true, selectableFields: [{ jsonPath: '.spec.none' }] })],
  }),
  {
    name: 'the conditions of a new definition',
    steps: [
      post(DEFINITIONS, gadgetDefinition(plain), { any: true }),
      established,
      get('/apis/<group>', { until: 'v1' }),
    ],
  },
  {
    name: 'discovery of a kind',
    definition: gadgetDefinition(plain, {
      subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.count' } },
    }),
    steps: [get('/apis/<group>/v1'), get('/apis/<group>')],
  },
  {
    name: 'two versions of one kind show the same objects',
    definition: gadgetDefinition(
      plain,
      {},
      {
        versions: [
          version('v1', { storage: true }),
          version('v1beta1', { schema: { openAPIV3Schema: schemaOf({ a: text }) } }),
          version('v1alpha1', { deprecated: true }),
        ],
      },
    ),
    steps: [
      post(GADGETS, gadget('a', { a: 'x', size: 1 })),
      get('/apis/<group>/v1beta1/namespaces/<ns>/gadgets/a'),
      get('/apis/<group>/v1alpha1/namespaces/<ns>/gadgets/a'),
      post('/apis/<group>/v1beta1/namespaces/<ns>/gadgets', {
        ...gadget('b', { a: 'y', size: 2 }),
        apiVersion: '<group>/v1beta1',
      }),
      get(`${GADGETS}/b`),
      get(GADGETS),
      get('/apis/<group>/v1beta1/namespaces/<ns>/gadgets'),
    ],
  },
  {
    name: 'a version that is not served',
    definition: gadgetDefinition(
      plain,
      {},
      {
        versions: [version('v1', { storage: true }), version('v2')],
      },
    ),
    steps: [
      get('/apis/<group>/v2/namespaces/<ns>/gadgets'),
      {
        change: { spec: { versions: [version('v1', { storage: true }), version('v2', { served: false })] } },
        path: GADGET_DEFINITION,
      },
      get('/apis/<group>/v2/namespaces/<ns>/gadgets', { code: 404, until: '' }),
      get(GADGETS, { code: 200, until: '' }),
    ],
  },
  {
    name: 'a kind without namespaces',
    definition: gadgetDefinition(plain, {}, { scope: 'Cluster' }),
    steps: [
      post('/apis/<group>/v1/gadgets', gadget('a', { a: 'x' })),
      get('/apis/<group>/v1/gadgets/a'),
      get(`${GADGETS}/a`, { code: 404 }),
      post(GADGETS, gadget('b'), { code: 404 }),
      remove('/apis/<group>/v1/gadgets/a'),
    ],
  },
  {
    name: 'another schema is in force after an update',
    definition: gadgetDefinition(plain),
    steps: [
      post(GADGETS, gadget('a', { a: 'x' })),
      {
        change: {
          spec: {
            versions: [
              version('v1', { storage: true, schema: { openAPIV3Schema: schemaOf({ a: { ...text, maxLength: 1 } }) } }),
            ],
          },
        },
        path: GADGET_DEFINITION,
      },
      post(GADGETS, gadget('b', { a: 'long' }), { code: 422, until: 'Too long', query: { dryRun: 'All' } }),
      post(GADGETS, gadget('c', { a: 'y' })),
      get(`${GADGETS}/a`),
    ],
  },
  {
    name: 'what is already wrong may stay as it is, and only that',
    definition: gadgetDefinition(plain),
    steps: [
      post(GADGETS, gadget('a', { a: 'long', size: 1 })),
      {
        change: {
          spec: {
            versions: [
              version('v1', {
                storage: true,
                schema: {
                  openAPIV3Schema: schemaOf({ a: { ...text, maxLength: 1 }, size: { type: 'integer', maximum: 5 } }),
                },
              }),
            ],
          },
        },
        path: GADGET_DEFINITION,
      },
      post(GADGETS, gadget('b', { a: 'long' }), { code: 422, until: 'Too long', query: { dryRun: 'All' } }),
      merge(`${GADGETS}/a`, { spec: { size: 2 } }),
      merge(`${GADGETS}/a`, { spec: { size: 9 } }, { code: 422 }),
      merge(`${GADGETS}/a`, { spec: { a: 'longer' } }, { code: 422 }),
      merge(`${GADGETS}/a`, { spec: { a: 's' } }),
    ],
  },
  {
    name: 'what cannot be changed',
    definition: gadgetDefinition(plain),
    steps: [
      { change: { spec: { scope: 'Cluster' } }, path: GADGET_DEFINITION, code: 422 },
      { change: { spec: { group: 'other.example.com' } }, path: GADGET_DEFINITION, code: 422 },
      { change: { spec: { names: { kind: 'Widget' } } }, path: GADGET_DEFINITION, code: 422 },
      put(GADGET_DEFINITION, { metadata: { name: 'gadgets.<group>' }, spec: {} }, { code: 422 }),
    ],
  },
  {
    name: 'selectable fields',
    definition: gadgetDefinition(plain, { selectableFields: [{ jsonPath: '.spec.a' }] }),
    steps: [
      post(GADGETS, gadget('a', { a: 'x' })),
      post(GADGETS, gadget('b', { a: 'y' })),
      post(GADGETS, gadget('c', {})),
      get(GADGETS, { query: { fieldSelector: 'spec.a=x' } }),
      get(GADGETS, { query: { fieldSelector: 'spec.a!=x' } }),
      get(GADGETS, { query: { fieldSelector: 'spec.a=' } }),
      get(GADGETS, { query: { fieldSelector: 'spec.size=1' }, code: 400 }),
    ],
  },
  {
    name: 'lists in pages',
    definition: gadgetDefinition(plain),
    steps: [
      ...['a', 'b', 'c', 'd', 'e'].map((name) => post(GADGETS, gadget(name, { a: name }))),
      get(GADGETS, { query: { limit: '2' }, save: 'p' }),
      get(GADGETS, { query: { limit: '2', continue: '<p.continue>' }, save: 'q' }),
      get(GADGETS, { query: { limit: '2', continue: '<q.continue>' } }),
      get(GADGETS, { query: { limit: '2', labelSelector: 'a=b' } }),
      get(GADGETS, { query: { continue: 'nonsense' }, code: 400 }),
    ],
  },
  {
    name: 'an object can be brought back after its kind was',
    definition: gadgetDefinition(plain),
    steps: [
      post(GADGETS, gadget('a', { a: 'x' })),
      remove(GADGET_DEFINITION),
      get(GADGET_DEFINITION, { code: 404, until: '' }),
      post(DEFINITIONS, gadgetDefinition(plain), { any: true }),
      get(GADGETS, { code: 200, until: '' }),
      post(GADGETS, gadget('a', { a: 'y' }), { code: 201, until: '' }),
    ],
  },
];
