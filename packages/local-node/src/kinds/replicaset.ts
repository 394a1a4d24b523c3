/** ReplicaSets. */
import { type KubeObject, resource } from '@reeve/kube';
import type { LabelSelector } from './pod.ts';
import type { PodTemplate } from './template.ts';

export interface WorkloadCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

export interface ReplicaSetSpec {
  readonly replicas?: number;
  readonly minReadySeconds?: number;
  readonly selector: LabelSelector;
  readonly template?: PodTemplate;
}

export interface ReplicaSetStatus {
  readonly replicas: number;
  readonly fullyLabeledReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly observedGeneration?: number;
  readonly conditions?: readonly WorkloadCondition[];
}

export interface ReplicaSet extends KubeObject {
  readonly spec?: ReplicaSetSpec;
  readonly status?: ReplicaSetStatus;
}

export const replicaSets = resource<ReplicaSet>({
  group: 'apps',
  version: 'v1',
  plural: 'replicasets',
  kind: 'ReplicaSet',
  namespaced: true,
});
