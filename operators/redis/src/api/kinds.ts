/** The kinds of Kubernetes that a cluster is made of, as far as they are written or read here. */
import { type KubeObject, resource } from '@reeve/kube';
import { leaseKind, type LeaseObject, type Member, memberKind } from '@reeve/runtime';
import { redisClusterKind, type RedisCluster } from './cluster.ts';
import { redisTaskKind, type RedisTask } from './task.ts';

type Labels = Readonly<Record<string, string>>;
type Manifest = Readonly<Record<string, unknown>>;

export interface StatefulSet extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly serviceName: string;
    readonly selector: { readonly matchLabels: Labels };
    readonly template: Manifest;
    readonly podManagementPolicy?: 'Parallel' | 'OrderedReady';
    readonly updateStrategy?: { readonly type: 'OnDelete' | 'RollingUpdate' };
    readonly volumeClaimTemplates?: readonly Manifest[];
    readonly persistentVolumeClaimRetentionPolicy?: { readonly whenDeleted: string; readonly whenScaled: string };
  };
  readonly status?: { readonly updateRevision?: string; readonly observedGeneration?: number };
}

export interface Service extends KubeObject {
  readonly spec?: Manifest;
}

export interface DisruptionBudget extends KubeObject {
  readonly spec?: Manifest;
}

export interface ConfigMap extends KubeObject {
  readonly data?: Labels;
}

export interface Secret extends KubeObject {
  readonly type?: string;
  /** In base 64. */
  readonly data?: Labels;
}

/** At most one of them. */
interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: Manifest;
  readonly terminated?: { readonly exitCode: number; readonly reason?: string; readonly message?: string };
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}

export interface Pod extends KubeObject {
  readonly spec?: { readonly nodeName?: string; readonly containers?: readonly { readonly image?: string }[] };
  readonly status?: {
    readonly podIP?: string;
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
      readonly lastTransitionTime?: string | null;
    }[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

/** A worker node. */
export interface WorkerNode extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime?: string;
    }[];
  };
}

/** What keeps those who may write a kind to some of its objects. */
export interface AdmissionPolicy extends KubeObject {
  readonly spec?: { readonly failurePolicy?: string };
}

export interface AdmissionPolicyBinding extends KubeObject {
  readonly spec?: {
    readonly policyName?: string;
    readonly validationActions?: readonly string[];
    /** Of some objects only. */
    readonly matchResources?: Manifest;
  };
}

const core = { group: '', version: 'v1', namespaced: true } as const;

export const statefulSets = resource<StatefulSet>({
  group: 'apps',
  version: 'v1',
  plural: 'statefulsets',
  kind: 'StatefulSet',
  namespaced: true,
});
export const disruptionBudgets = resource<DisruptionBudget>({
  group: 'policy',
  version: 'v1',
  plural: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  namespaced: true,
});
export const services = resource<Service>({ ...core, plural: 'services', kind: 'Service' });
export const configMaps = resource<ConfigMap>({ ...core, plural: 'configmaps', kind: 'ConfigMap' });
export const secrets = resource<Secret>({ ...core, plural: 'secrets', kind: 'Secret' });
export const pods = resource<Pod>({ ...core, plural: 'pods', kind: 'Pod' });
export const accounts = resource<KubeObject>({ ...core, plural: 'serviceaccounts', kind: 'ServiceAccount' });
export const roleBindings = resource<KubeObject>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'rolebindings',
  kind: 'RoleBinding',
  namespaced: true,
});
const admission = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const;

export const admissionPolicies = resource<AdmissionPolicy>({
  ...admission,
  plural: 'validatingadmissionpolicies',
  kind: 'ValidatingAdmissionPolicy',
});
export const admissionPolicyBindings = resource<AdmissionPolicyBinding>({
  ...admission,
  plural: 'validatingadmissionpolicybindings',
  kind: 'ValidatingAdmissionPolicyBinding',
});
export const workerNodes = resource<WorkerNode>({ ...core, namespaced: false, plural: 'nodes', kind: 'Node' });
export type MemberObject = Member & KubeObject;
export type MemberLeaseObject = LeaseObject & KubeObject;

export const members = resource<MemberObject>(memberKind);
export const memberLeases = resource<MemberLeaseObject>(leaseKind);

export type RedisClusterObject = RedisCluster & KubeObject;
export type RedisTaskObject = RedisTask & KubeObject;

export const redisClusters = resource<RedisClusterObject>(redisClusterKind);
export const redisTasks = resource<RedisTaskObject>(redisTaskKind);
