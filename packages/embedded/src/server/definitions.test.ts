import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnyObject, resource } from '@reeve/kube';
import type { EmbeddedError } from '../errors/errors.ts';
import type { ObjectRules } from '../kinds/kind.ts';
import type { Draft } from '../object/draft.ts';
import { invalid } from '../status/field-error.ts';
import { memoryJournal } from '../store/journal.ts';
import { Store } from '../store/store.ts';
import { ApiServer } from './server.ts';
import {
  crds,
  openServer,
  rawRequest,
  refused,
  testClock,
  testRandom,
  turn,
  widgetDefinition,
  widgets,
} from './server-testing.ts';

type Conditions = { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
const conditionsOf = (crd: AnyObject) =>
  (crd.status as Conditions).conditions.map(({ type, status }) => `${type}=${status}`);

test('a definition is established, and its kind served, from the answer on', async () => {
  const { of, request } = await openServer();
  assert.equal((await request('GET', '/apis/example.com/v1/widgets')).status, 404);
  const crd = await of(crds).create(widgetDefinition());
  assert.deepEqual(conditionsOf(crd), ['NamesAccepted=True', 'Established=True']);
  assert.deepEqual((crd.status as AnyObject).storedVersions, ['v1']);
  assert.deepEqual((crd.spec as AnyObject).conversion, { strategy: 'None' });
  const made = await of(widgets).create({ metadata: { name: 'w' }, spec: { size: 3 }, status: { size: 9 } });
  assert.equal(made.metadata.generation, 1);
  assert.equal(made.status, undefined);
  const list = await of(widgets).list();
  assert.deepEqual(
    [list.kind, list.items[0]?.kind, list.items[0]?.apiVersion],
    ['WidgetList', 'Widget', 'example.com/v1'],
  );
  assert.equal((await of(widgets).scale('w')).spec?.replicas, 3);
});

test('generation, status and version of custom objects', async () => {
  const { of } = await openServer();
  await of(crds).create(widgetDefinition());
  const made = await of(widgets).create({ metadata: { name: 'w' }, spec: { size: 3 } });
  const status = await of(widgets).update(
    { ...made, metadata: { ...made.metadata, labels: { no: 'way' } }, spec: { size: 4 }, status: { size: 1 } },
    { subresource: 'status' },
  );
  assert.deepEqual(
    [status.spec, status.status, status.metadata.labels, status.metadata.generation],
    [{ size: 3 }, { size: 1 }, undefined, 1],
  );
  const changed = await of(widgets).update({ ...status, spec: { size: 5 }, status: {} });
  assert.deepEqual([changed.metadata.generation, changed.status], [2, { size: 1 }]);
  const blind = await refused(of(widgets).update({ ...changed, metadata: { name: 'w', resourceVersion: '' } }));
  assert.match(
    blind.message ?? '',
    /^widgets\.example\.com "w" is invalid: metadata\.resourceVersion: Invalid value: 0/,
  );
});

test('deleting a definition deletes its objects first, and honours their finalizers', async () => {
  const { of, store, server } = await openServer();
  await of(crds).create(widgetDefinition());
  await of(widgets).create({ metadata: { name: 'free' } });
  const held = await of(widgets).create({ metadata: { name: 'held', finalizers: ['x.io/hold'] } });
  const ended: string[] = [];
  const watching = (async () => {
    for await (const event of of(widgets).watch({ resourceVersion: held.metadata.resourceVersion }))
      ended.push(event.type);
    ended.push('end');
  })();
  await turn();
  const going = (await of(crds).delete('widgets.example.com')) as AnyObject;
  assert.deepEqual(going.metadata.finalizers, ['customresourcecleanup.apiextensions.k8s.io']);
  assert.ok(conditionsOf(going).includes('Terminating=True'));
  await turn();
  assert.equal(await of(widgets).find('free'), undefined);
  const marked = await of(widgets).get('held');
  assert.notEqual(marked.metadata.deletionTimestamp, undefined);
  const late = await refused(of(widgets).create({ metadata: { name: 'late' } }));
  assert.deepEqual(
    [late.code, late.message],
    [
      403,
      'widgets.example.com "late" is forbidden: create not allowed while custom resource definition is terminating',
    ],
  );
  await of(widgets).update({ ...marked, metadata: { ...marked.metadata, finalizers: [] } });
  await watching;
  assert.deepEqual(ended, ['DELETED', 'MODIFIED', 'DELETED', 'end']);
  assert.equal(await of(crds).find('widgets.example.com'), undefined);
  assert.equal((await rawRequest(server)('GET', '/apis/example.com/v1/widgets')).status, 404);
  assert.equal(store.count('widgets.example.com'), 0);
  // The same name again is a new kind.
  await of(crds).create(widgetDefinition());
  assert.deepEqual((await of(widgets).list()).items, []);
});

test('a server that starts finds its kinds again, and finishes what it began', async () => {
  const journal = memoryJournal();
  const clock = { now: () => 0, sleep: () => new Promise<void>(() => undefined) };
  const random = { next: () => 0.5 };
  const open = async () => {
    const store = await Store.open({ journal, clock });
    return { store, server: await ApiServer.open({ store, clock, random }) };
  };
  const first = await open();
  const post = (path: string, object: object) => rawRequest(first.server)('POST', path, object);
  assert.equal((await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgetDefinition())).status, 201);
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } };
  assert.equal((await post('/apis/example.com/v1/namespaces/default/widgets', widget)).status, 201);
  first.server.close();
  // The deletion is marked, then the process is gone before it can clean up.
  const request = rawRequest(first.server)(
    'DELETE',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com',
  );
  await request;
  const second = await open();
  await turn();
  await turn();
  assert.equal(second.store.count('widgets.example.com'), 0);
  assert.equal(second.store.count('customresourcedefinitions.apiextensions.k8s.io'), 0);
});

test('what a definition must be', async () => {
  const { of } = await openServer();
  const message = async (crd: AnyObject) => (await refused(of(crds).create(crd))).message;
  assert.equal(
    await message({ ...widgetDefinition(), metadata: { name: 'other.example.com' } }),
    'CustomResourceDefinition.apiextensions.k8s.io "other.example.com" is invalid: metadata.name: Invalid value: "other.example.com": must be spec.names.plural+"."+spec.group',
  );
  assert.match(
    (await message(widgetDefinition({}, { storage: false }))) ?? '',
    /must have exactly one version marked as storage version/,
  );
  assert.match(
    (await message(widgetDefinition({ scope: 'Galaxy' }))) ?? '',
    /spec\.scope: Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced"/,
  );
  assert.match(
    (await message(widgetDefinition({}, { schema: {} }))) ?? '',
    /spec\.versions\[0\]\.schema\.openAPIV3Schema: Required value/,
  );
  const made = await of(crds).create(widgetDefinition());
  const spec = made.spec as { versions: object[] };
  const moved = await refused(
    of(crds).update({ ...made, spec: { ...spec, versions: spec.versions.map((one) => ({ ...one, name: 'v2' })) } }),
  );
  assert.match(moved.message ?? '', /status\.storedVersions\[0\]: Invalid value: "v1": missing from spec\.versions/);
  const rival = widgetDefinition({ names: { plural: 'gadgets', kind: 'Widget' } });
  const second = await of(crds).create({ ...rival, metadata: { name: 'gadgets.example.com' } });
  assert.deepEqual(conditionsOf(second), ['NamesAccepted=False', 'Established=False']);
});

test('versions of one kind share their objects; fields of a version can be selected', async () => {
  const { of, request } = await openServer();
  const version = (name: string, more: object) => ({
    name,
    served: true,
    storage: false,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
    ...more,
  });
  const spec = { type: 'object', properties: { colour: { type: 'string' } } };
  const versions = [
    version('v1beta1', {}),
    version('v1', { storage: true, selectableFields: [{ jsonPath: '.spec.colour' }] }),
  ];
  await of(crds).create(widgetDefinition({ versions }));
  const old = resource({ ...widgets, version: 'v1beta1' });
  await of(old).create({ metadata: { name: 'r' }, spec: { colour: 'red' } });
  await of(widgets).create({ metadata: { name: 'b' }, spec: { colour: 'blue' } });
  assert.equal((await of(widgets).get('r')).apiVersion, 'example.com/v1');
  assert.equal((await of(old).get('b')).apiVersion, 'example.com/v1beta1');
  const blue = await of(widgets).list({ fieldSelector: 'spec.colour=blue' });
  assert.deepEqual(
    blue.items.map(({ metadata }) => metadata.name),
    ['b'],
  );
  const unknown = await refused(of(old).list({ fieldSelector: 'spec.colour=blue' }));
  assert.equal(unknown.message, 'field label not supported: spec.colour');
  const group = (await request('GET', '/apis/example.com')).json as unknown as { preferredVersion: object };
  assert.deepEqual(group.preferredVersion, { groupVersion: 'example.com/v1', version: 'v1' });
});

test('rules of a version are asked, and their errors told', async () => {
  const asked: string[] = [];
  const rules: ObjectRules = {
    decode(object) {
      const spec = object.spec as { extra?: number; size?: number } | undefined;
      const unknown = spec?.extra === undefined ? [] : ['spec.extra'];
      delete spec?.extra;
      return { unknown };
    },
    validate: (object) =>
      (object.spec as AnyObject | undefined)?.size === undefined ? [invalid('spec.size', null, 'must be there')] : [],
    validateUpdate: () => (asked.push('update'), []),
    validateStatusUpdate: () => (asked.push('status'), []),
  };
  const { of, request } = await openServer({ customRules: (_crd, version) => (version === 'v1' ? rules : undefined) });
  await of(crds).create(widgetDefinition());
  const bad = await refused(of(widgets).create({ metadata: { name: 'w' } }));
  assert.equal(bad.message, 'Widget.example.com "w" is invalid: spec.size: Invalid value: null: must be there');
  const strict = await refused(of(widgets).create({ metadata: { name: 'w' }, spec: { size: 1, extra: 2 } }));
  assert.match(strict.message ?? '', /^Widget in version "v1" cannot be handled .*: unknown field "spec.extra"$/);
  const path = '/apis/example.com/v1/namespaces/default/widgets';
  const made = await request('POST', path, {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'w' },
    spec: { size: 1, extra: 2 },
  });
  assert.equal(made.headers.warning, '299 - "unknown field \\"spec.extra\\""');
  assert.deepEqual(made.json.spec, { size: 1 });
  const updated = await of(widgets).update(await of(widgets).get('w'), { subresource: 'status' });
  await of(widgets).update({ ...updated, spec: { size: 2 } });
  assert.deepEqual(asked, ['status', 'update']);
});

test('a definition that cannot be served is reported, now and after a restart, and stops nothing else', async () => {
  const journal = memoryJournal();
  const clock = testClock();
  const problem = new Error('rules that cannot be made');
  const customRules = (crd: Draft) => {
    if (crd.metadata.name === 'widgets.example.com') throw problem;
    return undefined;
  };
  const errors: unknown[] = [];
  const open = async () => {
    const store = await Store.open({ journal, clock });
    const onError = (error: unknown) => errors.push(error);
    return ApiServer.open({ store, clock, random: testRandom(), customRules, onError });
  };
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const gadgets = { names: { plural: 'gadgets', kind: 'Gadget' } };
  const check = async (server: ApiServer) => {
    const request = rawRequest(server);
    assert.equal((await request('GET', '/apis/example.com/v1/widgets')).status, 404);
    assert.equal((await request('GET', '/apis/example.com/v1/gadgets')).status, 200);
    assert.deepEqual(
      errors.splice(0).map((error) => [(error as EmbeddedError).code, (error as EmbeddedError).cause]),
      [['EMBEDDED_DEFINITION', problem]],
    );
  };
  const first = await open();
  const post = (body: object) => rawRequest(first)('POST', path, body);
  assert.equal((await post(widgetDefinition())).status, 201);
  const other = { ...widgetDefinition(gadgets), metadata: { name: 'gadgets.example.com' } };
  assert.equal((await post(other)).status, 201);
  await check(first);
  await check(await open());
});

test('sizes and bounds of a schema may be any integers of their types', async () => {
  const { request, errors } = await openServer();
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const largest = '9223372036854775807';
  const sizes = {
    text: '{"type":"string","maxLength":LARGEST}',
    bytes: '{"type":"string","format":"byte","maxLength":LARGEST}',
    either: '{"x-kubernetes-int-or-string":true,"maxLength":LARGEST}',
    list: '{"type":"array","maxItems":LARGEST,"items":{"type":"string"},"default":["x"]}',
    map: '{"type":"object","maxProperties":LARGEST,"additionalProperties":{"type":"string"},"default":{"x":"y"}}',
    long: '{"type":"string","minLength":LARGEST}',
  };
  const schema = `{"type":"object","properties":{"spec":{"type":"object","properties":{${Object.entries(sizes)
    .map(([name, one]) => `"${name}":${one.replace('LARGEST', largest)}`)
    .join()}}}}}`;
  const definition = JSON.stringify(widgetDefinition({}, { schema: { openAPIV3Schema: '<schema>' } }));
  const made = await request('POST', path, definition.replace('"<schema>"', schema));
  assert.equal(made.status, 201, made.text);
  assert.match(made.text, /"maxLength":9223372036854775807/);
  const widget = (spec: object) => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec });
  const widgetsPath = '/apis/example.com/v1/namespaces/default/widgets';
  const long = await request('POST', widgetsPath, widget({ long: 'x' }));
  assert.match(long.json.message ?? '', /spec\.long in body should be at least 9223372036854775807 chars long/);
  const good = await request('POST', widgetsPath, widget({ text: 'x', bytes: 'eA==', either: 'x' }));
  assert.deepEqual([good.status, (good.json.spec as AnyObject).list], [201, ['x']], good.text);
  assert.deepEqual(errors, []);
});

test('sizes of a schema that are no int64 are refused with their place, at any depth', async () => {
  const { request } = await openServer();
  const refusal = async (property: string) => {
    const schema = `{"type":"object","properties":{"spec":{"type":"object","properties":{"a":${property}}}}}`;
    const definition = JSON.stringify(widgetDefinition({}, { schema: { openAPIV3Schema: '<schema>' } }));
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const { status, json } = await request('POST', path, definition.replace('"<schema>"', schema));
    const before =
      'CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: json: cannot unmarshal ';
    assert.deepEqual([status, json.message?.slice(0, before.length)], [400, before], json.message);
    return json.message?.slice(before.length);
  };
  const at = (field: string) =>
    `into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.properties.${field}`;
  assert.equal(await refusal('{"type":"string","maxLength":1.5}'), `number 1.5 ${at('maxLength')} of type int64`);
  assert.equal(
    await refusal('{"type":"string","minLength":9223372036854775808}'),
    `number 9223372036854775808 ${at('minLength')} of type int64`,
  );
  assert.equal(
    await refusal('{"type":"array","items":{"type":"array","items":{"type":"string"},"maxItems":1.5}}'),
    `number 1.5 ${at('items.maxItems')} of type int64`,
  );
  assert.equal(
    await refusal('{"type":"object","additionalProperties":{"type":"object","not":{"maxProperties":0.5}}}'),
    `number 0.5 ${at('additionalProperties.not.maxProperties')} of type int64`,
  );
  assert.equal(await refusal('{"type":"number","maximum":"x"}'), `string ${at('maximum')} of type float64`);
});
