/** Numbers at the edge of their types: fractions, and integers that a double does not hold. */
import type { Json } from '@reeve/kube';
import { type Area, type Case, get, merge, post, put, remove } from '../case.ts';
import { DEFINITIONS, gadgetDefinition, schemaOf, specCase } from './gadget.ts';

const MOST = 9223372036854775807n;
const LEAST = -9223372036854775808n;

const maps = '/api/v1/namespaces/<ns>/configmaps';
const pods = '/api/v1/namespaces/<ns>/pods';
const services = '/api/v1/namespaces/<ns>/services';
const sets = '/apis/apps/v1/namespaces/<ns>/statefulsets';
const text = { type: 'string' };
const integer = { type: 'integer' };
const number = { type: 'number' };
const map = { type: 'object', additionalProperties: text };

const defined = (name: string, property: Json, code?: number): Case => ({
  name: `a definition: ${name}`,
  steps: [post(DEFINITIONS, gadgetDefinition(schemaOf({ a: property })), code === undefined ? {} : { code })],
});
const labels = { app: 'x' };
const set = (spec: { [key: string]: Json }, pod: { [key: string]: Json } = {}): Json => ({
  metadata: { name: 's' },
  spec: {
    serviceName: 's',
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }], ...pod } },
    ...spec,
  },
});
const pod = (name: string, spec: { [key: string]: Json } = {}, container: { [key: string]: Json } = {}): Json => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i', ...container }], ...spec },
});
const bound = { nodeName: 'n' };

export const numbersArea: Area = {
  name: 'numbers',
  cases: [
    defined('a length of a fraction', { ...text, maxLength: 1.5 }, 400),
    defined('a length beyond int64', { ...text, maxLength: MOST + 1n }, 400),
    defined('a fraction of items, deep', { type: 'array', items: { type: 'array', items: text, maxItems: 1.5 } }, 400),
    defined(
      'a fraction of entries below additionalProperties',
      {
        type: 'object',
        additionalProperties: { ...map, maxProperties: 0.5 },
      },
      400,
    ),
    defined('a default beyond its maximum', { ...integer, maximum: MOST, default: MOST + 1n }, 422),
    defined(
      'a rule over the largest list',
      {
        type: 'array',
        maxItems: MOST,
        items: { ...text, maxLength: 5 },
        'x-kubernetes-validations': [{ rule: 'self.all(x, x.startsWith("a"))' }],
      },
      422,
    ),
    defined(
      'a rule over the largest map',
      {
        ...map,
        maxProperties: MOST,
        'x-kubernetes-validations': [{ rule: 'self.all(x, x.startsWith("a"))' }],
      },
      422,
    ),
    defined(
      'a rule over the longest text',
      {
        ...text,
        maxLength: MOST,
        'x-kubernetes-validations': [{ rule: 'self.contains("a")' }],
      },
      422,
    ),
    specCase(
      'bounds at the edge of int64',
      schemaOf({
        most: { ...integer, maximum: MOST },
        least: { ...integer, minimum: LEAST },
        over: { ...integer, minimum: MOST },
        under: { ...integer, maximum: LEAST },
        part: { ...integer, multipleOf: MOST },
        open: { ...integer, maximum: MOST, exclusiveMaximum: true },
        double: { ...number, maximum: MOST },
        even: { ...number, multipleOf: MOST },
        half: { ...integer, maximum: 9.5 },
        steps: { ...integer, multipleOf: 0.5 },
        large: { ...integer, maximum: 2n ** 62n },
        small: { ...integer, format: 'int32', maximum: 2 ** 31 },
        some: { ...number, maximum: 9.5 },
      }),
      [
        [{ double: 1.5, large: 2n ** 62n, some: 9 }],
        [{ most: 1, least: 1, part: MOST, open: 1 }, 422],
        [{ most: MOST, least: LEAST, over: MOST, under: LEAST }, 422],
        [{ half: 9, steps: 1, small: 1 }, 422],
        [{ half: 10, large: 2n ** 62n + 1n, some: 10 }, 422],
        [{ over: 1 }, 422],
        [{ under: 1 }, 422],
        [{ part: 3 }, 422],
        [{ open: MOST }, 422],
        [{ double: 1e300 }, 422],
        [{ even: 1.5 }, 422],
        [{ most: MOST + 1n }, 422],
      ],
    ),
    specCase(
      'sizes at the edge of int64',
      schemaOf({
        text: { ...text, maxLength: MOST },
        long: { ...text, minLength: MOST },
        list: { type: 'array', items: text, maxItems: MOST },
        many: { type: 'array', items: text, minItems: MOST },
        map: { ...map, maxProperties: MOST },
        full: { ...map, minProperties: MOST },
        none: { ...text, maxLength: LEAST },
        empty: { type: 'array', items: text, maxItems: LEAST },
      }),
      [
        [{ text: 'x', list: ['x'], map: { x: 'y' } }],
        [{ long: 'x' }, 422],
        [{ many: ['x'] }, 422],
        [{ full: { x: 'y' } }, 422],
        [{ none: 'x' }, 422],
        [{ empty: ['x'] }, 422],
      ],
    ),
    {
      name: 'integers of built-in kinds',
      steps: [
        ...[1.5, 99999999999, -12345678901234567890n, 'three', true].map((replicas) =>
          post(sets, set({ replicas }), { query: { fieldValidation: 'Strict' }, code: 400 }),
        ),
        post(sets, set({ ordinals: { start: 0.5 } }), { code: 400 }),
        post(sets, set({}, { terminationGracePeriodSeconds: MOST + 1n }), { code: 400 }),
        post(pods, pod('a', {}, { ports: [{ containerPort: 1.5 }] }), { code: 400 }),
        post(pods, pod('a', {}, { ports: [{ containerPort: 80, hostPort: 4294967376 }] }), { code: 400 }),
        post(pods, pod('a', { securityContext: { supplementalGroups: [1, 1.5] } }), { code: 400 }),
        post(pods, pod('a', { tolerations: [{ operator: 'Exists', tolerationSeconds: LEAST - 1n }] }), { code: 400 }),
        post(services, { metadata: { name: 'a' }, spec: { ports: [{ port: 80, targetPort: 1.5 }] } }, { code: 400 }),
        post(
          services,
          { metadata: { name: 'a' }, spec: { ports: [{ port: 80, targetPort: 99999999999 }] } },
          { code: 400 },
        ),
        post(services, { metadata: { name: 'a' }, spec: { ports: [{ port: 80, targetPort: true }] } }, { code: 400 }),
        post(
          '/api/v1/namespaces/<ns>/events',
          { metadata: { name: 'a' }, involvedObject: { namespace: '<ns>' }, firstTimestamp: 5 },
          { code: 400 },
        ),
        post(maps, { metadata: { name: 'a', generation: 1.5 } }, { code: 400 }),
        post(maps, { metadata: { name: 'a', generation: MOST + 1n } }, { code: 400 }),
      ],
    },
    {
      name: 'integers at the edge of built-in kinds',
      steps: [
        post(pods, pod('a', { activeDeadlineSeconds: MOST }), { code: 422 }),
        post(pods, pod('b', { activeDeadlineSeconds: LEAST }), { code: 422 }),
        post(pods, pod('c', { terminationGracePeriodSeconds: LEAST }), {}),
        post(pods, pod('d', { terminationGracePeriodSeconds: MOST }), {}),
        post(pods, pod('e', { securityContext: { runAsUser: MOST } }), { code: 422 }),
        post(pods, pod('f', { tolerations: [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: MOST }] })),
        post(sets, set({ replicas: 2147483647 })),
        merge(`${sets}/s`, { spec: { replicas: 2147483648 } }, { code: 422 }),
        merge(`${sets}/s`, { spec: { replicas: 1.5 } }, { code: 422 }),
      ],
    },
    {
      name: 'a scale that is no int32',
      steps: [
        post(sets, set({ replicas: 1 })),
        ...[1.5, 99999999999, MOST, 'x'].map((replicas) =>
          put(`${sets}/s/scale`, { metadata: { name: 's', namespace: '<ns>' }, spec: { replicas } }, { code: 400 }),
        ),
        get(`${sets}/s/scale`),
      ],
    },
    {
      name: 'grace that is no int64',
      steps: [
        post(pods, pod('a', bound)),
        ...[1.5, MOST + 1n, true].map((gracePeriodSeconds) =>
          remove(`${pods}/a`, { gracePeriodSeconds }, { code: 400 }),
        ),
        remove(`${pods}/a`, undefined, { query: { gracePeriodSeconds: '1.5' }, code: 400 }),
        remove(`${pods}/a`, undefined, { query: { gracePeriodSeconds: '9223372036854775808' }, code: 400 }),
      ],
    },
    // Others end at a time that depends on the second of the request.
    ...[MOST].map(
      (seconds): Case => ({
        name: `a grace of ${seconds} seconds`,
        steps: [
          post(pods, pod('a', bound)),
          remove(`${pods}/a`, { gracePeriodSeconds: seconds }),
          get(`${pods}/a`),
          remove(`${pods}/a`, { gracePeriodSeconds: 5 }),
          post(pods, pod('b', { ...bound, terminationGracePeriodSeconds: seconds })),
          remove(`${pods}/b`),
          remove(`${pods}/b`, undefined, { query: { gracePeriodSeconds: '0' } }),
          get(pods),
        ],
      }),
    ),
    {
      name: 'tokens for a time that is none',
      steps: [
        post('/api/v1/namespaces/<ns>/serviceaccounts', { metadata: { name: 'a' } }),
        post('/api/v1/namespaces/<ns>/serviceaccounts/a/token', { spec: { expirationSeconds: MOST } }, { code: 422 }),
        post('/api/v1/namespaces/<ns>/serviceaccounts/a/token', { spec: { expirationSeconds: 600.5 } }, { code: 400 }),
      ],
    },
  ],
};
