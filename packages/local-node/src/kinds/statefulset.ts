/** StatefulSets. */
import { type KubeObject, resource } from '@reeve/kube';
import type { Condition } from '@reeve/runtime';
import type { LabelSelector } from './pod.ts';
import type { IntOrPercent, PodTemplate } from './template.ts';
import type { VolumeClaim } from './volumeclaim.ts';

export interface StatefulSetSpec {
  readonly replicas?: number;
  readonly selector: LabelSelector;
  readonly serviceName?: string;
  readonly template: PodTemplate;
  readonly volumeClaimTemplates?: readonly VolumeClaim[];
  readonly podManagementPolicy?: 'OrderedReady' | 'Parallel';
  readonly updateStrategy?: {
    readonly type?: 'RollingUpdate' | 'OnDelete';
    readonly rollingUpdate?: { readonly partition?: number; readonly maxUnavailable?: IntOrPercent };
  };
  readonly revisionHistoryLimit?: number;
  readonly minReadySeconds?: number;
  readonly persistentVolumeClaimRetentionPolicy?: {
    readonly whenDeleted?: 'Retain' | 'Delete';
    readonly whenScaled?: 'Retain' | 'Delete';
  };
  readonly ordinals?: { readonly start?: number };
}

export interface StatefulSetStatus {
  readonly observedGeneration?: number;
  readonly replicas: number;
  readonly readyReplicas?: number;
  readonly currentReplicas?: number;
  readonly updatedReplicas?: number;
  readonly availableReplicas?: number;
  readonly currentRevision?: string;
  readonly updateRevision?: string;
  readonly collisionCount?: number;
  readonly conditions?: readonly Condition[];
}

export interface StatefulSet extends KubeObject {
  readonly spec?: StatefulSetSpec;
  readonly status?: StatefulSetStatus;
}

export const statefulSets = resource<StatefulSet>({
  group: 'apps',
  version: 'v1',
  plural: 'statefulsets',
  kind: 'StatefulSet',
  namespaced: true,
});
