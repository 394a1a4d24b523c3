/** Deployments. */
import { type KubeObject, resource } from '@reeve/kube';
import type { LabelSelector } from './pod.ts';
import type { WorkloadCondition } from './replicaset.ts';
import type { IntOrPercent, PodTemplate } from './template.ts';

export interface DeploymentSpec {
  readonly replicas?: number;
  readonly selector: LabelSelector;
  readonly template: PodTemplate;
  readonly strategy?: {
    readonly type?: 'RollingUpdate' | 'Recreate';
    readonly rollingUpdate?: { readonly maxSurge?: IntOrPercent; readonly maxUnavailable?: IntOrPercent };
  };
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
  readonly progressDeadlineSeconds?: number;
  readonly paused?: boolean;
}

export interface DeploymentCondition extends WorkloadCondition {
  readonly lastUpdateTime?: string;
}

export interface DeploymentStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly unavailableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly collisionCount?: number;
  readonly conditions?: readonly DeploymentCondition[];
}

export interface Deployment extends KubeObject {
  readonly spec?: DeploymentSpec;
  readonly status?: DeploymentStatus;
}

export const deployments = resource<Deployment>({
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
});
