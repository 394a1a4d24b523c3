/** Whether a job has come to its end, and which. Once it is said that it ends so, it does. Pure. */
import { jobCondition } from '../../kinds/job.ts';
import type { Pod } from '../../kinds/pod.ts';
import { isActive } from '../owned/pod-state.ts';
import { parseIndexes } from './indexes.ts';
import { isPerIndex } from './per-index.ts';
import type { Counts, Ends, JobView } from './view.ts';

export interface Ending {
  readonly type: 'fail' | 'succeed';
  readonly reason: string;
  readonly message: string;
}

interface Looked {
  readonly view: JobView;
  readonly ends: Ends;
  readonly counts: Counts;
  readonly now: number;
}

export function endingOf({ view, ends, counts, now }: Looked): Ending | undefined {
  const { spec, status, pods } = view;
  const decided = jobCondition(status, 'FailureTarget');
  if (decided) return fail(decided.reason ?? '', decided.message ?? '');
  const met = jobCondition(status, 'SuccessCriteriaMet');
  if (met) return { type: 'succeed', reason: met.reason ?? '', message: met.message ?? '' };
  if (ends.fatal !== undefined) return fail('PodFailurePolicy', ends.fatal);
  const limit = spec.backoffLimit ?? (isPerIndex(spec) ? Number.POSITIVE_INFINITY : 6);
  if (counts.failed > limit || (spec.template.spec?.restartPolicy === 'OnFailure' && isPastRestarts(pods, limit))) {
    return fail('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  }
  if (isPastDeadline(view, now)) return fail('DeadlineExceeded', 'Job was active longer than specified deadline');
  const indexes = failedByIndexes(view, ends);
  if (indexes) return indexes;
  const rule = successRule(view, ends);
  if (rule !== undefined) {
    return { type: 'succeed', reason: 'SuccessPolicy', message: `Matched rules at index ${rule}` };
  }
  return isComplete(view, counts)
    ? { type: 'succeed', reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' }
    : undefined;
}

function fail(reason: string, message: string): Ending {
  return { type: 'fail', reason, message };
}

/** Where indexes fail each for itself: when too many have, or when there is nothing else left to be done. */
function failedByIndexes({ spec }: JobView, { indexes }: Ends): Ending | undefined {
  const { completions = 0, maxFailedIndexes } = spec;
  if (indexes.failedIndexes === undefined) return undefined;
  const failed = parseIndexes(indexes.failedIndexes, completions).size;
  if (maxFailedIndexes !== undefined && failed > maxFailedIndexes) {
    return fail('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes');
  }
  const isAllOver = failed > 0 && failed + (indexes.succeeded ?? 0) >= completions;
  return isAllOver ? fail('FailedIndexes', 'Job has failed indexes') : undefined;
}

/** The first rule that what has succeeded is enough for. */
function successRule({ spec }: JobView, { indexes }: Ends): number | undefined {
  const { completions = 0, successPolicy } = spec;
  if (!successPolicy || indexes.completedIndexes === undefined) return undefined;
  const done = parseIndexes(indexes.completedIndexes, completions);
  const found = successPolicy.rules.findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined) return succeededCount !== undefined && done.size >= succeededCount;
    const named = [...parseIndexes(succeededIndexes, completions)];
    return named.filter((index) => done.has(index)).length >= (succeededCount ?? named.length);
  });
  return found < 0 ? undefined : found;
}

/** Without a number of completions, one success is the sign that the work is done, and all others may finish theirs. */
function isComplete({ spec, pods }: JobView, { succeeded }: Counts): boolean {
  if (spec.completions !== undefined) return succeeded >= spec.completions;
  return succeeded > 0 && !pods.some(isActive);
}

function isPastDeadline({ spec, status }: JobView, now: number): boolean {
  const { activeDeadlineSeconds: seconds, suspend = false } = spec;
  if (seconds === undefined || status?.startTime === undefined || suspend) return false;
  // Resumed just now: its clock begins anew with this turn.
  if (jobCondition(status, 'Suspended')) return false;
  return now - Date.parse(status.startTime) >= seconds * 1_000;
}

/** Containers that are started anew in the same pod count as well. */
function isPastRestarts(pods: readonly Pod[], limit: number): boolean {
  let restarts = 0;
  for (const { status } of pods) {
    if (status?.phase !== 'Running' && status?.phase !== 'Pending') continue;
    for (const one of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
      restarts += one.restartCount;
    }
  }
  return limit === 0 ? restarts > 0 : restarts >= limit;
}
