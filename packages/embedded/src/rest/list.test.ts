import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { metadataOnly } from '@reeve/kube';
import { configMaps, openServer, pods, refused } from '../server/server-testing.ts';
import { matchesLabels, parseLabelSelector } from '../selector/labels.ts';
import { parseFieldSelector } from '../selector/fields.ts';

async function withMaps(...names: string[]) {
  const server = await openServer();
  for (const name of names) await server.of(configMaps).create({ metadata: { name, labels: { app: name } } });
  return server;
}
const namesOf = (list: { readonly items: readonly { readonly metadata: { readonly name?: string } }[] }) =>
  list.items.map(({ metadata }) => metadata.name);

test('a list has the version of the whole, and items of built-in kinds without kind', async () => {
  const { request } = await withMaps('b', 'a');
  const { json, text } = await request('GET', '/api/v1/namespaces/default/configmaps');
  assert.deepEqual([json.kind, json.apiVersion, json.metadata], ['ConfigMapList', 'v1', { resourceVersion: '6' }]);
  assert.deepEqual(namesOf(json as never), ['a', 'b']);
  assert.ok(!text.includes('"ConfigMap"'));
  const none = await request('GET', '/api/v1/namespaces/nowhere/configmaps');
  assert.deepEqual([none.status, (none.json as unknown as { items: unknown[] }).items], [200, []]);
});

test('pages show one state, whatever happens meanwhile', async () => {
  const { of } = await withMaps('a', 'b', 'c', 'd', 'e');
  const first = await of(configMaps).list({ limit: 2 });
  assert.deepEqual([namesOf(first), first.metadata.remainingItemCount], [['a', 'b'], 3]);
  await of(configMaps).delete('c');
  await of(configMaps).create({ metadata: { name: 'bb' } });
  const token = first.metadata.continue as string;
  assert.deepEqual(JSON.parse(Buffer.from(token, 'base64url').toString()), {
    v: 'meta.k8s.io/v1',
    rv: 9,
    start: 'b\u0000',
  });
  const second = await of(configMaps).list({ limit: 2, continue: token });
  assert.deepEqual([namesOf(second), second.metadata.resourceVersion], [['c', 'd'], first.metadata.resourceVersion]);
  const third = await of(configMaps).list({ limit: 2, continue: second.metadata.continue as string });
  assert.deepEqual([namesOf(third), third.metadata.continue], [['e'], undefined]);
  assert.deepEqual(namesOf(await of(configMaps).listAll({ limit: 1 })), ['a', 'b', 'bb', 'd', 'e']);
});

test('a page that is too old is gone, with a way to go on inconsistently', async () => {
  const { of, store } = await withMaps('a', 'b', 'c');
  const first = await of(configMaps).list({ limit: 1 });
  await of(configMaps).delete('c');
  store.compact(store.revision);
  const gone = await refused(of(configMaps).list({ limit: 1, continue: first.metadata.continue as string }));
  assert.deepEqual([gone.code, gone.reason], [410, 'Expired']);
  assert.match(gone.message ?? '', /^The provided continue parameter is too old to display a consistent list result\./);
  const token = (gone as unknown as { metadata: { continue: string } }).metadata.continue;
  assert.deepEqual(namesOf(await of(configMaps).list({ continue: token })), ['b']);
  const broken = await refused(of(configMaps).list({ continue: 'nonsense' }));
  assert.deepEqual(
    [broken.code, broken.message?.startsWith('invalid continue token: continue key is not valid')],
    [400, true],
  );
});

test('a list at a version is that state, a newer one, or a refusal', async () => {
  const { of, store } = await withMaps('a', 'b');
  const at = { resourceVersion: '5', resourceVersionMatch: 'Exact' } as const;
  assert.deepEqual(namesOf(await of(configMaps).list(at)), ['a']);
  assert.deepEqual(namesOf(await of(configMaps).list({ resourceVersion: '5', limit: 5 })), ['a']);
  assert.deepEqual(namesOf(await of(configMaps).list({ resourceVersion: '5' })), ['a', 'b']);
  assert.deepEqual(namesOf(await of(configMaps).list({ resourceVersion: '0' })), ['a', 'b']);
  const future = await refused(of(configMaps).list({ resourceVersion: '99' }));
  assert.deepEqual([future.code, future.message], [504, 'Timeout: Too large resource version: 99, current: 6']);
  assert.equal(future.details?.causes?.[0]?.reason, 'ResourceVersionTooLarge');
  store.compact(6);
  const old = await refused(of(configMaps).list(at));
  assert.deepEqual([old.code, old.message], [410, 'The resourceVersion for the provided list is too old.']);
  const bad = await refused(of(configMaps).list({ resourceVersionMatch: 'Exact' }));
  assert.equal(
    bad.message,
    'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
  );
});

test('selectors by label and field', async () => {
  const { of, request } = await withMaps('a', 'b', 'c');
  assert.deepEqual(namesOf(await of(configMaps).list({ labelSelector: 'app in (a, c)' })), ['a', 'c']);
  assert.deepEqual(namesOf(await of(configMaps).list({ fieldSelector: 'metadata.name!=b' })), ['a', 'c']);
  assert.deepEqual(namesOf(await of(configMaps).list({ fieldSelector: 'metadata.namespace=other' })), []);
  const unknown = await refused(of(configMaps).list({ fieldSelector: 'data.x=1' }));
  assert.deepEqual(
    [unknown.code, unknown.message],
    [400, '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"'],
  );
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  await of(pods).create({ metadata: { name: 'p' }, spec: { ...spec, nodeName: 'n1' } });
  await of(pods).create({ metadata: { name: 'q' }, spec });
  assert.deepEqual(namesOf(await of(pods).list({ fieldSelector: 'spec.nodeName=n1,status.phase=Pending' })), ['p']);
  assert.deepEqual(namesOf(await of(pods).list({ fieldSelector: 'spec.nodeName=' })), ['q']);
  const page = await request('GET', '/api/v1/namespaces/default/configmaps?limit=1&labelSelector=app%21%3Da');
  assert.deepEqual(Object.keys(page.json.metadata).sort(), ['continue', 'resourceVersion']);
});

test('metadata alone, when asked for; other forms are refused with a Status', async () => {
  const { of, request } = await withMaps('a');
  const partial = await of(metadataOnly(configMaps) as typeof configMaps).list();
  assert.equal(partial.kind, 'PartialObjectMetadataList');
  assert.deepEqual([partial.items[0]?.kind, partial.items[0]?.metadata.name], ['PartialObjectMetadata', 'a']);
  const path = '/api/v1/namespaces/default/configmaps';
  const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
  const refusedTable = await request('GET', path, undefined, table);
  assert.deepEqual(
    [refusedTable.status, refusedTable.json.reason, refusedTable.json.message],
    [406, 'NotAcceptable', 'only the following media types are accepted: application/json'],
  );
  const either = await request('GET', path, undefined, { accept: `${table.accept},application/json` });
  assert.equal(either.json.kind, 'ConfigMapList');
  assert.equal((await request('GET', path, undefined, { accept: 'application/vnd.kubernetes.protobuf' })).status, 406);
  const yaml = await request('POST', path, 'a: b', { 'content-type': 'application/yaml' });
  assert.deepEqual([yaml.status, yaml.json.reason], [415, 'UnsupportedMediaType']);
});

test('label selectors are read as the server reads them', () => {
  const labels = { app: 'web', tier: 'a', n: '5' };
  const matching = [
    '',
    'app',
    '!old',
    'app=web',
    'app==web',
    'app!=x',
    'tier in (a,b)',
    'tier notin (c)',
    'gone notin (x)',
    'gone!=x',
    'n>4',
    'n<6',
    ' app = web , tier',
    'in in (in),app'.replace('in in (in),', ''),
  ];
  for (const text of matching) assert.ok(matchesLabels(parseLabelSelector(text), labels), text);
  const failing = ['gone', '!app', 'app=x', 'tier in (b)', 'tier in ()', 'app=', 'n>5', 'app>1', 'toString'];
  for (const text of failing) assert.ok(!matchesLabels(parseLabelSelector(text), labels), text);
  const refusals: Record<string, string> = {
    'app=web,': "found '', expected: identifier after ','",
    'app web': "unable to parse requirement: found 'web', expected: in, notin, =, ==, !=, gt, lt",
    ',': "found ',', expected: !, identifier, or 'end of string'",
    'a in b': "unable to parse requirement: found 'b' expected: '('",
    'a>x': `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`,
  };
  for (const [text, message] of Object.entries(refusals)) {
    assert.throws(() => parseLabelSelector(text), { message }, text);
  }
});

test('no selector takes long or breaks anything', () => {
  const part = fc.constantFrom(
    'a',
    '=',
    '!',
    '(',
    ')',
    ',',
    ' ',
    'in',
    'notin',
    '>',
    '==',
    '\\',
    '/',
    '-',
    '__proto__',
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      for (const parse of [parseLabelSelector, parseFieldSelector]) {
        try {
          parse(parts.join(''));
        } catch (error) {
          assert.equal((error as { name: string }).name, 'Refusal');
        }
      }
    }),
    { numRuns: 200, seed: 3 },
  );
  for (const hostile of ['('.repeat(60_000), 'a in ('.repeat(9_000), 'a,'.repeat(30_000), '='.repeat(60_000)]) {
    assert.throws(() => parseLabelSelector(hostile), { name: 'Refusal' });
  }
  assert.throws(() => parseLabelSelector('a'.repeat(70_000)), { name: 'Refusal' });
});
