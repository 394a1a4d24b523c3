/** All that operators need on a Kubernetes, as objects to apply: the least that they can do with. Pure. */
import type { AnyObject } from '@reeve/kube';
import type { Right } from '@reeve/redis';
import { agentRules, operatorDefinitions, operators } from '../operators/operators.ts';
import { version } from '../version.ts';
import { yamlText } from '../kube/yaml.ts';

export const DEFAULT_NAMESPACE = 'reeve-system';
/** By which one process leads. */
export const LEASE = 'reeve-operators';

const NAME = 'reeve';
const RBAC = 'rbac.authorization.k8s.io';
const PORT = 8080;
/** Of nobody else: the process owns no file. */
const USER_ID = 65_532;
const labels = { 'app.kubernetes.io/name': NAME };

export interface Installation {
  readonly namespace: string;
  readonly image: string;
}

export type Manifest = AnyObject & {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
};

export const defaultInstallation: Installation = { namespace: DEFAULT_NAMESPACE, image: `${NAME}:${version}` };

/** In all namespaces: what the operators say they do. */
export const clusterRights: readonly Right[] = operators.flatMap(({ rights }) => rights);

/** In their own namespace: the lease. A name cannot be asked for before there is one. */
export const leaseRights: readonly Right[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'update'], resourceNames: [LEASE] },
];

export function manifestsOf({ namespace, image }: Installation): readonly Manifest[] {
  const own = { name: NAME, namespace, labels };
  const subjects = [{ kind: 'ServiceAccount', name: NAME, namespace }];
  const role = (kind: string, name: string) => ({ apiGroup: RBAC, kind, name });
  return [
    namespaceOf(namespace),
    ...([...operatorDefinitions(), ...agentRules()] as readonly unknown[] as readonly Manifest[]),
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: own },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata: { name: LEASE, labels },
      rules: clusterRights,
    },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: LEASE, labels },
      roleRef: role('ClusterRole', LEASE),
      subjects,
    },
    { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata: { ...own, name: LEASE }, rules: leaseRights },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'RoleBinding',
      metadata: { ...own, name: LEASE },
      roleRef: role('Role', LEASE),
      subjects,
    },
    deploymentOf(own, image),
  ];
}

export function namespaceOf(name: string): Manifest {
  const metadata = { name, labels: { ...labels, 'pod-security.kubernetes.io/enforce': 'restricted' } };
  return { apiVersion: 'v1', kind: 'Namespace', metadata };
}

function deploymentOf(own: Manifest['metadata'] & { readonly namespace: string }, image: string): Manifest {
  const fromField = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  const probe = (path: string) => ({ httpGet: { path, port: 'health' }, periodSeconds: 10, failureThreshold: 3 });
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: own,
    spec: {
      // One leads; the other one is there within seconds.
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: NAME,
          // Longer than the process takes to end in order.
          terminationGracePeriodSeconds: 60,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: USER_ID,
            runAsGroup: USER_ID,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          topologySpreadConstraints: [
            {
              topologyKey: 'kubernetes.io/hostname',
              maxSkew: 1,
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: labels },
            },
          ],
          containers: [
            {
              name: 'operators',
              image,
              command: ['reeve', 'run', '--namespace', own.namespace, '--listen', `$(POD_IP):${PORT}`],
              env: [
                fromField('POD_NAME', 'metadata.name'),
                fromField('POD_IP', 'status.podIP'),
                // The user has no entry in any passwd.
                { name: 'HOME', value: '/' },
              ],
              ports: [{ name: 'health', containerPort: PORT }],
              livenessProbe: { ...probe('/livez'), initialDelaySeconds: 10 },
              readinessProbe: probe('/readyz'),
              resources: { requests: { cpu: '50m', memory: '128Mi' } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
            },
          ],
        },
      },
    },
  };
}

export function manifestsText(installation: Installation): string {
  return manifestsOf(installation)
    .map((manifest) => `---\n${yamlText(manifest)}`)
    .join('');
}

/** `deploy/reeve.yaml`. */
export function deployPage(): string {
  return `# Generated by \`npm run docs\` (reeve run --print-manifests); do not edit.\n${manifestsText(defaultInstallation)}`;
}
