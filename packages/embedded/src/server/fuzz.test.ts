import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { crds, openServer, widgetDefinition } from './server-testing.ts';

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
    spec: fc.jsonValue({ maxDepth: 3 }),
    kind: fc.constantFrom('Pod', 'Widget', 5),
    apiVersion: fc.constantFrom('v1', 'example.com/v1', ''),
  },
  { requiredKeys: [] },
);
const body = fc.oneof(
  anObject.map((value) => JSON.stringify(value)),
  fc.constantFrom('', '{', '[]', 'null', '5', '{"a":1,"a":2}', '{"__proto__":1}'),
);
const type = fc.constantFrom('application/json', 'application/merge-patch+json', 'text/plain', 'constructor', '');

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
        // Two odd answers are the real server's own.
        const isTheirs = /^resourceVersion should not be set|strconv\.ParseUint/.test(answer.json.message ?? '');
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
