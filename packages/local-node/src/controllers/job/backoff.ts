/** When a job may start the next pod after failures. Read off the pods themselves, so that a restart forgets nothing. Pure. */
import type { Pod } from '../../kinds/pod.ts';

const BASE_MS = 10_000;
const MOST_MS = 600_000;

/**
 * Failures since the last success double the wait, from the last of them on. Undefined: at once. `deletedCounts`: a pod that somebody
 * deletes is a failure, too.
 */
export function mayStartAt(pods: readonly Pod[], deletedCounts: boolean): number | undefined {
  const ended = pods
    .map((pod) => ({ isFailure: pod.status?.phase !== 'Succeeded', at: endedAt(pod, deletedCounts) }))
    .filter((one): one is { isFailure: boolean; at: number } => one.at !== undefined)
    .toSorted((a, b) => b.at - a.at);
  const successAt = ended.findIndex(({ isFailure }) => !isFailure);
  const failures = successAt < 0 ? ended.length : successAt;
  const [last] = ended;
  if (failures === 0 || !last) return undefined;
  return last.at + pauseAfter(failures);
}

/** Twice as long after each failure. */
export function pauseAfter(failures: number): number {
  return Math.min(BASE_MS * 2 ** (failures - 1), MOST_MS);
}

/** Undefined: it has not. */
export function endedAt({ status, metadata }: Pod, deletedCounts: boolean): number | undefined {
  const isEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  if (!isEnded && !(deletedCounts && metadata.deletionTimestamp !== undefined)) return undefined;
  const times = (status?.containerStatuses ?? [])
    .map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? ''))
    .filter((at) => !Number.isNaN(at));
  if (times.length > 0) return Math.max(...times);
  const unready = status?.conditions?.find(({ type, status: is }) => type === 'Ready' && is === 'False');
  const since = Date.parse(unready?.lastTransitionTime ?? '');
  if (!Number.isNaN(since)) return since;
  // When it was asked to go; the time that is written down is when its grace is over.
  const asked = Date.parse(metadata.deletionTimestamp ?? '') - (metadata.deletionGracePeriodSeconds ?? 0) * 1_000;
  const at = Number.isNaN(asked) ? Date.parse(metadata.creationTimestamp ?? '') : asked;
  return Number.isNaN(at) ? undefined : at;
}
