import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { stringifyJson } from '@reeve/kube';
import { crds, openServer, setSpec, widgetDefinition } from './server-testing.ts';

/** Numbers at the edges of their types. */
const edge = fc.constantFrom<unknown>(
  ...[0, 1, -1, 1.5, 1e300, 2 ** 31, 99999999999, Number.MAX_SAFE_INTEGER],
  ...[2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 63n, -12345678901234567890n],
);
/** Stands for a number that no double holds, in a text. */
const BEYOND = '<beyond>';
const textOf = (value: unknown): string => stringifyJson(value).replaceAll(`"${BEYOND}"`, '1e999');
const podSpec = fc.record(
  {
    nodeName: fc.constant<unknown>('n'),
    terminationGracePeriodSeconds: edge,
    activeDeadlineSeconds: edge,
    replicas: edge,
    size: edge,
    containers: edge.map((port) => [{ name: 'c', image: 'i', ports: [{ containerPort: port }] }]),
  },
  { requiredKeys: [] },
);

const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE');
const segment = fc.constantFrom(
  ...[
    'api',
    'apis',
    'v1',
    'apps',
    'example.com',
    'namespaces',
    'default',
    'pods',
    'configmaps',
    'widgets',
    'a',
    'status',
  ],
  ...['scale', 'finalize', '..', '%2e%2e', '%00', '', 'constructor', '__proto__', 'watch', '%zz'],
);
const wildPath = fc.array(segment, { maxLength: 8 }).map((parts) => `/${parts.join('/')}`);
const name = fc.constantFrom('a', 'b', '%20', 'constructor', 'default');
const grammarPath = fc
  .tuple(
    fc.constantFrom('/api/v1', '/apis/apps/v1', '/apis/example.com/v1'),
    fc.constantFrom('', '/namespaces/default'),
    fc.constantFrom('pods', 'configmaps', 'statefulsets', 'widgets', 'namespaces'),
    fc.option(name),
    fc.option(fc.constantFrom('status', 'scale', 'log')),
  )
  .map(
    ([root, scope, plural, one, below]) =>
      `${root}${scope}/${plural}${one === null ? '' : `/${one}${below === null ? '' : `/${below}`}`}`,
  );
const parameter = fc.tuple(
  fc.constantFrom(
    'limit',
    'continue',
    'resourceVersion',
    'resourceVersionMatch',
    'labelSelector',
    'fieldSelector',
    'dryRun',
    'fieldManager',
    'fieldValidation',
    'propagationPolicy',
    'gracePeriodSeconds',
    'force',
  ),
  fc.constantFrom(
    '',
    '0',
    '1',
    '-1',
    '99999999999999999999',
    'abc',
    'Exact',
    'NotOlderThan',
    'a=b',
    'a in (',
    'metadata.name=a',
    'All',
    'Strict',
    'Foreground',
    '\u0000',
    'true',
  ),
);
const query = fc.array(parameter, { maxLength: 4 }).map((pairs) => new URLSearchParams(pairs).toString());
const metadata = fc.record(
  {
    name: fc.constantFrom<unknown>('a', 'b', '', 'A', 5, null),
    generateName: fc.constantFrom<unknown>('g-', 7),
    namespace: fc.constantFrom<unknown>('default', 'other', ''),
    labels: fc.constantFrom<unknown>({ a: 'b' }, { a: 1 }, [], { '': 'x' }, null),
    finalizers: fc.constantFrom<unknown>(['x.io/y'], 'x', [1], ['orphan', 'foregroundDeletion']),
    resourceVersion: fc.constantFrom<unknown>('1', '999', 'abc', 3),
    ownerReferences: fc.constantFrom<unknown>([{}], [{ apiVersion: 'v1', kind: 'Event', name: 'x', uid: 'y' }], [null]),
    constructor: fc.constant<unknown>(1),
  },
  { requiredKeys: [] },
);
const anObject = fc.record(
  {
    metadata: fc.oneof(metadata, fc.constantFrom(null, 5, [])),
    spec: fc.oneof(fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>, podSpec, fc.constant(BEYOND)),
    gracePeriodSeconds: edge,
    kind: fc.constantFrom('Pod', 'Widget', 5),
    apiVersion: fc.constantFrom('v1', 'example.com/v1', ''),
  },
  { requiredKeys: [] },
);
const body = fc.oneof(
  anObject.map(textOf),
  fc.constantFrom('', '{', '[]', 'null', '5', '{"a":1,"a":2}', '{"__proto__":1}'),
);
const type = fc.constantFrom(
  'application/json',
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'text/plain',
  'constructor',
  '',
);

test('any request is answered: what is wrong with a Status, nothing with a failure of the server', async () => {
  const { request, of, errors } = await openServer();
  await of(crds).create(widgetDefinition());
  await fc.assert(
    fc.asyncProperty(
      method,
      fc.oneof(wildPath, grammarPath, grammarPath),
      query,
      body,
      type,
      async (verb, path, text, sent, media) => {
        const headers = media === '' ? {} : { 'content-type': media };
        const answer = await request(
          verb as 'GET',
          `${path}?${text}`,
          verb === 'GET' ? undefined : sent,
          headers as never,
        );
        // These odd answers are the real server's own.
        const theirs = /^resourceVersion should not be set|strconv\.ParseUint|^failed to create typed/;
        const isTheirs = theirs.test(answer.json.message ?? '');
        assert.ok(
          answer.status < 500 || answer.status === 504 || isTheirs,
          `${verb} ${path}?${text} ${sent}: ${answer.text}`,
        );
        if (answer.status >= 400) assert.deepEqual([answer.json.kind, answer.json.code], ['Status', answer.status]);
      },
    ),
    { numRuns: 400, seed: 11 },
  );
  assert.deepEqual(errors, []);
  assert.equal((await request('GET', '/api/v1/namespaces/default')).status, 200);
});

const anything = fc.oneof(
  edge,
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<unknown>,
  fc.constantFrom<unknown>('object', 'array', 'string', 'self.a > 1', {}, [], null, true, [{}], [null], { a: null }),
);
const keyword = fc.constantFrom(
  ...['type', 'properties', 'items', 'additionalProperties', 'required', 'enum', 'default', 'allOf', 'not', 'pattern'],
  ...['x-kubernetes-validations', 'x-kubernetes-list-type', 'x-kubernetes-list-map-keys', 'nullable', 'minimum'],
  ...['maximum', 'multipleOf', 'maxLength', 'minLength', 'maxItems', 'minItems', 'maxProperties', 'minProperties'],
  ...['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource', 'x-kubernetes-int-or-string'],
);
const schemas = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
  schema: fc
    .tuple(
      fc.dictionary(keyword, anything, { maxKeys: 3 }),
      fc.option(fc.dictionary(fc.constantFrom('spec', 'a', 'metadata', 'default'), tie('schema'), { maxKeys: 2 })),
      fc.option(tie('schema')),
    )
    .map(([words, properties, items]) => ({
      ...words,
      ...(properties === null ? {} : { type: 'object', properties }),
      ...(items === null ? {} : { type: 'array', items }),
    })),
})).schema;

/** Accepted more often than not: one thing said about the size of one field. */
const sizes: readonly (readonly [string, object, readonly string[]])[] = [
  ['text', { type: 'string' }, ['maxLength', 'minLength']],
  ['whole', { type: 'integer' }, ['maximum', 'minimum', 'multipleOf', 'default']],
  ['double', { type: 'number' }, ['maximum', 'minimum', 'multipleOf', 'default']],
  ['list', { type: 'array', items: { type: 'string' }, default: ['x'] }, ['maxItems', 'minItems']],
  ['map', { type: 'object', additionalProperties: { type: 'string' } }, ['maxProperties', 'minProperties']],
];
const rule = { 'x-kubernetes-validations': [{ rule: 'true' }] };
const sized = fc
  .tuple(fc.constantFrom(...sizes), fc.nat(), edge, fc.boolean())
  .map(([[field, type, words], pick, size, hasRule]) => {
    const said = { ...type, [words[pick % words.length] as string]: size, ...(hasRule ? rule : {}) };
    const others = Object.fromEntries(sizes.map(([name, plain]) => [name, plain]));
    const spec = { type: 'object', properties: { ...others, [field]: said } };
    return { type: 'object', properties: { spec } };
  });
const sizedSpec = fc.record(
  { text: fc.constant('x'), whole: edge, double: edge, list: fc.constant(['x']), map: fc.constant({ x: 'y' }) },
  { requiredKeys: [] },
);

test('any schema is refused or served, and any object of it answered', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(schemas, sized), fc.oneof(anything, sizedSpec), async (openAPIV3Schema, spec) => {
      const { request, errors } = await openServer();
      const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
      const made = await request('POST', path, textOf(widgetDefinition({}, { schema: { openAPIV3Schema } })));
      assert.ok(made.status < 500, `${stringifyJson(openAPIV3Schema)}: ${made.text}`);
      const body = textOf({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec, a: spec });
      if (made.status === 201) {
        const answer = await request('POST', '/apis/example.com/v1/namespaces/default/widgets', body);
        assert.ok(answer.status < 500, `${stringifyJson([openAPIV3Schema, spec])}: ${answer.text}`);
      }
      assert.deepEqual(errors, []);
    }),
    { numRuns: 200, seed: 5 },
  );
});

test('a number of any size is kept as it was sent, or refused', async () => {
  await fc.assert(
    fc.asyncProperty(edge, edge, fc.boolean(), async (first, second, isBeyond) => {
      const { request, of, errors } = await openServer();
      const set = { metadata: { name: 's' }, spec: { ...setSpec, replicas: first } };
      const made = await request('POST', '/apis/apps/v1/namespaces/default/statefulsets', textOf(set));
      const isInt32 = typeof first === 'number' && (first | 0) === first;
      const right = isInt32 ? (first < 0 ? 422 : 201) : 400;
      assert.equal(made.status, right, `${String(first)}: ${made.text}`);
      await of(crds).create(widgetDefinition());
      const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } };
      const free = isBeyond ? BEYOND : first;
      const path = '/apis/example.com/v1/namespaces/default/widgets';
      const kept = await request('POST', path, textOf({ ...widget, free }));
      assert.equal(kept.status, isBeyond ? 400 : 201, kept.text);
      if (!isBeyond) assert.ok(kept.text.includes(`"free":${stringifyJson(first)}`), kept.text);
      const pods = '/api/v1/namespaces/default/pods';
      const containers = [{ name: 'c', image: 'i' }];
      const spec = { nodeName: 'n', terminationGracePeriodSeconds: first, containers };
      const ways: readonly (readonly ['POST' | 'DELETE', string, object?])[] = [
        ['POST', pods, { metadata: { name: 'p' }, spec }],
        ['DELETE', `${pods}/p?dryRun=All`],
        ['DELETE', `${pods}/p`, { gracePeriodSeconds: second }],
        ['DELETE', `${pods}/p?gracePeriodSeconds=${String(first)}`],
      ];
      for (const [method, where, sent] of ways) {
        const answer = await request(method, where, sent && textOf(sent));
        assert.ok(answer.status < 500, `${method} ${where} ${textOf([first, second])}: ${answer.text}`);
      }
      assert.deepEqual(errors, []);
    }),
    { numRuns: 100, seed: 5 },
  );
});

test('any policy and binding is refused or asked', async () => {
  const names = ['matchConstraints', 'validations', 'variables', 'matchConditions', 'paramKind', 'failurePolicy'];
  const part = fc.dictionary(fc.constantFrom(...names, 'policyName', 'paramRef', 'matchResources'), anything);
  const group = '/apis/admissionregistration.k8s.io/v1';
  const good = {
    matchConstraints: {
      resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['configmaps'] }],
    },
    validations: [{ expression: 'object.metadata.name != params.x' }],
    paramKind: { apiVersion: 'v1', kind: 'Pod' },
  };
  await fc.assert(
    fc.asyncProperty(part, part, async (policy, binding) => {
      const { request, errors } = await openServer();
      const requests = [
        [`${group}/validatingadmissionpolicies`, { metadata: { name: 'p' }, spec: { ...good, ...policy } }],
        [
          `${group}/validatingadmissionpolicybindings`,
          { metadata: { name: 'b' }, spec: { policyName: 'p', validationActions: ['Deny'], ...binding } },
        ],
        ['/api/v1/namespaces/default/configmaps', { metadata: { name: 'c' } }],
      ] as const;
      for (const [path, body] of requests) {
        const answer = await request('POST', path, textOf(body));
        assert.ok(answer.status < 500, `${stringifyJson([policy, binding])}: ${answer.text}`);
      }
      assert.deepEqual(errors, []);
    }),
    { numRuns: 100, seed: 5 },
  );
});
