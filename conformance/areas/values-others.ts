/** What may stand in the kinds that make pods, and in those that hold data, and what of them may change. */
import type { Json } from '@reeve/kube';
import { type Case, get, merge, post, type Step } from '../case.ts';
import type { Fields } from './values-pods.ts';

const within = (group: string, plural: string): string =>
  `${group === 'v1' ? '/api' : '/apis'}/${group}/namespaces/<ns>/${plural}`;
const labels = { app: 'x' };
const container: Fields = { name: 'c', image: 'i' };
const template: Fields = { metadata: { labels }, spec: { containers: [container] } };
const selector: Fields = { matchLabels: labels };
const size = (storage: string): Fields => ({ requests: { storage } });
const claim: Fields = { accessModes: ['ReadWriteOnce'], resources: size('1Gi') };

const sets = within('apps/v1', 'statefulsets');
const deployments = within('apps/v1', 'deployments');
const replicaSets = within('apps/v1', 'replicasets');
const jobs = within('batch/v1', 'jobs');
const claims = within('v1', 'persistentvolumeclaims');

const object = (name: string, content: Fields): Fields => ({ metadata: { name }, ...content });
const refused = (path: string, content: Fields, name = 'no'): Step => post(path, object(name, content), { code: 422 });
const workload = (spec: Fields): Fields => ({ spec: { selector, template, ...spec } });
const set = (spec: Fields): Fields => workload({ serviceName: 's', ...spec });
const job = (spec: Fields, pod: Fields = {}): Fields => ({
  spec: { template: { spec: { restartPolicy: 'Never', containers: [container], ...pod } }, ...spec },
});
const changes = (path: string, ...changed: readonly Json[]): readonly Step[] =>
  changed.map((change) => merge(path, change, { code: 422 }));

/** Selectors that are wrong, in all the kinds that must select their own pods. */
const selectors: readonly Fields[] = [
  { selector: null },
  { selector: {} },
  { selector: { matchLabels: { app: 'y' } } },
  { selector: { matchLabels: { 'a b': 'c d' } } },
  { selector: { matchExpressions: [{ key: 'app', operator: 'Like', values: ['x'] }] } },
  { selector: { matchExpressions: [{ key: 'app', operator: 'In' }] } },
  { selector: { matchExpressions: [{ key: 'app', operator: 'Exists', values: ['x'] }] } },
];
const templates: readonly Fields[] = [
  { template: null },
  {
    template: {
      ...template,
      spec: { ...(template['spec'] as Fields), restartPolicy: 'Never', activeDeadlineSeconds: 5 },
    },
  },
  {
    template: {
      metadata: { labels: { ...labels, 'a b': 'c d' }, annotations: { 'a b': '' } },
      spec: template['spec'] as Fields,
    },
  },
  {
    template: { ...template, spec: { containers: [{ ...container, volumeMounts: [{ name: 'v', mountPath: '/v' }] }] } },
  },
];

const workloads: readonly Case[] = [
  {
    name: 'stateful sets',
    steps: [
      ...[...selectors, ...templates].map((spec) => refused(sets, set(spec))),
      refused(sets, set({}), 'with.dot'),
      refused(sets, set({ replicas: -1, minReadySeconds: -1, serviceName: 'Not.A.Label', ordinals: { start: -1 } })),
      refused(sets, set({ podManagementPolicy: 'Any', persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Move' } })),
      refused(sets, set({ updateStrategy: { type: 'Now' } })),
      refused(sets, set({ updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } })),
      refused(sets, set({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: -1 } } })),
      refused(sets, set({ volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: {} }] })),
    ],
  },
  {
    name: 'stateful sets: what may change',
    steps: [
      post(
        sets,
        object(
          'a',
          set({
            volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim }],
            template: {
              ...template,
              spec: { containers: [{ ...container, volumeMounts: [{ name: 'data', mountPath: '/d' }] }] },
            },
          }),
        ),
      ),
      merge(`${sets}/a`, {
        spec: { replicas: 3, minReadySeconds: 1, revisionHistoryLimit: 3, ordinals: { start: 1 } },
      }),
      merge(`${sets}/a`, { spec: { updateStrategy: { rollingUpdate: { partition: 2 } } } }),
      ...changes(
        `${sets}/a`,
        { spec: { serviceName: 'other' } },
        { spec: { podManagementPolicy: 'Parallel' } },
        { spec: { selector: { matchLabels: { app: 'y' } } } },
        { spec: { volumeClaimTemplates: null } },
        { spec: { replicas: -1 } },
        { spec: { template: { metadata: { labels: { app: 'y' } } } } },
      ),
      ...changes(
        `${sets}/a/status`,
        { status: { replicas: -1 } },
        { status: { replicas: 1, readyReplicas: 2, currentReplicas: 3 } },
        { status: { replicas: 2, readyReplicas: 1, availableReplicas: 2 } },
      ),
      merge(`${sets}/a`, { spec: { revisionHistoryLimit: -1 } }),
      get(`${sets}/a`),
    ],
  },
  {
    name: 'deployments',
    steps: [
      ...[...selectors, ...templates].map((spec) => refused(deployments, workload(spec))),
      refused(
        deployments,
        workload({ replicas: -1, minReadySeconds: -1, revisionHistoryLimit: -1, progressDeadlineSeconds: -1 }),
      ),
      refused(deployments, workload({ minReadySeconds: 700 })),
      refused(deployments, workload({ strategy: { type: 'Now' } })),
      refused(deployments, workload({ strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } })),
      refused(deployments, workload({ strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } })),
      refused(deployments, workload({ strategy: { rollingUpdate: { maxSurge: '5', maxUnavailable: '101%' } } })),
      refused(deployments, workload({ strategy: { rollingUpdate: { maxSurge: -1, maxUnavailable: '0%' } } })),
      post(deployments, object('with.dot', workload({}))),
      ...changes(
        `${deployments}/with.dot`,
        { spec: { selector: { matchLabels: { a: 'b' } } } },
        { spec: { replicas: -2 } },
      ),
      merge(`${deployments}/with.dot`, { spec: { replicas: 2 } }),
      ...changes(`${deployments}/with.dot/status`, { status: { replicas: 1, readyReplicas: 2, availableReplicas: 3 } }),
    ],
  },
  {
    name: 'replica sets',
    steps: [
      ...[...selectors, ...templates].map((spec) => refused(replicaSets, workload(spec))),
      refused(replicaSets, workload({ replicas: -1, minReadySeconds: -1 })),
      post(replicaSets, object('a', workload({}))),
      ...changes(`${replicaSets}/a`, { spec: { selector: { matchLabels: { a: 'b' } } } }),
    ],
  },
  {
    name: 'jobs',
    steps: [
      refused(jobs, job({}, { restartPolicy: 'Always' })),
      refused(jobs, job({}, { restartPolicy: 'Perhaps' })),
      refused(
        jobs,
        job({
          parallelism: -1,
          completions: -1,
          backoffLimit: -1,
          ttlSecondsAfterFinished: -1,
          activeDeadlineSeconds: -1,
        }),
      ),
      refused(jobs, job({ completionMode: 'Some' })),
      refused(jobs, job({ completionMode: 'Indexed', parallelism: 1 })),
      refused(jobs, job({ completionMode: 'Indexed', completions: 3 }), 'a.b'),
      refused(jobs, job({ maxFailedIndexes: 1, backoffLimitPerIndex: -1 })),
      refused(jobs, job({ manualSelector: true })),
      refused(jobs, job({ manualSelector: true, selector: { matchLabels: { a: 'b' } } })),
      refused(jobs, job({ selector: { matchLabels: { a: 'b' } } })),
      refused(jobs, job({ podReplacementPolicy: 'Never' })),
      refused(jobs, job({}, { containers: [] })),
      post(jobs, object('a', job({ completions: 2 }))),
      merge(`${jobs}/a`, { spec: { parallelism: 3, backoffLimit: 2, suspend: true } }),
      ...changes(
        `${jobs}/a`,
        { spec: { completions: 3 } },
        { spec: { completionMode: 'Indexed' } },
        { spec: { parallelism: -1 } },
      ),
      post(jobs, object('i', job({ completionMode: 'Indexed', completions: 2, parallelism: 2 }))),
      ...changes(`${jobs}/i`, { spec: { completions: 3 } }),
      merge(`${jobs}/i`, { spec: { completions: 3, parallelism: 3 } }),
    ],
  },
];

const volumes: readonly Case[] = [
  {
    name: 'claims',
    steps: [
      refused(claims, { spec: {} }),
      refused(claims, { spec: { ...claim, accessModes: ['Sometimes', 'ReadWriteOncePod', 'ReadWriteOnce'] } }),
      refused(claims, { spec: { ...claim, resources: size('0') } }),
      refused(claims, { spec: { ...claim, resources: size('-1Gi') } }),
      refused(claims, { spec: { ...claim, storageClassName: 'A B', volumeMode: 'Tape' } }),
      refused(claims, { spec: { ...claim, selector: { matchLabels: { 'a b': 'c' } } } }),
      post(claims, object('odd', { spec: { ...claim, resources: size('1500m') } })),
    ],
  },
  {
    name: 'claims: what may change',
    steps: [
      post(claims, object('a', { spec: claim })),
      merge(`${claims}/a`, { spec: { storageClassName: 'fast' } }),
      merge(`${claims}/a`, { spec: { volumeName: 'v' } }),
      merge(`${claims}/a/status`, { status: { phase: 'Bound', capacity: { storage: '1Gi' } } }),
      ...changes(`${claims}/a`, { spec: { resources: size('512Mi') } }, { spec: { resources: null } }),
      get(`${claims}/a`),
    ],
  },
  {
    name: 'claims: what may not change',
    steps: [
      post(claims, object('a', { spec: { ...claim, storageClassName: 'x', volumeName: 'v' } })),
      ...changes(
        `${claims}/a`,
        { spec: { accessModes: ['ReadWriteMany'] } },
        { spec: { storageClassName: 'y' } },
        { spec: { volumeName: 'w' } },
        { spec: { resources: size('2Gi') } },
      ),
    ],
  },
  {
    name: 'volumes and classes',
    steps: [
      refused('/api/v1/persistentvolumes', { spec: { hostPath: { path: '/a' } } }, 'no-<id>'),
      refused(
        '/api/v1/persistentvolumes',
        { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } } },
        'no-<id>',
      ),
      refused(
        '/api/v1/persistentvolumes',
        {
          spec: {
            accessModes: ['A'],
            capacity: { cpu: '1' },
            hostPath: { path: '/a' },
            persistentVolumeReclaimPolicy: 'Burn',
          },
        },
        'no-<id>',
      ),
      refused('/apis/storage.k8s.io/v1/storageclasses', {}, 'no-<id>'),
      refused(
        '/apis/storage.k8s.io/v1/storageclasses',
        { provisioner: 'a b', reclaimPolicy: 'Burn', volumeBindingMode: 'Soon' },
        'no-<id>',
      ),
      post('/apis/storage.k8s.io/v1/storageclasses', object('sc-<id>', { provisioner: 'a.b/c' })),
      ...changes(
        '/apis/storage.k8s.io/v1/storageclasses/sc-<id>',
        { provisioner: 'd.e/f', parameters: { a: 'b' } },
        { volumeBindingMode: 'WaitForFirstConsumer' },
      ),
      refused(
        '/apis/scheduling.k8s.io/v1/priorityclasses',
        { value: 2_000_000_000, preemptionPolicy: 'Maybe' },
        'no-<id>',
      ),
      refused('/apis/scheduling.k8s.io/v1/priorityclasses', { value: 1 }, 'system-<id>'),
      post('/apis/scheduling.k8s.io/v1/priorityclasses', object('pc-<id>', { value: 1 })),
      ...changes('/apis/scheduling.k8s.io/v1/priorityclasses/pc-<id>', { value: 2 }, { preemptionPolicy: 'Never' }),
    ],
  },
];

const maps = within('v1', 'configmaps');
const secrets = within('v1', 'secrets');
const leases = within('coordination.k8s.io/v1', 'leases');
const budgets = within('policy/v1', 'poddisruptionbudgets');
const revisions = within('apps/v1', 'controllerrevisions');
const endpoints = within('v1', 'endpoints');
const slices = within('discovery.k8s.io/v1', 'endpointslices');
const events = within('v1', 'events');

const others: readonly Case[] = [
  {
    name: 'config maps and secrets',
    steps: [
      refused(maps, { data: { 'a b': 'x', '..': 'x' } }),
      refused(maps, { data: { '..a': 'x', ['k'.repeat(254)]: '' }, binaryData: { '.': 'aGk=' } }),
      refused(maps, { data: { a: 'x' }, binaryData: { a: 'aGk=' } }),
      refused(maps, { data: { a: 'x'.repeat(1_048_577) } }),
      refused(secrets, { stringData: { 'a/b': 'x' } }),
      refused(secrets, { type: 'kubernetes.io/tls', stringData: { 'tls.crt': 'x' } }),
      refused(secrets, { type: 'kubernetes.io/basic-auth' }),
      refused(secrets, { type: 'kubernetes.io/ssh-auth' }),
      refused(secrets, { type: 'kubernetes.io/dockerconfigjson' }),
      refused(secrets, { type: 'kubernetes.io/service-account-token' }),
      post(secrets, object('a', { type: 'e.com/own', stringData: { a: 'x' }, immutable: true })),
      ...changes(`${secrets}/a`, { type: 'Opaque' }, { stringData: { a: 'y' } }, { immutable: null }),
    ],
  },
  {
    name: 'leases, budgets, revisions',
    steps: [
      refused(leases, { spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } }),
      refused(budgets, { spec: { minAvailable: 1, maxUnavailable: 1, selector } }),
      refused(budgets, { spec: { minAvailable: -1, selector: { matchLabels: { 'a b': 'c' } } } }),
      refused(budgets, { spec: { maxUnavailable: '110%', unhealthyPodEvictionPolicy: 'Never' } }),
      refused(budgets, { spec: { maxUnavailable: 'many' } }),
      refused(revisions, { revision: -1 }),
      post(revisions, object('a', { revision: 1, data: { a: 1 } })),
      ...changes(`${revisions}/a`, { data: { a: 2 } }),
    ],
  },
  {
    name: 'endpoints and events',
    steps: [
      refused(endpoints, { subsets: [{ ports: [{ port: 80 }] }] }),
      refused(endpoints, {
        subsets: [
          {
            addresses: [{ ip: 'x', hostname: 'a.b', nodeName: 'A B' }],
            ports: [{ port: 0 }, { port: 80, name: 'A', protocol: 'HTTP' }],
          },
        ],
      }),
      refused(slices, { endpoints: [] }),
      refused(slices, { addressType: 'Any', endpoints: [] }),
      refused(slices, { addressType: 'IPv4', endpoints: [{ addresses: [] }, { addresses: ['x'], hostname: 'a.b' }] }),
      refused(slices, { addressType: 'IPv4', endpoints: [{ addresses: ['fd00::1'] }] }),
      refused(slices, {
        addressType: 'IPv4',
        endpoints: [],
        ports: [
          { port: 1, name: 'a' },
          { port: 2, name: 'a', protocol: 'X' },
        ],
      }),
      post(slices, object('a', { addressType: 'IPv4', endpoints: [] })),
      ...changes(`${slices}/a`, { addressType: 'IPv6' }),
      refused(events, { involvedObject: { kind: 'Pod', namespace: 'other', name: 'p' } }),
      refused(events, { involvedObject: { kind: 'Pod', name: 'p' } }),
      refused(events, {
        eventTime: '2026-01-01T00:00:00.000000Z',
        involvedObject: { kind: 'Pod', namespace: '<ns>', name: 'p' },
      }),
    ],
  },
];

export const otherCases: readonly Case[] = [...workloads, ...volumes, ...others];
