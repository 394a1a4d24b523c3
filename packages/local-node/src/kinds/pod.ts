/** Pods, as far as the node, the scheduler and the controllers read and write them. */
import { type KubeObject, resource } from '@reeve/kube';

export interface Pod extends KubeObject {
  readonly spec?: PodSpec;
  readonly status?: PodStatus;
}

export const pods = resource<Pod>({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true });

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  readonly terminationGracePeriodSeconds?: number;
  readonly activeDeadlineSeconds?: number;
  readonly nodeName?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: Affinity;
  readonly tolerations?: readonly Toleration[];
  readonly topologySpreadConstraints?: readonly TopologySpread[];
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly hostNetwork?: boolean;
  readonly hostAliases?: readonly { readonly ip: string; readonly hostnames?: readonly string[] }[];
  readonly shareProcessNamespace?: boolean;
  readonly schedulerName?: string;
  /** While there is one, the pod is not to be placed. */
  readonly schedulingGates?: readonly { readonly name: string }[];
  /** Of the pod as a whole: what it says takes the place of what its containers ask for together. */
  readonly resources?: Resources;
  readonly overhead?: Readonly<Record<string, string>>;
  readonly readinessGates?: readonly { readonly conditionType: string }[];
  readonly securityContext?: { readonly runAsUser?: number; readonly runAsGroup?: number };
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly EnvFrom[];
  readonly ports?: readonly ContainerPort[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly resources?: Resources;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly lifecycle?: { readonly postStart?: Action; readonly preStop?: Action; readonly stopSignal?: string };
  readonly securityContext?: { readonly runAsUser?: number; readonly runAsGroup?: number };
  /** In place of the pod's. `Always` makes an init container a sidecar. */
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  readonly restartPolicyRules?: readonly unknown[];
  readonly volumeDevices?: readonly unknown[];
  readonly terminationMessagePath?: string;
  readonly terminationMessagePolicy?: string;
}

export interface Resources {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

export interface ContainerPort {
  readonly name?: string;
  readonly containerPort: number;
  readonly protocol?: string;
}

export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: { readonly fieldPath: string };
    readonly resourceFieldRef?: {
      readonly containerName?: string;
      readonly resource: string;
      readonly divisor?: string;
    };
    readonly configMapKeyRef?: KeyReference;
    readonly secretKeyRef?: KeyReference;
    readonly fileKeyRef?: unknown;
  };
}

export interface KeyReference {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean;
}

export interface EnvFrom {
  readonly prefix?: string;
  readonly configMapRef?: { readonly name: string; readonly optional?: boolean };
  readonly secretRef?: { readonly name: string; readonly optional?: boolean };
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
  readonly subPathExpr?: string;
  readonly readOnly?: boolean;
}

export interface KeyToPath {
  readonly key: string;
  readonly path: string;
  readonly mode?: number;
}

export interface DownwardFile {
  readonly path: string;
  readonly fieldRef?: { readonly fieldPath: string };
  readonly resourceFieldRef?: {
    readonly containerName?: string;
    readonly resource: string;
    readonly divisor?: string;
  };
  readonly mode?: number;
}

export interface FromConfigMap {
  readonly name?: string;
  readonly items?: readonly KeyToPath[];
  readonly optional?: boolean;
}

export interface Projection {
  readonly configMap?: FromConfigMap;
  readonly secret?: FromConfigMap;
  readonly downwardAPI?: { readonly items?: readonly DownwardFile[] };
  readonly serviceAccountToken?: {
    readonly path: string;
    readonly audience?: string;
    readonly expirationSeconds?: number;
  };
  readonly clusterTrustBundle?: unknown;
}

export interface Volume {
  readonly name: string;
  readonly emptyDir?: { readonly medium?: string; readonly sizeLimit?: string };
  readonly configMap?: FromConfigMap & { readonly defaultMode?: number };
  readonly secret?: {
    readonly secretName?: string;
    readonly items?: readonly KeyToPath[];
    readonly optional?: boolean;
    readonly defaultMode?: number;
  };
  readonly persistentVolumeClaim?: { readonly claimName: string; readonly readOnly?: boolean };
  readonly hostPath?: { readonly path: string; readonly type?: string };
  readonly projected?: { readonly sources?: readonly Projection[]; readonly defaultMode?: number };
  readonly downwardAPI?: { readonly items?: readonly DownwardFile[]; readonly defaultMode?: number };
}

export interface Action {
  readonly exec?: { readonly command?: readonly string[] };
  readonly httpGet?: {
    readonly path?: string;
    readonly port: number | string;
    readonly host?: string;
    readonly scheme?: string;
    readonly httpHeaders?: readonly { readonly name: string; readonly value: string }[];
  };
  readonly tcpSocket?: { readonly port: number | string; readonly host?: string };
  /** Of probes only. */
  readonly grpc?: { readonly port: number; readonly service?: string };
  readonly sleep?: { readonly seconds: number };
}

export interface Probe extends Action {
  readonly initialDelaySeconds?: number;
  readonly timeoutSeconds?: number;
  readonly periodSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
  readonly terminationGracePeriodSeconds?: number;
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly SelectorRequirement[];
}

export interface SelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly SelectorRequirement[];
  readonly matchFields?: readonly SelectorRequirement[];
}

export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelector;
  readonly topologyKey: string;
  readonly namespaces?: readonly string[];
}

interface PodAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
    readonly weight: number;
    readonly podAffinityTerm: PodAffinityTerm;
  }[];
}

export interface Affinity {
  readonly nodeAffinity?: {
    readonly requiredDuringSchedulingIgnoredDuringExecution?: {
      readonly nodeSelectorTerms: readonly NodeSelectorTerm[];
    };
    readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
      readonly weight: number;
      readonly preference: NodeSelectorTerm;
    }[];
  };
  readonly podAffinity?: PodAffinity;
  readonly podAntiAffinity?: PodAffinity;
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

export interface TopologySpread {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: string;
  readonly labelSelector?: LabelSelector;
}

export interface PodCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly observedGeneration?: number;
}

export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: {
    readonly exitCode: number;
    readonly signal?: number;
    readonly reason?: string;
    readonly message?: string;
    readonly startedAt?: string;
    readonly finishedAt?: string;
    readonly containerID?: string;
  };
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly started?: boolean;
  readonly restartCount: number;
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}

export interface PodStatus {
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  readonly conditions?: readonly PodCondition[];
  readonly reason?: string;
  readonly message?: string;
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip: string }[];
  readonly hostIP?: string;
  readonly startTime?: string;
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly observedGeneration?: number;
}
