/**
 * What a job does next. No outcome of a pod is lost or counted twice, wherever a process dies: the pod has a finalizer until its uid is
 * in the status (`uncountedTerminatedPods`), and its uid becomes a number only in the write that takes it off that list, after the
 * finalizer is gone. Pure: job, pods and the time are given.
 */
import type { Stored } from '@reeve/kube';
import { timestamp } from '@reeve/runtime';
import {
  isFinished,
  JOB_TRACKING,
  type JobCondition,
  jobCondition,
  type JobSpec,
  type JobStatus,
} from '../../kinds/job.ts';
import type { Pod } from '../../kinds/pod.ts';
import { isActive, isEnded, isReady, isTerminating } from '../owned/pod-state.ts';
import { mayStartAt } from './backoff.ts';
import { type Ending, endingOf } from './ending.ts';
import { meaningOf } from './failure-policy.ts';
import { formatIndexes, indexOf, parseIndexes } from './indexes.ts';
import {
  failedIndexes,
  failuresWith,
  heldPods,
  type IndexFailures,
  isPerIndex,
  NO_FAILURES,
  successorAt,
} from './per-index.ts';
import type { Counts, Ends, JobView } from './view.ts';

type StoredPod = Stored<Pod>;

export interface JobPlan {
  /** To be written, if it is new, before anything else is done. */
  readonly status: JobStatus;
  /** Counted, or not to be counted: they may go. After the status. */
  readonly release: readonly StoredPod[];
  /** Running pods that must go; `forget`: their end says nothing about the job. */
  readonly remove: readonly { readonly pod: StoredPod; readonly forget: boolean }[];
  readonly start: readonly NewPod[];
  readonly wakeAt: number | undefined;
}

/** A pod to start. */
export interface NewPod {
  /** Of an indexed job: its number. */
  readonly index?: number;
  /** Where indexes fail each for itself: how often this one has. */
  readonly failures?: IndexFailures;
}

export function isTracked({ metadata }: Pick<Pod, 'metadata'>): boolean {
  return metadata.finalizers?.includes(JOB_TRACKING) ?? false;
}

export function planJob(view: JobView, now: number): JobPlan {
  const { spec, status = {}, pods } = view;
  const tracked = pods.filter(isTracked);
  if (isFinished(status)) return { ...nothing(status), release: tracked, wakeAt: expiryOf(spec, status) };
  const counted = countReleased(status, pods);
  const ends = newEnds(view, counted);
  const ending = endingOf({ view, ends, counts: totals(counted, ends), now });
  const isFailing = ending?.type === 'fail';
  // A job that fails takes its running pods with it: they failed, too.
  const dragged = isFailing ? tracked.filter((pod) => isUncounted(pod, counted, ends)) : [];
  const held = new Set(
    ending || view.isBeingDeleted ? [] : [...ends.held.values()].map(({ metadata }) => metadata.uid),
  );
  const failed = [...ends.failed.filter((uid) => !held.has(uid)), ...dragged.map(({ metadata }) => metadata.uid)];
  const uncounted = {
    succeeded: [...(counted.uncountedTerminatedPods?.succeeded ?? []), ...ends.succeeded],
    failed: [...(counted.uncountedTerminatedPods?.failed ?? []), ...failed],
  };
  const release = tracked.filter(
    ({ metadata }) =>
      uncounted.succeeded.includes(metadata.uid) ||
      uncounted.failed.includes(metadata.uid) ||
      (ends.ignored.has(metadata.uid) && !held.has(metadata.uid)) ||
      ends.indexed.has(metadata.uid) ||
      view.isBeingDeleted,
  );
  const next: JobStatus = { ...counted, ...ends.indexes, uncountedTerminatedPods: uncounted };
  const work =
    view.isBeingDeleted || ending ? { remove: [], start: [], wakeAt: undefined } : manage(view, next, ends.held, now);
  const active = pods.filter(isActive);
  const remove = ending ? active.map((pod) => ({ pod, forget: ending.type === 'succeed' })) : work.remove;
  const told = tell(view, next, ending, now);
  return {
    status: told,
    release,
    remove,
    start: work.start,
    wakeAt: ending ? undefined : earliest(work.wakeAt, deadlineOf(spec, told)),
  };
}

/** Uids whose pods have let go of their finalizer become numbers, and leave the list in the same write. */
function countReleased(status: JobStatus, pods: readonly StoredPod[]): JobStatus {
  const held = new Set(pods.filter(isTracked).map(({ metadata }) => metadata.uid));
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const isHeld = (uid: string) => held.has(uid);
  return {
    ...status,
    succeeded: (status.succeeded ?? 0) + succeeded.filter((uid) => !isHeld(uid)).length,
    failed: (status.failed ?? 0) + failed.filter((uid) => !isHeld(uid)).length,
    uncountedTerminatedPods: { succeeded: succeeded.filter(isHeld), failed: failed.filter(isHeld) },
  };
}

/** Pods that ended and are in no list yet. */
function newEnds({ spec, pods }: JobView, status: JobStatus): Ends {
  const known = new Set([
    ...(status.uncountedTerminatedPods?.succeeded ?? []),
    ...(status.uncountedTerminatedPods?.failed ?? []),
  ]);
  const isIndexed = spec.completionMode === 'Indexed';
  const completions = spec.completions ?? 0;
  const done = new Set(parseIndexes(status.completedIndexes, completions));
  const succeeded: string[] = [];
  const failed: string[] = [];
  const ignored = new Set<string>();
  const indexed = new Set<string>();
  let fatal: string | undefined;
  for (const pod of pods) {
    const { uid } = pod.metadata;
    if (!isTracked(pod) || known.has(uid)) continue;
    const index = indexOf(pod);
    const isStray = isIndexed && (index === undefined || index >= completions);
    if (pod.status?.phase === 'Succeeded') {
      if (isIndexed) {
        indexed.add(uid);
        if (!isStray) done.add(index as number);
      } else succeeded.push(uid);
    } else if (hasFailed(pod, spec)) {
      const meaning = meaningOf(spec.podFailurePolicy?.rules ?? [], pod);
      if (meaning.type === 'fail') fatal ??= meaning.message;
      if (meaning.type === 'ignore' || isStray) ignored.add(uid);
      else failed.push(uid);
    }
  }
  const indexes = isIndexed ? { completedIndexes: formatIndexes(done), succeeded: done.size } : {};
  const ends = { succeeded, failed, ignored, indexed, fatal };
  if (!isPerIndex(spec)) return { ...ends, indexes, held: new Map() };
  const failures = pods.filter((pod) => isTracked(pod) && !known.has(pod.metadata.uid) && hasFailed(pod, spec));
  const lost = failedIndexes(spec, status, failures);
  const settled = new Set([...done, ...lost, ...pods.filter(isActive).map(indexOf)]);
  const held = heldPods(spec, failures, settled);
  return { ...ends, indexes: { ...indexes, failedIndexes: formatIndexes(lost) }, held };
}

/** A pod that somebody deletes will never say how it would have ended; unless the job wants to wait for that. */
function hasFailed(pod: StoredPod, { podReplacementPolicy }: JobSpec): boolean {
  if (pod.status?.phase === 'Failed') return true;
  return podReplacementPolicy !== 'Failed' && isTerminating(pod) && !isEnded(pod);
}

function isUncounted({ metadata, status }: StoredPod, { uncountedTerminatedPods }: JobStatus, ends: Ends): boolean {
  const { succeeded = [], failed = [] } = uncountedTerminatedPods ?? {};
  const all = [...succeeded, ...failed, ...ends.succeeded, ...ends.failed, ...ends.ignored, ...ends.indexed];
  return status?.phase !== 'Succeeded' && !all.includes(metadata.uid);
}

function totals(status: JobStatus, ends: Ends): Counts {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  return {
    succeeded: ends.indexes.succeeded ?? (status.succeeded ?? 0) + succeeded.length + ends.succeeded.length,
    failed: (status.failed ?? 0) + failed.length + ends.failed.length,
  };
}

type Work = Pick<JobPlan, 'remove' | 'start' | 'wakeAt'>;

/** As many pods as are wanted now: too many go, missing ones come, after failures with a pause. */
function manage({ spec, pods }: JobView, status: JobStatus, held: Ends['held'], now: number): Work {
  const active = pods.filter(isActive);
  const forgetting = (some: readonly StoredPod[]) => some.map((pod) => ({ pod, forget: true }));
  if (spec.suspend) return { remove: forgetting(active), start: [], wakeAt: undefined };
  // Let go of in a turn that ended there: how such a pod ends could not be counted any more.
  const untracked = active.filter((pod) => !isTracked(pod));
  if (untracked.length > 0) return { remove: forgetting(untracked), start: [], wakeAt: undefined };
  const { succeeded: done = 0 } = status;
  const succeeded =
    spec.completionMode === 'Indexed' ? done : done + (status.uncountedTerminatedPods?.succeeded?.length ?? 0);
  const parallelism = spec.parallelism ?? 1;
  const left =
    spec.completions === undefined ? (succeeded > 0 ? active.length : parallelism) : spec.completions - succeeded;
  const wanted = Math.max(0, Math.min(parallelism, left));
  if (active.length > wanted) {
    return { remove: forgetting(leastWorth(active).slice(0, active.length - wanted)), start: [], wakeAt: undefined };
  }
  const waitedFor =
    spec.podReplacementPolicy === 'Failed' ? pods.filter((pod) => isTerminating(pod) && !isEnded(pod)) : [];
  const missing = wanted - active.length - waitedFor.length;
  if (missing <= 0) return { remove: [], start: [], wakeAt: undefined };
  const free = () => freeIndexes(spec, status, [...active, ...waitedFor]).slice(0, missing);
  if (isPerIndex(spec)) return startEach(spec, free(), held, now);
  const at = mayStartAt(pods, spec.podReplacementPolicy !== 'Failed');
  if (at !== undefined && at > now) return { remove: [], start: [], wakeAt: at };
  const start: readonly NewPod[] =
    spec.completionMode === 'Indexed' ? free().map((index) => ({ index })) : Array<NewPod>(missing).fill({});
  return { remove: [], start, wakeAt: undefined };
}

/** Each index waits for itself. */
function startEach(spec: JobSpec, indexes: readonly number[], held: Ends['held'], now: number): Work {
  const due = indexes.map((index) => {
    const before = held.get(index);
    const failures = before ? failuresWith(before, spec) : NO_FAILURES;
    return { index, failures, at: before ? successorAt(before) : now };
  });
  const start = due.filter(({ at }) => at <= now).map(({ index, failures }) => ({ index, failures }));
  const later = due.map(({ at }) => at).filter((at) => at > now);
  return { remove: [], start, wakeAt: later.length === 0 ? undefined : Math.min(...later) };
}

function freeIndexes(
  { completions = 0 }: JobSpec,
  { completedIndexes, failedIndexes: lost }: JobStatus,
  taken: readonly StoredPod[],
): number[] {
  const over = [...parseIndexes(completedIndexes, completions), ...parseIndexes(lost, completions)];
  const used = new Set<number | undefined>([...over, ...taken.map(indexOf)]);
  return Array.from({ length: completions }, (_, index) => index).filter((index) => !used.has(index));
}

/** Those that have done least: not scheduled, not ready, youngest. */
function leastWorth(active: readonly StoredPod[]): readonly StoredPod[] {
  const worth = (pod: StoredPod) => (pod.spec?.nodeName ? 1 : 0) + (isReady(pod) ? 1 : 0);
  const born = ({ metadata }: StoredPod) => Date.parse(metadata.creationTimestamp ?? '') || 0;
  return active.toSorted(
    (a, b) => worth(a) - worth(b) || born(b) - born(a) || (a.metadata.name < b.metadata.name ? 1 : -1),
  );
}

function tell(
  { spec, status: before, pods, isBeingDeleted }: JobView,
  next: JobStatus,
  ending: Ending | undefined,
  now: number,
): JobStatus {
  const active = pods.filter(isActive);
  const terminating = pods.filter((pod) => isTerminating(pod) && !isEnded(pod)).length;
  const conditions = new Map((before?.conditions ?? []).map((one) => [one.type, one]));
  const set = (type: string, status: 'True' | 'False', reason: string, message: string) => {
    const known = conditions.get(type);
    if (known?.status === status && known.reason === reason) return;
    const time = timestamp(now);
    conditions.set(type, { type, status, reason, message, lastProbeTime: time, lastTransitionTime: time });
  };
  let { startTime, completionTime } = next;
  const wasSuspended = jobCondition(before, 'Suspended') !== undefined;
  if (!ending && !isBeingDeleted) {
    if (spec.suspend) {
      startTime = undefined;
      set('Suspended', 'True', 'JobSuspended', 'Job suspended');
    } else if (wasSuspended) {
      startTime = timestamp(now);
      set('Suspended', 'False', 'JobResumed', 'Job resumed');
    } else startTime ??= timestamp(now);
  }
  const { succeeded = [], failed = [] } = next.uncountedTerminatedPods ?? {};
  const isOver = active.length === 0 && terminating === 0 && succeeded.length + failed.length === 0;
  if (ending) {
    const { reason, message } = ending;
    set(ending.type === 'fail' ? 'FailureTarget' : 'SuccessCriteriaMet', 'True', reason, message);
    if (isOver && ending.type === 'fail') set('Failed', 'True', reason, message);
    if (isOver && ending.type === 'succeed') {
      set('Complete', 'True', reason, message);
      completionTime = timestamp(now);
    }
  }
  const { startTime: _start, completionTime: _completion, conditions: _conditions, ...rest } = next;
  return {
    ...rest,
    active: active.length,
    ready: active.filter(isReady).length,
    terminating,
    ...(startTime !== undefined && { startTime }),
    ...(completionTime !== undefined && { completionTime }),
    ...(conditions.size > 0 && { conditions: [...conditions.values()] satisfies readonly JobCondition[] }),
  };
}

/** When its time is up, if that is still to come. */
function deadlineOf({ activeDeadlineSeconds: seconds }: JobSpec, { startTime }: JobStatus): number | undefined {
  if (seconds === undefined || startTime === undefined) return undefined;
  return Date.parse(startTime) + seconds * 1_000;
}

/** When a finished job may be deleted. */
export function expiryOf({ ttlSecondsAfterFinished: seconds }: JobSpec, status: JobStatus): number | undefined {
  const end = jobCondition(status, 'Complete') ?? jobCondition(status, 'Failed');
  if (seconds === undefined || !end) return undefined;
  return Date.parse(end.lastTransitionTime ?? '') + seconds * 1_000;
}

function nothing(status: JobStatus): Omit<JobPlan, 'release' | 'wakeAt'> {
  return { status, remove: [], start: [] };
}

function earliest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((one) => one !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
