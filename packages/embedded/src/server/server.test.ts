import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type AnyObject, discover, isStatus, type Json, resource, type TransportRequest } from '@reeve/kube';
import { type Attributes, readTokenFile, tokenAuthentication } from '../access/access.ts';
import { configMaps, openServer, rawRequest, refused, setSpec, statefulSets } from './server-testing.ts';

test('discovery tells what is served', async () => {
  const { client, request } = await openServer();
  const sets = await discover(client, { group: 'apps', kind: 'StatefulSet' });
  assert.deepEqual([sets?.plural, sets?.version, sets?.namespaced], ['statefulsets', 'v1', true]);
  const { json } = await request('GET', '/apis/apps/v1');
  const resources = json.resources as { name: string; verbs: string[]; shortNames?: string[] }[];
  assert.deepEqual(
    resources.map(({ name }) => name),
    [
      'controllerrevisions',
      'deployments',
      'deployments/scale',
      'deployments/status',
      'replicasets',
      'replicasets/scale',
      'replicasets/status',
      'statefulsets',
      'statefulsets/scale',
      'statefulsets/status',
    ],
  );
  assert.deepEqual(resources.find(({ name }) => name === 'statefulsets')?.shortNames, ['sts']);
  assert.equal(((await request('GET', '/version')).json as unknown as { minor: string }).minor, '36');
  assert.equal((await request('GET', '/readyz')).text, 'ok');
  assert.deepEqual(((await request('GET', '/api')).json as unknown as { versions: string[] }).versions, ['v1']);
});

test('what is not served is refused with a Status that says so', async () => {
  const { request } = await openServer();
  const cases: readonly (readonly [TransportRequest['method'], string, number])[] = [
    ['GET', '/nonsense', 404],
    ['GET', '/api/v2', 404],
    ['GET', '/apis/none.example.com', 404],
    ['GET', '/apis/apps/v1/none', 404],
    ['GET', '/api/v1/namespaces/default/pods/p/log', 404],
    ['GET', '/api/v1/namespaces/default/pods/p/a/b', 404],
    ['GET', '/api/v1/configmaps/a', 404],
    ['GET', '/api/v1/namespaces/default/nodes/n', 404],
    ['PUT', '/api/v1/namespaces/default/configmaps', 405],
    ['POST', '/api/v1/namespaces/default/configmaps/a', 405],
    ['DELETE', '/api/v1/namespaces', 405],
    ['POST', '/version', 405],
    ['GET', '/api/v1/namespaces/default/configmaps?limit=x', 400],
    ['GET', '/api/v1/namespaces/%zz/configmaps', 400],
    ['PATCH', '/api/v1/namespaces/default/configmaps/a', 415],
  ];
  for (const [method, path, code] of cases) {
    const { status, json } = await request(method, path);
    assert.equal(status, code, `${method} ${path}`);
    assert.ok(isStatus(json) && json.code === code, path);
  }
  const impersonated = await request('GET', '/api/v1/nodes', undefined, { 'impersonate-user': 'x' });
  assert.equal(impersonated.status, 200);
});

test('patches and apply go through their doors, on the newest state', async () => {
  const { of, request } = await openServer({
    plugins: {
      patches: {
        merge: (target, patch) =>
          'refuse' in (patch as object)
            ? { status: { kind: 'Status', apiVersion: 'v1', code: 422, reason: 'Invalid', message: 'no such patch' } }
            : { object: { ...target, ...(patch as Record<string, Json>) } },
      },
      fields: {
        track: (object, _old, { manager, subresource }) => {
          const entry = { manager, operation: 'Update', ...(subresource && { subresource }) };
          return { ...object, metadata: { ...(object.metadata as object), managedFields: [entry] } };
        },
        apply: (applied, old, { manager, force }) => ({
          object: { ...(old ?? applied), ...applied, data: { by: `${manager} ${force}` } },
        }),
        keepTimes: (_old, object) => object,
      },
    },
  });
  const made = await of(configMaps).create({ metadata: { name: 'a' } }, { fieldManager: 'me' });
  assert.deepEqual(made.metadata.managedFields, [{ manager: 'me', operation: 'Update' }]);
  await Promise.all([
    of(configMaps).patch('a', { type: 'merge', value: { data: { x: '1' } } }),
    of(configMaps).patch('a', { type: 'merge', value: { immutable: true } }),
  ]);
  const both = await of(configMaps).get('a');
  assert.deepEqual([both.data, both.immutable], [{ x: '1' }, true]);
  const stale = await refused(
    of(configMaps).patch('a', { type: 'merge', value: { metadata: { ...both.metadata, resourceVersion: '1' } } }),
  );
  assert.equal(stale.reason, 'Conflict');
  const wrong = await refused(of(configMaps).patch('a', { type: 'merge', value: { refuse: true } }));
  assert.deepEqual([wrong.code, wrong.message], [422, 'no such patch']);
  assert.equal((await refused(of(configMaps).patch('none', { type: 'merge', value: {} }))).code, 404);
  const json = await refused(of(configMaps).patch('a', { type: 'json', value: [] }));
  assert.equal(
    json.message,
    'the body of the request was in an unknown format - accepted media types include: application/merge-patch+json, application/apply-patch+yaml',
  );
  const applied = await of(configMaps).apply(
    { metadata: { name: 'new' }, data: { k: 'v' } },
    { fieldManager: 'op', force: true },
  );
  assert.deepEqual(applied.data, { by: 'op true' });
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  const nameless = await request('PATCH', '/api/v1/namespaces/default/configmaps/new', {}, headers);
  assert.equal(
    nameless.json.message,
    'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
  );
  await of(statefulSets).create({ metadata: { name: 's' }, spec: setSpec });
  const scaled = await of(statefulSets).setScale('s', 7);
  assert.equal(scaled.spec?.replicas, 7);
  const set = await of(statefulSets).get('s');
  assert.equal(set.metadata.managedFields?.[0]?.subresource, 'scale');
});

test('every request is put to the authorizer as what it is', async () => {
  const asked: string[] = [];
  const authorize = ({ verb, path, group, resource: plural, subresource, namespace, name }: Attributes) => {
    asked.push([verb, path ?? [group, plural, subresource, namespace, name].join('|')].join(' '));
    return verb === 'delete' ? { allowed: false, reason: 'never' } : { allowed: true };
  };
  const { request, of } = await openServer({ authorize });
  await of(configMaps).create({ metadata: { name: 'a' } });
  const refusal = await refused(of(configMaps).delete('a'));
  assert.equal(
    refusal.message,
    'configmaps "a" is forbidden: User "reeve:admin" cannot delete resource "configmaps" in API group "" in the namespace "default": never',
  );
  await request('GET', '/apis/apps/v1/statefulsets?watch=true&timeoutSeconds=1&resourceVersion=abc');
  await request('GET', '/apis/apps/v1/namespaces/x/statefulsets/s/status');
  await request('DELETE', '/api/v1/nodes');
  await request('GET', '/api/v1/nodes?fieldSelector=metadata.name%3Dn');
  await request('GET', '/version');
  await request('GET', '/api/v1/namespaces/default');
  assert.deepEqual(asked, [
    'create |configmaps||default|',
    'delete |configmaps||default|a',
    'watch apps|statefulsets|||',
    'get apps|statefulsets|status|x|s',
    'deletecollection |nodes|||',
    'list |nodes|||n',
    'get /version',
    'get |namespaces||default|default',
  ]);
});

test('credentials decide who is let in', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-token-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'token');
  writeFileSync(file, 'a-token-that-is-long-enough\n', { mode: 0o600 });
  const { server } = await openServer({ authenticate: tokenAuthentication(await readTokenFile(file)) });
  const status = async (authorization?: string, path = '/api/v1/nodes') =>
    (await server.handle({ method: 'GET', path, headers: authorization === undefined ? {} : { authorization } }))
      .status;
  assert.equal(await status('Bearer a-token-that-is-long-enough'), 200);
  assert.equal(await status('bearer  a-token-that-is-long-enough'), 200);
  for (const wrong of [undefined, '', 'Bearer', 'Bearer x', 'Basic a-token-that-is-long-enough']) {
    assert.equal(await status(wrong), 401, wrong);
  }
  assert.equal(await status(undefined, '/livez'), 200);
  const nobody = await openServer();
  assert.equal((await nobody.server.handle({ method: 'GET', path: '/api/v1/nodes' })).status, 401);
  chmodSync(file, 0o644);
  await assert.rejects(readTokenFile(file), { code: 'EMBEDDED_TOKEN_FILE' });
  await assert.rejects(readTokenFile(join(folder, 'none')), { code: 'EMBEDDED_TOKEN_FILE' });
});

test('what nobody foresaw is an internal error that tells nothing', async () => {
  const { server, errors } = await openServer({
    authorize: () => {
      throw new Error('secret inside');
    },
  });
  const answer = await rawRequest(server)('GET', '/api/v1/nodes');
  assert.deepEqual([answer.status, answer.json.reason], [500, 'InternalError']);
  assert.ok(!answer.text.includes('secret'));
  assert.match(String(errors[0]), /secret inside/);
});

test('events of both groups are the same objects under other names', async () => {
  const { of } = await openServer();
  const events = resource({ group: 'events.k8s.io', version: 'v1', plural: 'events', kind: 'Event', namespaced: true });
  const core = resource({ group: '', version: 'v1', plural: 'events', kind: 'Event', namespaced: true });
  const made: AnyObject = await of(events).create({
    metadata: { name: 'e' },
    regarding: { kind: 'Pod', name: 'p' },
    note: 'hello',
    reportingController: 'me',
  });
  assert.deepEqual([made.note, made.involvedObject], ['hello', undefined]);
  const same: AnyObject = await of(core).get('e');
  assert.deepEqual([same.message, same.involvedObject, same.note], ['hello', { kind: 'Pod', name: 'p' }, undefined]);
  assert.equal((await of(core).list({ fieldSelector: 'involvedObject.name=p' })).items.length, 1);
  const updated = await of(events).update({ ...(await of(events).get('e')), note: 'bye' });
  assert.equal(updated.note, 'bye');
  assert.equal(((await of(core).get('e')) as AnyObject).message, 'bye');
});
