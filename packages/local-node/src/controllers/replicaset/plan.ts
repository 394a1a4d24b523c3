/** How many pods a ReplicaSet is short of, or which of its pods go. Pure. */
import type { Stored } from '@reeve/kube';
import type { Pod } from '../../kinds/pod.ts';
import type { ReplicaSetSpec, ReplicaSetStatus } from '../../kinds/replicaset.ts';
import { isActive, isAvailable, isEnded, isReady, isTerminating, nextAvailable } from '../owned/pod-state.ts';

type StoredPod = Stored<Pod>;

export interface ReplicasView {
  readonly spec: ReplicaSetSpec;
  readonly status: ReplicaSetStatus | undefined;
  readonly generation: number;
  readonly isBeingDeleted: boolean;
  readonly pods: readonly StoredPod[];
}

export interface ReplicasPlan {
  readonly create: number;
  readonly remove: readonly StoredPod[];
  readonly status: ReplicaSetStatus;
  readonly wakeAt: number | undefined;
}

/** So many at once at most; the rest comes in the next turns. */
const MOST_AT_ONCE = 500;
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';

export function planReplicas(
  { spec, status, generation, isBeingDeleted, pods }: ReplicasView,
  now: number,
): ReplicasPlan {
  const active = pods.filter(isActive);
  const wanted = spec.replicas ?? 1;
  const minReady = spec.minReadySeconds ?? 0;
  const missing = isBeingDeleted ? 0 : wanted - active.length;
  const ready = active.filter(isReady);
  const labels = Object.entries(spec.template?.metadata?.labels ?? {});
  const full = active.filter(({ metadata }) => labels.every(([key, value]) => metadata.labels?.[key] === value));
  return {
    create: Math.min(Math.max(0, missing), MOST_AT_ONCE),
    remove: missing < 0 ? deletionOrder(active).slice(0, Math.min(-missing, MOST_AT_ONCE)) : [],
    status: {
      replicas: active.length,
      fullyLabeledReplicas: full.length,
      readyReplicas: ready.length,
      availableReplicas: ready.filter((pod) => isAvailable(pod, minReady, now)).length,
      terminatingReplicas: pods.filter((pod) => isTerminating(pod) && !isEnded(pod)).length,
      observedGeneration: generation,
      ...(status?.conditions && { conditions: status.conditions }),
    },
    wakeAt: nextAvailable(active, minReady, now),
  };
}

/** Those first that are missed least: not placed, pending, not ready, cheap, crowded on a node, young. */
export function deletionOrder(pods: readonly StoredPod[]): readonly StoredPod[] {
  const onNode = Map.groupBy(pods, ({ spec }) => spec?.nodeName ?? '');
  const rank = (pod: StoredPod): readonly number[] => [
    Number((pod.spec?.nodeName ?? '') !== ''),
    ['Pending', 'Unknown', 'Running'].indexOf(pod.status?.phase ?? 'Pending'),
    Number(isReady(pod)),
    Number(pod.metadata.annotations?.[DELETION_COST] ?? 0) || 0,
    -(onNode.get(pod.spec?.nodeName ?? '')?.length ?? 0),
    -readySince(pod),
    -Math.max(0, ...(pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount)),
    -(Date.parse(pod.metadata.creationTimestamp ?? '') || 0),
  ];
  const ranked = pods.map((pod) => ({ pod, rank: rank(pod) }));
  ranked.sort((a, b) => compare(a.rank, b.rank) || (a.pod.metadata.name < b.pod.metadata.name ? -1 : 1));
  return ranked.map(({ pod }) => pod);
}

function readySince({ status }: Pod): number {
  return Date.parse(status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? '') || 0;
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [at, value] of a.entries()) {
    const order = value - (b[at] ?? 0);
    if (order !== 0) return order;
  }
  return 0;
}
