/**
 * Jobs whose indexes fail each for itself (`backoffLimitPerIndex`). How often an index has failed is written on its newest pod; so the
 * last failed pod of an index is held, neither counted nor let go, until the one that takes its place is there. Pure.
 */
import type { Stored } from '@reeve/kube';
import { INDEX_FAILURES, INDEX_IGNORED_FAILURES, type JobSpec, type JobStatus } from '../../kinds/job.ts';
import type { Pod } from '../../kinds/pod.ts';
import { endedAt, pauseAfter } from './backoff.ts';
import { meaningOf } from './failure-policy.ts';
import { indexOf, parseIndexes } from './indexes.ts';

type StoredPod = Stored<Pod>;

export interface IndexFailures {
  readonly counted: number;
  /** By a rule. They make pauses longer, and nothing else. */
  readonly ignored: number;
}

export const NO_FAILURES: IndexFailures = { counted: 0, ignored: 0 };

export function isPerIndex({ completionMode, backoffLimitPerIndex }: JobSpec): boolean {
  return completionMode === 'Indexed' && backoffLimitPerIndex !== undefined;
}

/** Of the pods before this one. */
export function failuresBefore({ metadata }: Pick<Pod, 'metadata'>): IndexFailures {
  const count = (name: string) => Number.parseInt(metadata.annotations?.[name] ?? '', 10) || 0;
  return { counted: count(INDEX_FAILURES), ignored: count(INDEX_IGNORED_FAILURES) };
}

/** With the failure of this one: what its successor is told. */
export function failuresWith(pod: Pod, { podFailurePolicy }: JobSpec): IndexFailures {
  const { counted, ignored } = failuresBefore(pod);
  const isIgnored = meaningOf(podFailurePolicy?.rules ?? [], pod).type === 'ignore';
  return isIgnored ? { counted, ignored: ignored + 1 } : { counted: counted + 1, ignored };
}

/** Whether its index has failed for good with this pod, which failed. */
function isLast(pod: Pod, { podFailurePolicy, backoffLimitPerIndex = 0 }: JobSpec): boolean {
  const { type } = meaningOf(podFailurePolicy?.rules ?? [], pod);
  if (type === 'fail-index') return true;
  return type !== 'ignore' && failuresBefore(pod).counted >= backoffLimitPerIndex;
}

/** All that have failed for good. `failed`: tracked pods that failed. */
export function failedIndexes(spec: JobSpec, status: JobStatus, failed: readonly StoredPod[]): ReadonlySet<number> {
  const { completions = 0 } = spec;
  const found = new Set(parseIndexes(status.failedIndexes, completions));
  for (const pod of failed) {
    const index = indexOf(pod);
    if (index !== undefined && index < completions && isLast(pod, spec)) found.add(index);
  }
  return found;
}

/** By index: the failed pod whose successor is still to come. `settled`: indexes that need none, or have one. */
export function heldPods(
  { completions = 0 }: JobSpec,
  failed: readonly StoredPod[],
  settled: ReadonlySet<number | undefined>,
): ReadonlyMap<number, StoredPod> {
  const held = new Map<number, StoredPod>();
  for (const pod of failed) {
    const index = indexOf(pod);
    if (index === undefined || index >= completions || settled.has(index)) continue;
    const other = held.get(index);
    if (!other || isLater(pod, other)) held.set(index, pod);
  }
  return held;
}

function isLater(one: StoredPod, other: StoredPod): boolean {
  const rank = (pod: StoredPod) => {
    const { counted, ignored } = failuresBefore(pod);
    return counted + ignored;
  };
  return rank(one) >= rank(other) && (endedAt(one, true) ?? 0) >= (endedAt(other, true) ?? 0);
}

/** When the successor of a failed pod may begin. */
export function successorAt(failed: Pod): number {
  const { counted, ignored } = failuresBefore(failed);
  return (endedAt(failed, true) ?? 0) + pauseAfter(counted + ignored + 1);
}
