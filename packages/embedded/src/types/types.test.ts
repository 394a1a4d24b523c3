import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployment } from '../cases/thing-testing.ts';
import { builtinTypes } from './builtin.ts';
import { customType } from './custom.ts';
import { canonicalQuantity } from './quantity.ts';
import type { ListType, MapType, Type } from './type.ts';

test('every type of the tables can be read', () => {
  const seen = new Set<MapType | ListType>();
  const visit = ({ map, list }: Type): void => {
    for (const form of [map, list]) {
      if (!form || seen.has(form)) continue;
      seen.add(form);
      if (form.element) visit(form.element);
      if ('fields' in form) for (const { type } of form.fields.values()) visit(type);
    }
  };
  const kinds = [
    [
      'v1',
      'Pod PodTemplate Service ConfigMap Secret ServiceAccount PersistentVolumeClaim Namespace Event Node Endpoints PersistentVolume',
    ],
    ['apps/v1', 'StatefulSet Deployment ReplicaSet ControllerRevision DaemonSet'],
    ['batch/v1', 'Job CronJob'],
    ['policy/v1', 'PodDisruptionBudget'],
    ['rbac.authorization.k8s.io/v1', 'Role RoleBinding ClusterRole ClusterRoleBinding'],
    ['coordination.k8s.io/v1', 'Lease'],
    ['events.k8s.io/v1', 'Event'],
    ['discovery.k8s.io/v1', 'EndpointSlice'],
    ['scheduling.k8s.io/v1', 'PriorityClass'],
    ['storage.k8s.io/v1', 'StorageClass'],
    ['admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding'],
    ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
  ] as const;
  for (const [apiVersion, names] of kinds) {
    for (const kind of names.split(' ')) {
      const types = builtinTypes(apiVersion, kind);
      assert.ok(types, `${apiVersion} ${kind}`);
      for (const type of types.versions.values()) visit(type);
    }
  }
  assert.ok(seen.size > 150, `${seen.size}`);
  assert.equal(builtinTypes('v1', 'Nothing'), undefined);
});

test('a field may say otherwise than its type whether it is one value', () => {
  const typeAt = (apiVersion: string, kind: string, ...path: readonly string[]): Type | undefined =>
    path.reduce<Type | undefined>(
      (type, name) => type?.map?.fields.get(name)?.type,
      builtinTypes(apiVersion, kind)?.versions.get(apiVersion),
    );
  assert.equal(typeAt('v1', 'PersistentVolume', 'spec', 'claimRef')?.map?.atomic, false);
  assert.equal(typeAt('v1', 'Event', 'involvedObject')?.map?.atomic, true);
  assert.equal(typeAt('v1', 'Pod', 'spec', 'nodeSelector')?.map?.atomic, true);
});

test('a built-in object gets the form of the server', () => {
  const types = builtinTypes('apps/v1', 'Deployment');
  const given = deployment({
    metadata: { labels: {}, annotations: { a: '' }, creationTimestamp: null },
    spec: {
      replicas: 0,
      paused: false,
      unknown: 1,
      template: { spec: { hostNetwork: false, containers: [{ name: 'c', resources: null, ports: [] }] } },
    },
  });
  assert.deepEqual(types?.shaped(given), {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name: 'one', namespace: 'default', annotations: { a: '' } },
    spec: {
      replicas: 0,
      selector: null,
      template: { metadata: {}, spec: { containers: [{ name: 'c', resources: {} }] } },
      strategy: {},
    },
    status: {},
  });
});

test('quantities have one spelling', () => {
  const table: Readonly<Record<string, string>> = {
    '0.5': '500m',
    '1500m': '1500m',
    '2000m': '2',
    '1024Mi': '1Gi',
    '1.5Gi': '1536Mi',
    '512': '512',
    '1024': '1024',
    '1000': '1k',
    '0.1Ki': '102400m',
    '1e3': '1e3',
    '12E': '12E',
    '0': '0',
    '-0.5': '-500m',
    '.5': '500m',
    '0.0000000001': '1n',
    nonsense: 'nonsense',
    '': '',
  };
  for (const [given, wanted] of Object.entries(table)) assert.equal(canonicalQuantity(given), wanted, given);
  assert.equal(canonicalQuantity(2), '2');
});

test('the types of a custom kind follow its schema', () => {
  const { map } = customType({
    type: 'object',
    properties: {
      a: {
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        properties: { b: { type: 'object', properties: { c: { type: 'string' } } } },
      },
      d: { type: 'string', format: 'date-time' },
      e: { type: 'object' },
      f: { type: 'object', properties: { g: { type: 'string' } } },
      h: { type: 'array', items: { type: 'string' } },
    },
  });
  const field = (name: string): Type | undefined => map?.fields.get(name)?.type;
  // Below a place where unknown fields pass they pass everywhere.
  assert.ok(field('a')?.map?.fields.get('b')?.type.map?.element);
  assert.equal(field('d')?.scalar, 'untyped');
  assert.ok(field('e')?.map?.element);
  assert.equal(field('f')?.map?.element, undefined);
  assert.equal(field('h')?.list?.relation, 'atomic');
  assert.equal(field('metadata')?.map?.fields.get('finalizers')?.type.list?.relation, 'set');
  assert.equal(map?.element, undefined);
});
