/** What built-in kinds are filled in with. */
import type { Json } from '@reeve/kube';
import { type Case, get, merge, post, put } from '../case.ts';

type Fields = { [key: string]: Json };

const within = (group: string, plural: string): string =>
  `${group === 'v1' ? '/api' : '/apis'}/${group}/namespaces/<ns>/${plural}`;
const labels = { app: 'x' };
const container: Fields = { name: 'c', image: 'i' };
const template: Fields = { metadata: { labels }, spec: { containers: [container] } };

/** Created, and read back. */
function made(name: string, path: string, object: Fields, ...changes: readonly Fields[]): Case {
  const named = { ...object, metadata: { name: 'one', ...(object['metadata'] as Fields | undefined) } };
  const one = `${path}/${named.metadata.name as string}`;
  return {
    name: `defaults: ${name}`,
    steps: [post(path, named), ...changes.map((change) => merge(one, change)), get(one)],
  };
}

const pods = within('v1', 'pods');
const everyContainer: Fields = {
  ...container,
  image: 'registry.example/i:v1@sha256:0000000000000000000000000000000000000000000000000000000000000000',
  ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP', name: 'dns' }],
  env: [
    { name: 'A', value: 'a' },
    { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    { name: 'C', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
    { name: 'D', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
  ],
  resources: { limits: { cpu: '1000m', memory: '1Gi' }, requests: { memory: '512Mi' } },
  livenessProbe: { httpGet: { port: 80 } },
  readinessProbe: { tcpSocket: { port: 'dns' }, periodSeconds: 3 },
  startupProbe: { exec: { command: ['true'] } },
  lifecycle: { preStop: { httpGet: { port: 80 } } },
  volumeMounts: [{ name: 'e', mountPath: '/e' }],
  securityContext: { runAsUser: 1 },
};
const volumes: Json = [
  { name: 'e', emptyDir: {} },
  { name: 's', secret: { secretName: 's' } },
  { name: 'c', configMap: { name: 'c', items: [{ key: 'k', path: 'p' }] } },
  { name: 'd', downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.labels' } }] } },
  { name: 'h', hostPath: { path: '/tmp' } },
  { name: 'p', persistentVolumeClaim: { claimName: 'p' } },
  { name: 'j', projected: { sources: [{ serviceAccountToken: { path: 't' } }, { configMap: { name: 'c' } }] } },
  {
    name: 'v',
    ephemeral: {
      volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    },
  },
];

export const defaultCases: readonly Case[] = [
  made('a small pod', pods, { spec: { containers: [container] } }),
  made('a pod with everything', pods, {
    metadata: { labels },
    spec: {
      containers: [everyContainer],
      initContainers: [{ name: 'i', image: 'i:latest' }],
      volumes,
      hostNetwork: false,
      serviceAccountName: 'default',
      tolerations: [{ key: 'k', operator: 'Exists' }],
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: 'k', labelSelector: { matchLabels: labels } },
          ],
        },
      },
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'k', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: labels } },
      ],
    },
  }),
  made('a pod in the network of its host', pods, {
    spec: { hostNetwork: true, containers: [{ ...container, ports: [{ containerPort: 80, hostPort: 80 }] }] },
  }),
  made('pods of the three classes', pods, {
    spec: {
      containers: [{ ...container, resources: { limits: { cpu: '1', memory: '1Gi' } } }],
    },
  }),
  made('a headless service', within('v1', 'services'), {
    spec: { clusterIP: 'None', selector: labels, ports: [{ port: 80 }] },
  }),
  made('a headless service without a selector', within('v1', 'services'), {
    spec: {
      clusterIP: 'None',
      ports: [
        { port: 80, name: 'a' },
        { port: 81, name: 'b', targetPort: 'x' },
      ],
    },
  }),
  made('a service that is a name', within('v1', 'services'), {
    spec: { type: 'ExternalName', externalName: 'a.example' },
  }),
  made(
    'a secret',
    within('v1', 'secrets'),
    { stringData: { a: 'text' }, data: { b: 'aGk=' } },
    { stringData: { b: 'new' } },
  ),
  made('a config map', within('v1', 'configmaps'), { data: { a: 'b' }, binaryData: { c: 'aGk=' }, immutable: false }),
  made('a service account', within('v1', 'serviceaccounts'), { automountServiceAccountToken: false }),
  made('a claim', within('v1', 'persistentvolumeclaims'), {
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'x', resources: { requests: { storage: '1024Mi' } } },
  }),
  made('endpoints', within('v1', 'endpoints'), {
    subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }],
  }),
  made('an event', within('v1', 'events'), {
    involvedObject: { kind: 'Pod', namespace: '<ns>', name: 'p' },
    reason: 'Because',
    message: 'm',
    type: 'Normal',
  }),
  made('a stateful set', within('apps/v1', 'statefulsets'), {
    spec: {
      serviceName: 's',
      selector: { matchLabels: labels },
      template,
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    },
  }),
  made(
    'a stateful set with everything',
    within('apps/v1', 'statefulsets'),
    {
      spec: {
        replicas: 3,
        serviceName: 's',
        podManagementPolicy: 'Parallel',
        updateStrategy: { type: 'OnDelete' },
        revisionHistoryLimit: 2,
        minReadySeconds: 3,
        ordinals: { start: 1 },
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' },
        selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['x'] }] },
        template: { metadata: { labels }, spec: { containers: [everyContainer], volumes } },
      },
    },
    { spec: { replicas: 5 } },
  ),
  made('a deployment', within('apps/v1', 'deployments'), { spec: { selector: { matchLabels: labels }, template } }),
  made('a deployment that is recreated', within('apps/v1', 'deployments'), {
    spec: { strategy: { type: 'Recreate' }, replicas: 0, selector: { matchLabels: labels }, template },
  }),
  made('a replica set', within('apps/v1', 'replicasets'), { spec: { selector: { matchLabels: labels }, template } }),
  made('a controller revision', within('apps/v1', 'controllerrevisions'), { revision: 3, data: { any: ['thing'] } }),
  made('a job', within('batch/v1', 'jobs'), {
    spec: { template: { spec: { restartPolicy: 'Never', containers: [container] } } },
  }),
  made('a job with everything', within('batch/v1', 'jobs'), {
    metadata: { labels },
    spec: {
      parallelism: 2,
      completions: 4,
      completionMode: 'Indexed',
      activeDeadlineSeconds: 60,
      ttlSecondsAfterFinished: 10,
      backoffLimit: 1,
      template: { metadata: { labels }, spec: { restartPolicy: 'OnFailure', containers: [container] } },
    },
  }),
  made('a lease', within('coordination.k8s.io/v1', 'leases'), {
    spec: {
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      renewTime: '2020-01-02T03:04:05.000006Z',
      leaseTransitions: 1,
    },
  }),
  made('an endpoint slice', within('discovery.k8s.io/v1', 'endpointslices'), {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'] }, { addresses: ['10.0.0.2'], conditions: { ready: false } }],
    ports: [{ port: 80 }],
  }),
  made('a disruption budget', within('policy/v1', 'poddisruptionbudgets'), {
    spec: { minAvailable: 1, selector: { matchLabels: labels } },
  }),
  made('a role and a binding', within('rbac.authorization.k8s.io/v1', 'rolebindings'), {
    roleRef: { kind: 'Role', name: 'r', apiGroup: 'rbac.authorization.k8s.io' },
    subjects: [
      { kind: 'User', name: 'u' },
      { kind: 'ServiceAccount', name: 's', namespace: '<ns>' },
    ],
  }),
  made('a volume', '/api/v1/persistentvolumes', {
    metadata: { name: 'pv-<id>' },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp' } },
  }),
  made('a node', '/api/v1/nodes', { metadata: { name: 'node-<id>' } }),
  made('a priority class', '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: 'pc-<id>' }, value: 5 }),
  made('a storage class', '/apis/storage.k8s.io/v1/storageclasses', {
    metadata: { name: 'sc-<id>' },
    provisioner: 'x.io/y',
  }),
  {
    name: 'status of a stateful set and of a pod, by its own path',
    steps: [
      post(within('apps/v1', 'statefulsets'), {
        metadata: { name: 's' },
        spec: { serviceName: 's', selector: { matchLabels: labels }, template },
        status: { replicas: 7 },
      }),
      merge(`${within('apps/v1', 'statefulsets')}/s/status`, {
        status: { replicas: 2, readyReplicas: 1 },
        spec: { replicas: 9 },
      }),
      merge(`${within('apps/v1', 'statefulsets')}/s`, { status: { replicas: 5 } }),
      get(`${within('apps/v1', 'statefulsets')}/s/scale`),
      put(`${within('apps/v1', 'statefulsets')}/s/scale`, {
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { name: 's', namespace: '<ns>' },
        spec: { replicas: 4 },
      }),
      post(pods, { metadata: { name: 'p' }, spec: { containers: [container] } }),
      merge(`${pods}/p/status`, {
        status: { phase: 'Running', podIP: '10.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] },
      }),
      merge(`${pods}/p`, { spec: { containers: [{ name: 'c', image: 'other' }] } }),
      get(`${pods}/p`),
    ],
  },
];
