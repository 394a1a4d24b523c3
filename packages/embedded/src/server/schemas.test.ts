/** Custom kinds with their schemas, end to end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnyObject } from '@reeve/kube';
import {
  configMaps,
  crds,
  openServer,
  pods,
  refused,
  statefulSets,
  widgetDefinition,
  widgets,
} from './server-testing.ts';

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      'x-kubernetes-validations': [
        { rule: '!has(self.max) || self.size <= self.max', message: 'size must not be beyond max' },
        { rule: 'self.size >= oldSelf.size', messageExpression: "'cannot shrink to %d'.format([self.size])" },
      ],
      properties: {
        size: { type: 'integer', minimum: 1 },
        max: { type: 'integer' },
        colour: { type: 'string', default: 'grey', enum: ['grey', 'red'] },
        name: { type: 'string', pattern: '^[a-z]+$', maxLength: 5 },
      },
    },
    status: { type: 'object', properties: { size: { type: 'integer' } } },
  },
};

async function openWithSchema(openAPIV3Schema: object = schema) {
  const server = await openServer();
  await server.of(crds).create(widgetDefinition({}, { schema: { openAPIV3Schema } }));
  return server;
}

const widget = (spec: object, rest: object = {}): AnyObject => ({ metadata: { name: 'w' }, spec, ...rest });

test('defaults are filled in, unknown fields dropped, warned of or refused', async () => {
  const { of, request } = await openWithSchema();
  const made = await of(widgets).create(widget({ size: 1 }));
  assert.deepEqual(made.spec, { size: 1, colour: 'grey' });
  const strict = await refused(of(widgets).create({ ...widget({ size: 1, huge: { a: 1 } }), extra: 1 } as AnyObject));
  assert.equal(
    strict.message,
    'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "extra", unknown field "spec.huge"',
  );
  const body = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'x' }, spec: { size: 1, huge: 1 } };
  const warned = await request('POST', '/apis/example.com/v1/namespaces/default/widgets', body);
  assert.deepEqual([warned.status, warned.headers.warning], [201, '299 - "unknown field \\"spec.huge\\""']);
  assert.deepEqual(warned.json.spec, { size: 1, colour: 'grey' });
});

test('values are checked, all errors told at once', async () => {
  const { of } = await openWithSchema();
  const status = await refused(of(widgets).create(widget({ size: 0, colour: 'blue', name: 'TOOLONG' })));
  assert.equal(status.code, 422);
  const causes = status.details?.causes?.map(({ field, reason }) => `${field} ${reason}`);
  assert.deepEqual(causes?.sort(), [
    '<nil> FieldValueInvalid',
    'spec.colour FieldValueNotSupported',
    'spec.name FieldValueTooLong',
    'spec.size FieldValueInvalid',
  ]);
  const none = await refused(of(widgets).create(widget({})));
  assert.match(none.message ?? '', /spec\.size: Required value/);
});

test('rules hold on creation, and transition rules on update, patch and scale', async () => {
  const { of } = await openWithSchema();
  const beyond = await refused(of(widgets).create(widget({ size: 3, max: 2 })));
  assert.equal(beyond.message, 'Widget.example.com "w" is invalid: spec: Invalid value: size must not be beyond max');
  const made = await of(widgets).create(widget({ size: 3 }));
  const shrunk = 'Widget.example.com "w" is invalid: spec: Invalid value: cannot shrink to 2';
  assert.equal((await refused(of(widgets).update({ ...made, spec: { size: 2 } }))).message, shrunk);
  const patch = { type: 'merge', value: { spec: { size: 2 } } } as const;
  assert.equal((await refused(of(widgets).patch('w', patch))).message, shrunk);
  assert.equal((await refused(of(widgets).apply(widget({ size: 2 }) as never, { force: true }))).message, shrunk);
  assert.equal((await of(widgets).patch('w', { type: 'merge', value: { spec: { size: 4 } } })).metadata.generation, 2);
});

test('a status is checked against its schema, and only through its own path', async () => {
  const { of } = await openWithSchema();
  const made = await of(widgets).create(widget({ size: 3 }, { status: { size: 1 } }));
  assert.equal(made.status, undefined);
  const wrong = await refused(of(widgets).update({ ...made, status: { size: 'x' } }, { subresource: 'status' }));
  assert.match(wrong.message ?? '', /status\.size: Invalid value: "string"/);
  const right = await of(widgets).update({ ...made, status: { size: 2 } }, { subresource: 'status' });
  assert.deepEqual(right.status, { size: 2 });
  assert.deepEqual(
    right.metadata.managedFields?.map(({ manager, subresource }) => [manager, subresource]),
    [
      ['reeve', undefined],
      ['reeve', 'status'],
    ],
  );
});

test('a definition whose schema is none is refused, and an unchanged one not looked at again', async () => {
  const { of } = await openServer();
  const create = (openAPIV3Schema: object) =>
    refused(of(crds).create(widgetDefinition({}, { schema: { openAPIV3Schema } })));
  const untyped = await create({ type: 'object', properties: { spec: {} } });
  assert.match(
    untyped.message ?? '',
    /spec\.validation\.openAPIV3Schema\.properties\[spec\]\.type: Required value: must not be empty for specified object fields/,
  );
  const rule = { rule: 'self.nope > 1' };
  const spec = { type: 'object', 'x-kubernetes-validations': [rule] };
  const ruled = await create({ type: 'object', properties: { spec } });
  assert.match(ruled.message ?? '', /undefined field 'nope'/);
  const odd = await create({ type: 'array', items: 5 } as object);
  assert.equal(odd.code, 400);
  const nulls = {
    type: 'object',
    properties: { a: { type: 'array', items: { type: 'object', properties: { b: null } } } },
  };
  assert.match((await create(nulls)).message ?? '', /items\.properties\[b\]\.type: Required value/);
});

test('a schema changes what is served at once', async () => {
  const { of } = await openWithSchema({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true });
  await of(widgets).create(widget({ free: 1 }));
  const definition = await of(crds).get('widgets.example.com');
  await of(crds).update({ ...definition, spec: widgetDefinition({}, { schema: { openAPIV3Schema: schema } }).spec });
  const bad = await refused(of(widgets).create({ metadata: { name: 'v' }, spec: { size: 0 } }));
  assert.equal(bad.code, 422);
});

test('built-in kinds: unknown fields and other types are refused', async () => {
  const { of, request } = await openServer();
  const strict = await refused(of(configMaps).create({ metadata: { name: 'a' }, datta: {} } as AnyObject));
  assert.equal(
    strict.message,
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "datta"',
  );
  const warned = await request('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'a' }, datta: {} });
  assert.deepEqual([warned.headers.warning, 'datta' in warned.json], ['299 - "unknown field \\"datta\\""', false]);
  const containers = [{ name: 'c', image: 'i', ports: [{ containerPort: 1, extra: 2 }] }];
  const deep = await refused(of(pods).create({ metadata: { name: 'p' }, spec: { containers } }));
  assert.match(deep.message ?? '', /unknown field "spec\.containers\[0\]\.ports\[0\]\.extra"$/);
  const wrong = await refused(
    of(statefulSets).create({ metadata: { name: 's' }, spec: { replicas: 'three', template: {} } }),
  );
  assert.match(
    wrong.message ?? '',
    /json: cannot unmarshal string into Go struct field StatefulSetSpec\.spec\.replicas/,
  );
  const twice = '{"metadata":{"name":"a"},"data":{"a":"1","a":"2"}}';
  const { json } = await request('POST', '/api/v1/namespaces/default/configmaps', twice);
  assert.match(json.message ?? '', /strict decoding error: duplicate field "data\.a"$/);
});

test('a dry run of every sort of write changes nothing', async () => {
  const { of, store } = await openWithSchema();
  const made = await of(widgets).create(widget({ size: 1 }));
  const before = store.revision;
  const dry = { dryRun: true } as const;
  assert.deepEqual((await of(widgets).apply(widget({ size: 5 }) as never, { ...dry, force: true })).spec, {
    size: 5,
    colour: 'grey',
  });
  await of(widgets).patch('w', { type: 'json', value: [{ op: 'replace', path: '/spec/size', value: 7 }] }, dry);
  await of(widgets).update({ ...made, spec: { size: 8 } }, dry);
  await of(widgets).create({ metadata: { name: 'other' }, spec: { size: 1 } }, dry);
  assert.equal(store.revision, before);
  assert.deepEqual((await of(widgets).get('w')).spec, { size: 1, colour: 'grey' });
});

test('patches are refused where they do not belong: another name, strategic for custom kinds, YAML', async () => {
  const { of, request } = await openWithSchema();
  await of(widgets).create(widget({ size: 1 }));
  const other = await refused(of(widgets).patch('w', { type: 'merge', value: { metadata: { name: 'v' } } }));
  assert.equal(other.message, 'the name of the object (v) does not match the name on the URL (w)');
  assert.equal((await refused(of(widgets).patch('w', { type: 'strategic', value: {} }))).code, 415);
  const path = '/apis/example.com/v1/namespaces/default/widgets/w?fieldManager=m';
  const yaml = await request('PATCH', path, 'kind: Widget\n', { 'content-type': 'application/apply-patch+yaml' });
  assert.equal(yaml.status, 415);
});
