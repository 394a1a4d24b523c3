import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeClient } from '../client/client.ts';
import { failureBody, scripted } from '../client/server-testing.ts';
import { testPorts } from '../ports/testing.ts';
import { discover, resourcesOf, servedResources } from './discovery.ts';

const served: Readonly<Record<string, object>> = {
  '/api/v1': { resources: [{ name: 'pods', kind: 'Pod', namespaced: true, verbs: ['get', 'list'] }] },
  '/apis': {
    groups: [{ name: 'example.dev', preferredVersion: { groupVersion: 'example.dev/v2', version: 'v2' } }],
  },
  '/apis/example.dev': { preferredVersion: { groupVersion: 'example.dev/v2', version: 'v2' } },
  '/apis/example.dev/v2': {
    resources: [
      {
        name: 'widgets',
        kind: 'Widget',
        namespaced: false,
        verbs: ['get'],
        singularName: 'widget',
        shortNames: ['wd'],
      },
      { name: 'widgets/status', kind: 'Widget', namespaced: false, verbs: ['get'] },
      { name: 'widgets/scale', kind: 'Scale', namespaced: false, verbs: ['get'] },
    ],
  },
};

const client = new KubeClient({
  ...testPorts(),
  transport: scripted(({ path }) =>
    path.startsWith('/apis/broken')
      ? { status: 503, body: failureBody(503, 'ServiceUnavailable') }
      : served[path]
        ? { body: served[path] }
        : { status: 404, body: '404 page not found' },
  ).transport,
});

test('a kind is found by its group and version, or by the version the server prefers', async () => {
  const pod = await discover(client, { group: '', kind: 'Pod' });
  assert.deepEqual(pod, {
    group: '',
    version: 'v1',
    plural: 'pods',
    kind: 'Pod',
    namespaced: true,
    verbs: ['get', 'list'],
    subresources: [],
    singular: '',
    shortNames: [],
  });
  const widget = await discover(client, { group: 'example.dev', kind: 'Widget' });
  assert.deepEqual([widget?.version, widget?.namespaced, widget?.subresources], ['v2', false, ['status', 'scale']]);
});

test('what is not installed is undefined, what cannot be known is an error', async () => {
  assert.equal(await discover(client, { group: 'example.dev', kind: 'Gadget' }), undefined);
  assert.equal(await discover(client, { group: 'example.dev', version: 'v1', kind: 'Widget' }), undefined);
  assert.equal(await discover(client, { group: 'other.dev', kind: 'Widget' }), undefined);
  assert.deepEqual(await resourcesOf(client, 'other.dev', 'v1'), []);
  await assert.rejects(discover(client, { group: 'broken.dev', kind: 'X' }), { code: 'KUBE_SERVER_ERROR' });
});

test('everything that is served is found, with the names that people use', async () => {
  const all = await servedResources(client);
  assert.deepEqual(
    all.map(({ group, version, plural, singular, shortNames }) => [group, version, plural, singular, ...shortNames]),
    [
      ['', 'v1', 'pods', ''],
      ['example.dev', 'v2', 'widgets', 'widget', 'wd'],
    ],
  );
});
