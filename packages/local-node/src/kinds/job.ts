/** Jobs. */
import { type KubeObject, resource } from '@reeve/kube';
import type { LabelSelector } from './pod.ts';
import type { PodTemplate } from './template.ts';

export interface PodFailureRule {
  readonly action: 'FailJob' | 'FailIndex' | 'Ignore' | 'Count';
  readonly onExitCodes?: {
    readonly containerName?: string;
    readonly operator: 'In' | 'NotIn';
    readonly values: readonly number[];
  };
  readonly onPodConditions?: readonly { readonly type: string; readonly status?: string }[];
}

export interface JobSpec {
  readonly parallelism?: number;
  readonly completions?: number;
  readonly completionMode?: 'NonIndexed' | 'Indexed';
  readonly backoffLimit?: number;
  /** Of indexed jobs: each index may fail so often, for itself; and so many indexes may. */
  readonly backoffLimitPerIndex?: number;
  readonly maxFailedIndexes?: number;
  readonly activeDeadlineSeconds?: number;
  readonly ttlSecondsAfterFinished?: number;
  readonly suspend?: boolean;
  readonly podFailurePolicy?: { readonly rules: readonly PodFailureRule[] };
  /** Of indexed jobs: when it has succeeded before all have. */
  readonly successPolicy?: {
    readonly rules: readonly { readonly succeededIndexes?: string; readonly succeededCount?: number }[];
  };
  readonly podReplacementPolicy?: 'TerminatingOrFailed' | 'Failed';
  readonly selector?: LabelSelector;
  readonly managedBy?: string;
  readonly template: PodTemplate;
}

export interface JobCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
  readonly lastProbeTime?: string;
  readonly lastTransitionTime?: string;
}

export interface JobStatus {
  readonly conditions?: readonly JobCondition[];
  readonly startTime?: string;
  readonly completionTime?: string;
  readonly active?: number;
  readonly ready?: number;
  readonly terminating?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly completedIndexes?: string;
  readonly failedIndexes?: string;
  readonly uncountedTerminatedPods?: {
    readonly succeeded?: readonly string[];
    readonly failed?: readonly string[];
  };
}

export interface Job extends KubeObject {
  readonly spec?: JobSpec;
  readonly status?: JobStatus;
}

export const jobs = resource<Job>({ group: 'batch', version: 'v1', plural: 'jobs', kind: 'Job', namespaced: true });

/** On pods of jobs: their outcome has not been counted yet. */
export const JOB_TRACKING = 'batch.kubernetes.io/job-tracking';
export const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index';
/** On pods of jobs whose indexes fail each for itself: how often pods of its index failed before it. */
export const INDEX_FAILURES = 'batch.kubernetes.io/job-index-failure-count';
export const INDEX_IGNORED_FAILURES = 'batch.kubernetes.io/job-index-ignored-failure-count';

export function jobCondition(status: JobStatus | undefined, type: string): JobCondition | undefined {
  return status?.conditions?.find((one) => one.type === type && one.status === 'True');
}

/** It has an end that nothing changes any more. */
export function isFinished(status: JobStatus | undefined): boolean {
  return jobCondition(status, 'Complete') !== undefined || jobCondition(status, 'Failed') !== undefined;
}
