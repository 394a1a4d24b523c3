/** What the server adds to a new object besides its defaults belongs to nobody. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnyObject, resource } from '@reeve/kube';
import { configMaps, namespaces, openServer, pods } from '../server/server-testing.ts';

const services = resource({ group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true });

function ownedSpec(made: AnyObject): readonly string[] {
  const [entry] = made.metadata.managedFields ?? [];
  return Object.keys((entry?.fieldsV1 as Record<string, object> | undefined)?.['f:spec'] ?? {});
}

test('a pod does not own its priority, nor what it tolerates', async () => {
  const { of } = await openServer();
  const made = await of(pods).create({ metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
  assert.equal((made.spec as { priority: number }).priority, 0);
  assert.deepEqual(
    ownedSpec(made as AnyObject).filter((one) => /priority|preemption|tolerations/.test(one)),
    [],
  );
});

test('a namespace does not own its finalizer, but its label', async () => {
  const { of } = await openServer();
  const made = (await of(namespaces).create({ metadata: { name: 'n' } })) as AnyObject;
  assert.deepEqual(made.spec, { finalizers: ['kubernetes'] });
  assert.deepEqual(made.metadata.managedFields?.[0]?.fieldsV1, {
    'f:metadata': { 'f:labels': { '.': {}, 'f:kubernetes.io/metadata.name': {} } },
  });
});

test('a service does not own its families, and keeps them when an update leaves them out', async () => {
  const { of, request } = await openServer();
  const spec = { clusterIP: 'None', ports: [{ port: 1 }], selector: { a: 'b' } };
  const made = (await of(services).create({ metadata: { name: 's' }, spec })) as AnyObject;
  assert.deepEqual(
    ownedSpec(made).filter((one) => /ip|clusterIPs/.test(one)),
    [],
  );
  const path = '/api/v1/namespaces/default/services/s';
  const body = { metadata: { name: 's' }, spec: { ...spec, ports: [{ port: 2 }] } };
  const changed = (await request('PUT', path, body)).json as unknown as { spec: Record<string, unknown> };
  assert.deepEqual(
    [changed.spec.ipFamilies, changed.spec.ipFamilyPolicy, changed.spec.clusterIPs],
    [['IPv4'], 'SingleStack', ['None']],
  );
});

test('immutable data stays, endpoints have a protocol, and a list of no metadata is null', async () => {
  const { of, request } = await openServer();
  await of(configMaps).create({ metadata: { name: 'a' }, data: { k: '1' }, immutable: true } as AnyObject);
  const merge = { 'content-type': 'application/merge-patch+json' };
  const path = '/api/v1/namespaces/default/configmaps';
  const changed = await request('PATCH', `${path}/a`, { data: { k: '2' }, immutable: false }, merge);
  assert.deepEqual(
    [changed.status, changed.json.details?.causes?.map(({ field }) => field)],
    [422, ['immutable', 'data']],
  );
  const wrong = await request('POST', path, { metadata: { name: 'b' }, data: { k: 1 } });
  assert.match(wrong.json.message ?? '', /Go struct field ConfigMap\.data of type string$/);
  const subsets = [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 1 }] }];
  const made = await request('POST', '/api/v1/namespaces/default/endpoints', { metadata: { name: 'e' }, subsets });
  assert.deepEqual((made.json.subsets as typeof subsets)[0]?.ports, [{ port: 1, protocol: 'TCP' }]);
  const accept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
  const none = await request('GET', '/api/v1/namespaces/default/secrets', undefined, { accept });
  assert.equal((none.json as unknown as { items: unknown }).items, null);
});

test('what is odd is told also when the object is refused afterwards, and only what was found by then', async () => {
  const { request } = await openServer();
  const path = '/api/v1/namespaces/default/pods';
  const env = ['1', '2'].map((value) => ({ name: 'a', value }));
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i', env }] } };
  const hidden = /hides previous definition of \\"a\\"/;
  assert.match(String((await request('POST', path, pod)).headers.warning), hidden);
  const again = await request('POST', path, pod);
  assert.equal(again.status, 409);
  assert.match(String(again.headers.warning), hidden);
  const wrong = { ...pod, metadata: { name: 'q' }, unheard: 1, spec: { ...pod.spec, restartPolicy: 'Maybe' } };
  const refused = await request('POST', path, wrong);
  assert.deepEqual([refused.status, refused.headers.warning], [422, '299 - "unknown field \\"unheard\\""']);
});
