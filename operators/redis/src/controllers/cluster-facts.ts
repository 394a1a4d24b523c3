/** What the caches know of a cluster's pods. */
import type { DeepReadonly } from '@reeve/runtime';
import type { Pod, StatefulSet, WorkerNode } from '../api/kinds.ts';
import { SERVER_CONTAINER, topologyKey } from '../plan/children.ts';
import { lifeOf, troubleOf } from '../plan/pod-trouble.ts';
import { ordinalOf, type PodFacts } from '../plan/pods.ts';

const REVISION = 'controller-revision-hash';

export interface Surroundings {
  /** The name of the StatefulSet, and its uid: pods of a predecessor are not ours. */
  readonly set: DeepReadonly<StatefulSet> | undefined;
  readonly setName: string;
  readonly spreadBy: readonly string[];
  workerNode(name: string): DeepReadonly<WorkerNode> | undefined;
}

export function podFacts(pods: readonly DeepReadonly<Pod>[], around: Surroundings): readonly PodFacts[] {
  const { set, setName } = around;
  const revision = set?.status?.updateRevision;
  // A new template is not known to be rolled out while its controller has not seen it.
  const isObserved = set !== undefined && (set.status?.observedGeneration ?? 0) >= (set.metadata?.generation ?? 0);
  return pods.flatMap((pod): readonly PodFacts[] => {
    const { name = '', uid = '', labels, deletionTimestamp, ownerReferences } = pod.metadata ?? {};
    const ordinal = ordinalOf(setName, name);
    const isOurs = ownerReferences?.some((owner) => owner.controller && owner.uid === set?.metadata?.uid) ?? false;
    if (ordinal === undefined || !isOurs) return [];
    const { podIP, conditions, containerStatuses, phase } = pod.status ?? {};
    const image = pod.spec?.containers?.[0]?.image;
    const isGone = phase === 'Succeeded' || phase === 'Failed';
    const [server, trouble] = [lifeOf(pod, SERVER_CONTAINER), troubleOf(pod)];
    const isServing = containerStatuses?.find((one) => one.name === SERVER_CONTAINER)?.ready;
    return [
      {
        name,
        uid,
        ordinal,
        ...(podIP && !isGone ? { ip: podIP } : {}),
        isReady: conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false,
        isDeleting: deletionTimestamp !== undefined && deletionTimestamp !== null,
        isCurrent: !isObserved || revision === undefined || labels?.[REVISION] === revision,
        ...(image !== undefined && { image }),
        ...(server && { server }),
        ...(isServing !== undefined && { isServing }),
        ...(trouble && { trouble }),
        annotations: annotationsOf(pod, around),
      },
    ];
  });
}

/** By the labels of the worker node: `zone` and `host`, or whatever label a person spreads by. */
function annotationsOf(
  pod: DeepReadonly<Pod>,
  { spreadBy, workerNode }: Surroundings,
): Readonly<Record<string, string>> {
  const { nodeName } = pod.spec ?? {};
  const labels = nodeName === undefined ? undefined : workerNode(nodeName)?.metadata?.labels;
  const keys = [...new Set([...spreadBy, 'zone', 'host'])];
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = labels?.[topologyKey(key)] ?? (key === 'host' ? nodeName : undefined);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}
