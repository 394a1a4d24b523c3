/** Built-in kinds. Steps avoid creates that are no applies: what they own depends on the kind's defaults. */
import type { Case } from './case-testing.ts';
import { builtin, configMap, deployment, service } from './thing-testing.ts';

const labels = { app: 'one' };
const pod = (spec: object) => ({
  spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: spec as never } },
});

const claim = (storage: string) =>
  builtin('v1', 'PersistentVolumeClaim', {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
  });

export const builtinCases: readonly Case[] = [
  {
    name: 'data of a ConfigMap is owned key by key',
    steps: [
      { by: 'a', apply: configMap({ data: { x: '1' } }) },
      { by: 'b', apply: configMap({ data: { y: '2' } }) },
      { by: 'a', apply: configMap({}) },
    ],
    expected: { values: { data: { y: '2' } }, owns: { 'b Apply': ['.data.y'] } },
  },
  {
    name: 'a null that is applied is owned and stored as nothing',
    steps: [{ by: 'a', apply: configMap({ data: null, binaryData: { b: 'aGk=' } }) }],
    expected: {
      values: { data: undefined, binaryData: { b: 'aGk=' } },
      owns: { 'a Apply': ['.binaryData.b', '.data'] },
    },
  },
  {
    name: 'an applied empty list of finalizers owns nothing',
    steps: [{ by: 'a', apply: configMap({ metadata: { finalizers: [] }, data: { x: '1' } }) }],
    expected: { values: { 'metadata.finalizers': undefined }, owns: { 'a Apply': ['.data.x'] } },
  },
  {
    name: 'ports of a Service are told apart by port and protocol',
    steps: [
      { by: 'a', apply: service({ spec: { ports: [{ name: 'dns', port: 53, protocol: 'UDP' }] } }) },
      { by: 'b', apply: service({ spec: { ports: [{ name: 'dns-tcp', port: 53 }] } }) },
    ],
    expected: {
      owns: {
        'a Apply': [
          '.spec.ports[port=53,protocol="UDP"]',
          '.spec.ports[port=53,protocol="UDP"].name',
          '.spec.ports[port=53,protocol="UDP"].port',
          '.spec.ports[port=53,protocol="UDP"].protocol',
        ],
        'b Apply': [
          '.spec.ports[port=53,protocol="TCP"]',
          '.spec.ports[port=53,protocol="TCP"].name',
          '.spec.ports[port=53,protocol="TCP"].port',
        ],
      },
    },
  },
  {
    name: 'the selector of a Service is one value',
    steps: [
      { by: 'a', apply: service({ spec: { selector: labels, ports: [{ port: 80 }] } }) },
      {
        by: 'b',
        apply: service({ spec: { selector: { app: 'two' } } }),
        fails: { code: 409, message: 'Apply failed with 1 conflict: conflict with "a": .spec.selector' },
      },
    ],
    expected: { values: { 'spec.selector': labels } },
  },
  {
    name: 'containers, their variables and ports are merged by key',
    steps: [
      {
        by: 'a',
        apply: deployment(
          pod({
            containers: [{ name: 'c', image: 'i:1', env: [{ name: 'X', value: '1' }], ports: [{ containerPort: 80 }] }],
          }),
        ),
      },
      {
        by: 'b',
        apply: deployment({
          spec: { template: { spec: { containers: [{ name: 'c', env: [{ name: 'Y', value: '2' }] }] } } },
        }),
      },
    ],
    expected: {
      owns: {
        'a Apply': [
          '.spec.selector',
          '.spec.template.metadata.labels.app',
          '.spec.template.spec.containers[name="c"]',
          '.spec.template.spec.containers[name="c"].env[name="X"]',
          '.spec.template.spec.containers[name="c"].env[name="X"].name',
          '.spec.template.spec.containers[name="c"].env[name="X"].value',
          '.spec.template.spec.containers[name="c"].image',
          '.spec.template.spec.containers[name="c"].name',
          '.spec.template.spec.containers[name="c"].ports[containerPort=80,protocol="TCP"]',
          '.spec.template.spec.containers[name="c"].ports[containerPort=80,protocol="TCP"].containerPort',
        ],
        'b Apply': [
          '.spec.template.spec.containers[name="c"]',
          '.spec.template.spec.containers[name="c"].env[name="Y"]',
          '.spec.template.spec.containers[name="c"].env[name="Y"].name',
          '.spec.template.spec.containers[name="c"].env[name="Y"].value',
          '.spec.template.spec.containers[name="c"].name',
        ],
      },
    },
  },
  {
    name: 'command and args are one value each, volumes are merged',
    steps: [
      {
        by: 'a',
        apply: deployment(
          pod({
            containers: [{ name: 'c', image: 'i', command: ['x'], args: ['y'] }],
            volumes: [{ name: 'v', emptyDir: {} }],
          }),
        ),
      },
      {
        by: 'b',
        apply: deployment({ spec: { template: { spec: { volumes: [{ name: 'w', configMap: { name: 'm' } }] } } } }),
      },
      {
        by: 'b',
        apply: deployment({ spec: { template: { spec: { containers: [{ name: 'c', args: ['z'] }] } } } }),
        fails: {
          code: 409,
          message: 'Apply failed with 1 conflict: conflict with "a": .spec.template.spec.containers[name="c"].args',
        },
      },
    ],
    expected: {
      owns: {
        'a Apply': [
          '.spec.selector',
          '.spec.template.metadata.labels.app',
          '.spec.template.spec.containers[name="c"]',
          '.spec.template.spec.containers[name="c"].args',
          '.spec.template.spec.containers[name="c"].command',
          '.spec.template.spec.containers[name="c"].image',
          '.spec.template.spec.containers[name="c"].name',
          '.spec.template.spec.volumes[name="v"]',
          '.spec.template.spec.volumes[name="v"].emptyDir',
          '.spec.template.spec.volumes[name="v"].name',
        ],
        'b Apply': [
          '.spec.template.spec.volumes[name="w"]',
          '.spec.template.spec.volumes[name="w"].configMap.name',
          '.spec.template.spec.volumes[name="w"].name',
        ],
      },
    },
  },
  {
    name: 'a scaler takes the replicas of a Deployment by update',
    steps: [
      {
        by: 'a',
        apply: deployment({ spec: { replicas: 1, ...pod({ containers: [{ name: 'c', image: 'i' }] }).spec } }),
      },
      { by: 'scaler', merge: { spec: { replicas: 5 } } },
      {
        by: 'a',
        apply: deployment({ spec: { replicas: 1, ...pod({ containers: [{ name: 'c', image: 'i' }] }).spec } }),
        fails: {
          code: 409,
          message: 'Apply failed with 1 conflict: conflict with "scaler" using apps/v1: .spec.replicas',
        },
      },
      { by: 'a', apply: deployment(pod({ containers: [{ name: 'c', image: 'i' }] })) },
    ],
    expected: { values: { 'spec.replicas': 5 } },
  },
  {
    name: 'quantities are stored in one spelling; applied again in another they change nothing',
    steps: [
      { by: 'a', apply: claim('1024Mi') },
      // The real server writes a claim once more here, whatever is applied.
      { by: 'a', apply: claim('1024Mi') },
      { by: 'a', apply: claim('1024Mi'), unchanged: true },
      { by: 'a', apply: claim('1Gi'), unchanged: true },
    ],
    expected: { values: { 'spec.resources.requests.storage': '1Gi' } },
  },
  {
    name: 'rules of a Role are one value',
    steps: [
      {
        by: 'a',
        apply: builtin('rbac.authorization.k8s.io/v1', 'Role', {
          rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
        }),
      },
      {
        by: 'b',
        apply: builtin('rbac.authorization.k8s.io/v1', 'Role', { metadata: { labels } }),
      },
    ],
    expected: { owns: { 'a Apply': ['.rules'], 'b Apply': ['.metadata.labels.app'] } },
  },
  {
    name: 'a Lease changes hands by update',
    steps: [
      { by: 'a', apply: builtin('coordination.k8s.io/v1', 'Lease', { spec: { holderIdentity: 'a' } }) },
      { by: 'b', merge: { spec: { holderIdentity: 'b', leaseTransitions: 1 } } },
    ],
    expected: {
      values: { 'spec.holderIdentity': 'b' },
      owns: { 'b Update': ['.spec.holderIdentity', '.spec.leaseTransitions'] },
    },
  },
  {
    name: 'pull secrets of a ServiceAccount are one value, its secrets are merged',
    steps: [
      {
        by: 'a',
        apply: builtin('v1', 'ServiceAccount', { imagePullSecrets: [{ name: 'p' }], secrets: [{ name: 's' }] }),
      },
      { by: 'b', apply: builtin('v1', 'ServiceAccount', { secrets: [{ name: 't' }] }) },
    ],
    expected: {
      values: { secrets: [{ name: 's' }, { name: 't' }] },
      owns: { 'a Apply': ['.imagePullSecrets', '.secrets[name="s"]'], 'b Apply': ['.secrets[name="t"]'] },
    },
  },
  {
    name: 'the selector of a PodDisruptionBudget is one value',
    steps: [
      {
        by: 'a',
        apply: builtin('policy/v1', 'PodDisruptionBudget', {
          spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
        }),
      },
      { by: 'a', apply: builtin('policy/v1', 'PodDisruptionBudget', { spec: { selector: { matchLabels: labels } } }) },
    ],
    expected: {
      values: { 'spec.maxUnavailable': undefined, 'spec.selector': { matchLabels: labels } },
      owns: { 'a Apply': ['.spec.selector'] },
    },
  },
];
