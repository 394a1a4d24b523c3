/** Custom kinds of several versions, and what is refused of definitions and objects: found by comparing with the real server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnyObject } from '@reeve/kube';
import { crds, openServer, refused, widgetDefinition, widgets } from './server-testing.ts';

const schema = (properties: object) => ({
  openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
});
const text = { type: 'string' };
const version = (name: string, more: object = {}) => ({
  name,
  served: true,
  storage: false,
  schema: schema({ a: text, b: text }),
  ...more,
});
const ofVersions = (...versions: readonly object[]): AnyObject => widgetDefinition({ versions });
const path = (name: string) => `/apis/example.com/${name}/namespaces/default/widgets`;
const widget = (more: object = {}) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w' },
  spec: { a: '1', b: '2' },
  ...more,
});

test('another version shows what it knows, and says that it is to go', async () => {
  const { of, request } = await openServer();
  const narrow = { schema: schema({ a: text }), deprecated: true };
  await of(crds).create(ofVersions(version('v1', { storage: true }), version('v1beta1', narrow)));
  assert.equal((await request('POST', path('v1'), widget())).status, 201);
  const other = await request('GET', `${path('v1beta1')}/w`);
  assert.deepEqual(other.json.spec, { a: '1' });
  assert.equal(other.headers.warning, '299 - "example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget"');
  assert.deepEqual((await request('GET', `${path('v1')}/w`)).json.spec, { a: '1', b: '2' });
  const list = (await request('GET', path('v1beta1'))).json as unknown as { items: AnyObject[] };
  assert.deepEqual(list.items[0]?.spec, { a: '1' });
});

test('an object without a version, and a path below an object that is not served', async () => {
  const { of, request } = await openServer();
  await of(crds).create(ofVersions(version('v1', { storage: true })));
  const { apiVersion: _, ...without } = widget();
  const { json } = await request('POST', path('v1'), without);
  assert.equal(json.message, 'the API version in the data () does not match the expected API version (example.com/v1)');
  await request('POST', path('v1'), widget());
  const below = await request('GET', `${path('v1')}/w/status`);
  assert.deepEqual([below.status, below.json.message], [404, 'widgets.example.com "w" not found']);
  const labels = await request('POST', path('v1'), widget({ metadata: { name: 'x', labels: { a: 1 } } }));
  assert.match(labels.json.message ?? '', /number into Go struct field ObjectMeta\.labels of type string$/);
});

test('definitions: stored versions and selectable fields are checked', async () => {
  const { of } = await openServer();
  const none = await refused(of(crds).create(ofVersions(version('v1'))));
  assert.match(
    none.message ?? '',
    /status\.storedVersions: Invalid value: null: must have at least one stored version/,
  );
  const both = [version('v1', { storage: true }), version('v2', { storage: true })];
  assert.match((await refused(of(crds).create(ofVersions(...both)))).message ?? '', /must have the storage version v2/);
  const fields = (jsonPath: string) => version('v1', { storage: true, selectableFields: [{ jsonPath }] });
  const lost = await refused(of(crds).create(ofVersions(fields('.spec.none'))));
  assert.equal(lost.details?.causes?.[0]?.field, 'spec.selectableFields[0].jsonPath');
  assert.match(
    (await refused(of(crds).create(ofVersions(fields('.spec'))))).message ?? '',
    /must point to a field of type/,
  );
  await of(crds).create(ofVersions(fields('.spec.a')));
});

test('scale of a custom kind below nothing', async () => {
  const { of, request } = await openServer();
  await of(crds).create(widgetDefinition());
  await request('POST', path('v1'), widget({ spec: { size: 1 } }));
  const answer = await request(
    'PATCH',
    `${path('v1')}/w/scale`,
    { spec: { replicas: -1 } },
    {
      'content-type': 'application/merge-patch+json',
    },
  );
  assert.equal(
    answer.json.message,
    'Widget.example.com "w" is invalid: .spec.size: Invalid value: -1: should be a non-negative integer',
  );
});

test('an apply that empties a map within a list or map leaves a null, which the schema refuses', async () => {
  const { of } = await openServer();
  const nested = { type: 'object', properties: { c: text } };
  await of(crds).create(ofVersions(version('v1', { storage: true, schema: schema({ nested }) })));
  const apply = (spec: object) => of(widgets).apply({ metadata: { name: 'w' }, spec }, { fieldManager: 'm' });
  await apply({ nested: { c: 'x' } });
  const status = await refused(apply({ nested: {} }));
  assert.match(
    status.message ?? '',
    /spec\.nested: Invalid value: "null": spec\.nested in body must be of type object/,
  );
});
