/** What the server adds to a new object besides its defaults belongs to nobody. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnyObject, resource } from '@reeve/kube';
import { namespaces, openServer, pods } from '../server/server-testing.ts';

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
