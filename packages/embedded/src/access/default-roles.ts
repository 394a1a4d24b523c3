/** The roles and bindings that every cluster has, as far as what they are about is served. */
import type { JsonObject } from '../object/draft.ts';
import { AUTHENTICATED, MASTERS, MONITORING, RBAC, UNAUTHENTICATED } from './groups.ts';

const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update'];
const ALL = [...WRITE, ...READ].sort();
const HEALTH = ['/healthz', '/livez', '/readyz'];
const VERSION = ['/version', '/version/'];

const rule = (verbs: readonly string[], apiGroups: readonly string[], ...resources: readonly string[]): JsonObject => ({
  verbs: [...verbs],
  apiGroups: [...apiGroups],
  resources: [...resources],
});
const paths = (...nonResourceURLs: readonly string[]): JsonObject => ({
  verbs: ['get'],
  nonResourceURLs: [...nonResourceURLs].sort(),
});

const metadata = (name: string, labels: JsonObject = {}): JsonObject => ({
  name,
  labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
  annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
});

const role = (name: string, rules: readonly JsonObject[], labels?: JsonObject): JsonObject => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRole',
  metadata: metadata(name, labels),
  rules: [...rules],
});

const aggregates = (to: string): JsonObject => ({ [`${RBAC}/aggregate-to-${to}`]: 'true' });

/** A role made of all that say they belong to it. */
const gathering = (name: string, labels?: JsonObject): JsonObject => ({
  ...role(name, [], labels),
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: aggregates(name) }] },
});

const viewRules: readonly JsonObject[] = [
  rule(READ, [''], 'configmaps', 'endpoints', 'persistentvolumeclaims', 'persistentvolumeclaims/status', 'pods'),
  rule(READ, [''], 'replicationcontrollers', 'replicationcontrollers/scale', 'serviceaccounts', 'services'),
  rule(READ, [''], 'services/status', 'bindings', 'limitranges', 'namespaces/status', 'pods/log', 'pods/status'),
  rule(READ, [''], 'replicationcontrollers/status', 'resourcequotas', 'resourcequotas/status'),
  rule(READ, [''], 'namespaces'),
  rule(READ, ['', 'events.k8s.io'], 'events'),
  rule(READ, ['discovery.k8s.io'], 'endpointslices'),
  rule(READ, ['apps'], 'controllerrevisions', 'daemonsets', 'daemonsets/status'),
  rule(READ, ['apps'], 'deployments', 'deployments/scale', 'deployments/status'),
  rule(READ, ['apps'], 'replicasets', 'replicasets/scale', 'replicasets/status'),
  rule(READ, ['apps'], 'statefulsets', 'statefulsets/scale', 'statefulsets/status'),
  rule(READ, ['autoscaling'], 'horizontalpodautoscalers', 'horizontalpodautoscalers/status'),
  rule(READ, ['batch'], 'cronjobs', 'cronjobs/status', 'jobs', 'jobs/status'),
  rule(READ, ['policy'], 'poddisruptionbudgets', 'poddisruptionbudgets/status'),
  rule(READ, ['networking.k8s.io'], 'ingresses', 'ingresses/status', 'networkpolicies'),
];

const editRules: readonly JsonObject[] = [
  rule(READ, [''], 'pods/attach', 'pods/exec', 'pods/portforward', 'pods/proxy', 'secrets', 'services/proxy'),
  rule(['impersonate'], [''], 'serviceaccounts'),
  rule(WRITE, [''], 'pods', 'pods/attach', 'pods/exec', 'pods/portforward', 'pods/proxy'),
  rule(['create'], [''], 'pods/eviction'),
  rule(WRITE, [''], 'configmaps', 'persistentvolumeclaims', 'replicationcontrollers', 'replicationcontrollers/scale'),
  rule(WRITE, [''], 'secrets', 'serviceaccounts', 'services', 'services/proxy'),
  rule(['create'], [''], 'serviceaccounts/token'),
  rule(WRITE, ['', 'events.k8s.io'], 'events'),
  rule(WRITE, ['apps'], 'daemonsets', 'deployments', 'deployments/rollback', 'deployments/scale'),
  rule(WRITE, ['apps'], 'replicasets', 'replicasets/scale', 'statefulsets', 'statefulsets/scale'),
  rule(WRITE, ['autoscaling'], 'horizontalpodautoscalers'),
  rule(WRITE, ['batch'], 'cronjobs', 'jobs'),
  rule(WRITE, ['policy'], 'poddisruptionbudgets'),
  rule(WRITE, ['networking.k8s.io'], 'ingresses', 'networkpolicies'),
  rule(ALL, ['coordination.k8s.io'], 'leases'),
];

export const defaultClusterRoles: readonly JsonObject[] = [
  role('cluster-admin', [rule(['*'], ['*'], '*'), { verbs: ['*'], nonResourceURLs: ['*'] }]),
  role('system:discovery', [
    paths(...HEALTH, ...VERSION, '/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*'),
  ]),
  role('system:monitoring', [
    paths(...HEALTH, ...HEALTH.map((one) => `${one}/*`), '/flagz', '/metrics', '/metrics/slis', '/statusz'),
    rule(['get'], [''], 'nodes/metrics'),
  ]),
  role('system:basic-user', [
    rule(['create'], ['authorization.k8s.io'], 'selfsubjectaccessreviews', 'selfsubjectrulesreviews'),
    rule(['create'], ['authentication.k8s.io'], 'selfsubjectreviews'),
  ]),
  role('system:public-info-viewer', [paths(...HEALTH, ...VERSION)]),
  role('system:auth-delegator', [
    rule(['create'], ['authentication.k8s.io'], 'tokenreviews'),
    rule(['create'], ['authorization.k8s.io'], 'subjectaccessreviews'),
  ]),
  gathering('admin'),
  gathering('edit', aggregates('admin')),
  gathering('view', aggregates('edit')),
  role(
    'system:aggregate-to-admin',
    [
      rule(['create'], ['authorization.k8s.io'], 'localsubjectaccessreviews'),
      rule(ALL, [RBAC], 'rolebindings', 'roles'),
    ],
    aggregates('admin'),
  ),
  role('system:aggregate-to-edit', editRules, aggregates('edit')),
  role('system:aggregate-to-view', viewRules, aggregates('view')),
];

const binding = (name: string, ...groups: readonly string[]): JsonObject => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: metadata(name),
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
  subjects: groups.map((group) => ({ apiGroup: RBAC, kind: 'Group', name: group })),
});

export const defaultClusterRoleBindings: readonly JsonObject[] = [
  binding('cluster-admin', MASTERS),
  binding('system:monitoring', MONITORING),
  binding('system:discovery', AUTHENTICATED),
  binding('system:basic-user', AUTHENTICATED),
  binding('system:public-info-viewer', AUTHENTICATED, UNAUTHENTICATED),
];
