/** When a job may start the next pod after failures. Read off the pods themselves, so that a restart forgets nothing. Pure. */
import type { Pod } from '../../kinds/pod.ts';

const BASE_MS = 10_000;
const MOST_MS = 600_000;

/** Failures since the last success double the wait, from the last of them on. Undefined: at once. */
export function mayStartAt(pods: readonly Pod[]): number | undefined {
  const ended = pods
    .map((pod) => ({ isFailure: pod.status?.phase !== 'Succeeded', at: endedAt(pod) }))
    .filter((one): one is { isFailure: boolean; at: number } => one.at !== undefined)
    .toSorted((a, b) => b.at - a.at);
  const successAt = ended.findIndex(({ isFailure }) => !isFailure);
  const failures = successAt < 0 ? ended.length : successAt;
  const [last] = ended;
  if (failures === 0 || !last) return undefined;
  return last.at + Math.min(BASE_MS * 2 ** (failures - 1), MOST_MS);
}

function endedAt({ status, metadata }: Pod): number | undefined {
  if (status?.phase !== 'Succeeded' && status?.phase !== 'Failed') return undefined;
  const times = (status.containerStatuses ?? [])
    .map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? ''))
    .filter((at) => !Number.isNaN(at));
  if (times.length > 0) return Math.max(...times);
  const since = status.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
  const at = Date.parse(since ?? metadata.deletionTimestamp ?? metadata.creationTimestamp ?? '');
  return Number.isNaN(at) ? undefined : at;
}
