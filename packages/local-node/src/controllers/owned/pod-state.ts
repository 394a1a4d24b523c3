/** What is true of a pod, in the words that controllers use. */
import type { Stored } from '@reeve/kube';
import type { Pod } from '../../kinds/pod.ts';

type Seen = Pick<Pod, 'status' | 'metadata'>;

export function isTerminating({ metadata }: Seen): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function isEnded({ status }: Pick<Pod, 'status'>): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Neither ended nor on its way out. */
export function isActive(pod: Seen): boolean {
  return !isEnded(pod) && !isTerminating(pod);
}

export function isReady({ status }: Pick<Pod, 'status'>): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
}

export function isRunningAndReady(pod: Pick<Pod, 'status'>): boolean {
  return pod.status?.phase === 'Running' && isReady(pod);
}

/** When it is, or will have been, ready for so long; undefined: it is not ready. */
export function availableAt({ status }: Pick<Pod, 'status'>, minReadySeconds: number): number | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True') return undefined;
  if (minReadySeconds === 0) return Number.NEGATIVE_INFINITY;
  const since = Date.parse(ready.lastTransitionTime ?? '');
  return Number.isNaN(since) ? undefined : since + minReadySeconds * 1_000;
}

export function isAvailable(pod: Pick<Pod, 'status'>, minReadySeconds: number, now: number): boolean {
  const at = availableAt(pod, minReadySeconds);
  return at !== undefined && at <= now;
}

/** When the next of these becomes available by the mere passing of time. */
export function nextAvailable(pods: readonly Stored<Pod>[], minReadySeconds: number, now: number): number | undefined {
  const times = pods
    .filter((pod) => !isTerminating(pod))
    .map((pod) => availableAt(pod, minReadySeconds))
    .filter((at): at is number => at !== undefined && at > now);
  return times.length === 0 ? undefined : Math.min(...times);
}
