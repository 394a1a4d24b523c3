/**
 * What a StatefulSet does next. Pods come up in order and go down in reverse, each after those before it are healthy, unless the set is
 * `Parallel`; updates go from the highest ordinal down to the partition. Pure: pods, revisions and the time are given.
 */
import type { Stored } from '@reeve/kube';
import type { Pod } from '../../kinds/pod.ts';
import type { StatefulSetSpec, StatefulSetStatus } from '../../kinds/statefulset.ts';
import { scaled } from '../../kinds/template.ts';
import { isAvailable, isEnded, isRunningAndReady, isTerminating, nextAvailable } from '../owned/pod-state.ts';
import { REVISION_LABEL } from '../revision/history.ts';
import { missingLabels, ordinalOf } from './identity.ts';

type StoredPod = Stored<Pod>;

export interface SetView {
  readonly spec: StatefulSetSpec;
  readonly status: StatefulSetStatus | undefined;
  readonly generation: number;
  readonly isBeingDeleted: boolean;
  readonly pods: readonly StoredPod[];
  readonly currentRevision: string;
  readonly updateRevision: string;
  readonly collisionCount: number;
}

export type SetStep =
  | { readonly type: 'create'; readonly ordinal: number; readonly revision: 'current' | 'update' }
  | { readonly type: 'delete'; readonly pod: StoredPod; readonly why: 'scale' | 'update' | 'ended' }
  /** Of a pod that waits: its claims may be missing. */
  | { readonly type: 'claims'; readonly pod: StoredPod }
  | { readonly type: 'label'; readonly pod: StoredPod; readonly labels: Readonly<Record<string, string>> };

export interface SetPlan {
  readonly steps: readonly SetStep[];
  readonly status: StatefulSetStatus;
  /** When a pod becomes available by the passing of time. */
  readonly wakeAt: number | undefined;
}

export function planSet(view: SetView, now: number): SetPlan {
  const minReady = view.spec.minReadySeconds ?? 0;
  const wakeAt = nextAvailable(view.pods, minReady, now);
  const status = statusOf(view, now);
  const steps = view.isBeingDeleted ? [] : stepsOf(view, now);
  return { steps, status, wakeAt };
}

function stepsOf(view: SetView, now: number): readonly SetStep[] {
  const { spec, pods } = view;
  const isOrdered = spec.podManagementPolicy !== 'Parallel';
  const isHealthy = healthOf(view, now);
  const { first, end } = rangeOf(spec);
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(pod), pod]));
  const steps: SetStep[] = [];
  for (let ordinal = first; ordinal < end; ordinal++) {
    const pod = byOrdinal.get(ordinal);
    const step = stepFor(view, ordinal, pod);
    if (step) steps.push(step);
    // The order: nothing goes on before this one is as it should be.
    if (isOrdered && (!pod || !isHealthy(pod))) return steps;
  }
  const condemned = pods
    .filter((pod) => ordinalOf(pod) < first || ordinalOf(pod) >= end)
    .toSorted((a, b) => ordinalOf(b) - ordinalOf(a));
  const firstUnhealthy = condemned.findLast((pod) => !isHealthy(pod));
  for (const pod of condemned) {
    if (isTerminating(pod)) {
      if (isOrdered) return steps;
      continue;
    }
    // An unhealthy one with a lower number would be missed more; only the lowest unhealthy one may go unhealthy.
    if (isOrdered && !isHealthy(pod) && pod !== firstUnhealthy) return steps;
    steps.push({ type: 'delete', pod, why: 'scale' });
    if (isOrdered) return steps;
  }
  if (steps.some(({ type }) => type === 'create' || type === 'delete')) return steps;
  return [...steps, ...updates(view, byOrdinal, isHealthy)];
}

/** For one replica that should be there. */
function stepFor(view: SetView, ordinal: number, pod: StoredPod | undefined): SetStep | undefined {
  if (!pod) return { type: 'create', ordinal, revision: needsCurrent(view, ordinal) ? 'current' : 'update' };
  if (isTerminating(pod)) return undefined;
  if (isEnded(pod)) return { type: 'delete', pod, why: 'ended' };
  const labels = missingLabels(pod);
  if (labels) return { type: 'label', pod, labels };
  return pod.status?.phase === 'Pending' ? { type: 'claims', pod } : undefined;
}

/** Below the partition a pod that is lost comes back as it was. */
function needsCurrent({ spec, status }: SetView, ordinal: number): boolean {
  const { type = 'RollingUpdate', rollingUpdate } = spec.updateStrategy ?? {};
  if (type !== 'RollingUpdate') return false;
  const { first } = rangeOf(spec);
  return ordinal < first + (rollingUpdate ? (rollingUpdate.partition ?? 0) : (status?.currentReplicas ?? 0));
}

/** From the highest ordinal down: as many at once as may be unavailable. One that is not healthy counts, whichever it is. */
function updates(
  { spec, updateRevision }: SetView,
  byOrdinal: ReadonlyMap<number, StoredPod>,
  isHealthy: (pod: StoredPod) => boolean,
): readonly SetStep[] {
  const { type = 'RollingUpdate', rollingUpdate } = spec.updateStrategy ?? {};
  if (type !== 'RollingUpdate') return [];
  const { first, end } = rangeOf(spec);
  let allowed = Math.max(1, scaled(rollingUpdate?.maxUnavailable, end - first, 'down') ?? 1);
  const steps: SetStep[] = [];
  for (let ordinal = end - 1; ordinal >= first + (rollingUpdate?.partition ?? 0) && allowed > 0; ordinal--) {
    const pod = byOrdinal.get(ordinal);
    if (!pod) continue;
    if (revisionOf(pod) !== updateRevision && !isTerminating(pod)) {
      steps.push({ type: 'delete', pod, why: 'update' });
      allowed--;
    } else if (!isHealthy(pod)) allowed--;
  }
  return steps;
}

function healthOf({ spec }: SetView, now: number): (pod: StoredPod) => boolean {
  const minReady = spec.minReadySeconds ?? 0;
  return (pod) => !isTerminating(pod) && isRunningAndReady(pod) && isAvailable(pod, minReady, now);
}

function rangeOf({ replicas = 1, ordinals }: StatefulSetSpec): { readonly first: number; readonly end: number } {
  const first = ordinals?.start ?? 0;
  return { first, end: first + replicas };
}

export function revisionOf({ metadata }: Pick<Pod, 'metadata'>): string | undefined {
  return metadata.labels?.[REVISION_LABEL];
}

function statusOf(view: SetView, now: number): StatefulSetStatus {
  const { spec, pods, currentRevision, updateRevision, collisionCount, generation } = view;
  const minReady = spec.minReadySeconds ?? 0;
  const ready = pods.filter(isRunningAndReady);
  const living = pods.filter((pod) => !isTerminating(pod));
  const updated = living.filter((pod) => revisionOf(pod) === updateRevision).length;
  const { type = 'RollingUpdate' } = spec.updateStrategy ?? {};
  const available = ready.filter((pod) => isAvailable(pod, minReady, now)).length;
  const isComplete =
    type === 'RollingUpdate' &&
    updated === pods.length &&
    ready.length === pods.length &&
    pods.length === (spec.replicas ?? 1);
  const current = isComplete ? updateRevision : currentRevision;
  const { conditions } = view.status ?? {};
  return {
    observedGeneration: generation,
    replicas: pods.length,
    readyReplicas: ready.length,
    availableReplicas: available,
    currentReplicas: living.filter((pod) => revisionOf(pod) === current).length,
    updatedReplicas: updated,
    currentRevision: current,
    updateRevision,
    collisionCount,
    ...(conditions && { conditions }),
  };
}
