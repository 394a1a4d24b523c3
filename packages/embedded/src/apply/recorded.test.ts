/** What kube-apiserver 1.36.3 answered to creates of built-in kinds: their defaults belong to whoever created. */
import type { JsonObject } from '../object/draft.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtin } from '../cases/thing-testing.ts';
import { builtinTypes } from '../types/builtin.ts';
import type { KindTypes } from '../types/kind-types.ts';
import { asList, asMap } from '../types/type.ts';
import { trackUpdate } from './track.ts';

function fieldsAfterCreate(object: JsonObject): unknown {
  const types = builtinTypes(object['apiVersion'] as string, object['kind'] as string) as KindTypes;
  const tracked = trackUpdate({ types, after: types.shaped(object), manager: 'u', now: 0 });
  const [entry] = asList(asMap(tracked['metadata'])?.['managedFields']) ?? [];
  return asMap(entry)?.['fieldsV1'];
}

test('a Deployment with its defaults', () => {
  const object = builtin('apps/v1', 'Deployment', {
    spec: {
      replicas: 1,
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: {
          containers: [
            {
              name: 'c',
              image: 'i',
              resources: {},
              terminationMessagePath: '/dev/termination-log',
              terminationMessagePolicy: 'File',
              imagePullPolicy: 'Always',
            },
          ],
          restartPolicy: 'Always',
          terminationGracePeriodSeconds: 30,
          dnsPolicy: 'ClusterFirst',
          securityContext: {},
          schedulerName: 'default-scheduler',
        },
      },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    },
    status: {},
  });
  const container = {
    '.': {},
    'f:image': {},
    'f:imagePullPolicy': {},
    'f:name': {},
    'f:resources': {},
    'f:terminationMessagePath': {},
    'f:terminationMessagePolicy': {},
  };
  assert.deepEqual(fieldsAfterCreate(object), {
    'f:spec': {
      'f:progressDeadlineSeconds': {},
      'f:replicas': {},
      'f:revisionHistoryLimit': {},
      'f:selector': {},
      'f:strategy': { 'f:rollingUpdate': { '.': {}, 'f:maxSurge': {}, 'f:maxUnavailable': {} }, 'f:type': {} },
      'f:template': {
        'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } },
        'f:spec': {
          'f:containers': { 'k:{"name":"c"}': container },
          'f:dnsPolicy': {},
          'f:restartPolicy': {},
          'f:schedulerName': {},
          'f:securityContext': {},
          'f:terminationGracePeriodSeconds': {},
        },
      },
    },
  });
});

test('a Service with its defaults, before it has an address', () => {
  const object = builtin('v1', 'Service', {
    spec: {
      ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
      type: 'ClusterIP',
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
    },
  });
  assert.deepEqual(fieldsAfterCreate(object), {
    'f:spec': {
      'f:internalTrafficPolicy': {},
      'f:ports': {
        '.': {},
        'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {}, 'f:protocol': {}, 'f:targetPort': {} },
      },
      'f:sessionAffinity': {},
      'f:type': {},
    },
  });
});

test('a new object comes to the same entry by the short way and by the long one', () => {
  const labels = { a: 'b' };
  const spec = { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 1 }] }], nodeSelector: {} };
  const objects = [
    builtin('v1', 'ConfigMap', { metadata: { labels, finalizers: ['x.io/y'] }, data: { a: '1' } }),
    builtin('v1', 'ConfigMap', {}),
    builtin('v1', 'Pod', { spec, status: { phase: 'Running' } }),
  ];
  for (const object of objects) {
    const types = builtinTypes(object['apiVersion'] as string, object['kind'] as string) as KindTypes;
    const after = types.shaped(object);
    const metadata = { ...asMap(after['metadata']), managedFields: [{}] };
    const request = { types, manager: 'u', now: 0 };
    assert.deepEqual(trackUpdate({ ...request, after }), trackUpdate({ ...request, after: { ...after, metadata } }));
  }
});
