/** The tasks of a cluster: which comes next, and what is written to them. Only the cluster's own worker does, so that they exclude each other. */
import type { KubeObject } from '@reeve/kube';
import { type DeepReadonly, type NewCondition, setConditions, timestamp } from '@reeve/runtime';
import type { Reconcile } from '@reeve/runtime/manager';
import { type CurrentOperation, GROUP, VERSION } from '../api/cluster.ts';
import type { Finding } from '../api/findings.ts';
import { type RedisClusterObject, type RedisTaskObject, redisTasks } from '../api/kinds.ts';
import type { RedisTaskStatus } from '../api/task.ts';
import { conditionType } from '../plan/cluster-status.ts';
import { withRemedy } from '../plan/setbacks.ts';
import type { RunEnd } from './operation-runs.ts';

type Task = DeepReadonly<RedisTaskObject>;
type Storing = Pick<Reconcile<KubeObject>, 'api' | 'signal' | 'now'>;
type Work = Storing & Pick<Reconcile<RedisClusterObject>, 'events' | 'eventsOn'>;

const MOST_FINDINGS = 64;
const MOST_TEXT = 1_000;

/** First in, first out; those that have ended or are going are none. */
export function openTasks(tasks: readonly Task[]): readonly Task[] {
  const isOpen = ({ metadata, status }: Task) =>
    !metadata.deletionTimestamp && status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
  const key = ({ metadata }: Task) => `${metadata.creationTimestamp ?? '9'} ${metadata.uid ?? ''}`;
  return tasks.filter(isOpen).sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/**
 * The order in which open tasks come to their turn. An upgrade needs no operation of its own: turns bring it on. So those that mend pass
 * one that is first; else it would wait for the cluster for ever, and what mends the cluster for it.
 * @param mayReturn pods that are away may come back with what they hold: perhaps the upgrade itself makes them anew just now, and a fix
 * that gives up what cannot be read would give up them.
 */
export function taskLine(tasks: readonly Task[], mayReturn: boolean): readonly Task[] {
  const open = openTasks(tasks);
  if (!open[0]?.spec.upgrade) return open;
  const passes = ({ spec: { fix, failover, check } }: Task) =>
    Boolean(failover ?? check ?? (fix && !(mayReturn && fix.allowUnreachable)));
  return [...open.filter(passes), ...open.filter((task) => !passes(task))];
}

export function triggerOf(task: Task): CurrentOperation['trigger'] {
  return { kind: 'RedisTask', name: task.metadata.name, uid: task.metadata.uid ?? '' };
}

/** For the worker of its cluster. That a task failed is told at the task and at the cluster: who watches only one of them hears of it. */
export async function writeTask(work: Work, task: Task, status: RedisTaskStatus): Promise<void> {
  await storeTask(work, task, status);
  if (status.phase !== 'Failed') return;
  const { name, namespace, uid } = task.metadata;
  const of = {
    apiVersion: `${GROUP}/${VERSION}`,
    kind: redisTasks.kind,
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
  };
  const why = `${status.code ?? ''}: ${status.message ?? ''}`;
  work.eventsOn(of).warning(TASK_FAILED, why, 'Task');
  work.events.warning(TASK_FAILED, `task ${name}: ${why}`, 'Task', of);
}

export const TASK_FAILED = 'TaskFailed';

export async function storeTask(work: Storing, task: Task, status: RedisTaskStatus): Promise<void> {
  const { name, namespace, resourceVersion } = task.metadata;
  const metadata = {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
  const conditions = setConditions(undefined, taskConditions(status), work.now());
  await work.api.resource(redisTasks, namespace).apply({ metadata, status: { ...status, conditions } } as never, {
    subresource: 'status',
    fieldManager: 'redis',
    force: true,
    signal: work.signal,
  });
}

/** Only what is true: a task ends once, in one way. */
export function taskConditions({ phase, code, message = '' }: RedisTaskStatus): readonly NewCondition[] {
  if (phase === 'Succeeded') return [{ type: phase, status: 'True', reason: 'Done', message }];
  if (phase !== 'Failed' && phase !== 'Waiting') return [];
  const reason = code === undefined ? phase : conditionType(code);
  return [{ type: phase, status: 'True', reason, message: withRemedy(code ?? '', message) }];
}

export function startedStatus(now: number, operation: string): RedisTaskStatus {
  return { phase: 'Running', operation, startedAt: timestamp(now) };
}

export function endedStatus(before: RedisTaskStatus | undefined, end: RunEnd, now: number): RedisTaskStatus {
  const { message: _message, waitingFor: _waitingFor, ...begun } = before ?? {};
  const rest = { ...begun, endedAt: timestamp(now) };
  if (end.outcome === 'done') {
    return { ...rest, phase: 'Succeeded', ...(end.message !== undefined && { message: end.message }) };
  }
  if (end.outcome === 'refused') return { ...rest, ...refusedStatus(end.refused, now) };
  return { ...rest, phase: 'Failed', code: end.code, message: end.message.slice(0, MOST_TEXT) };
}

export function refusedStatus(
  refused: readonly { readonly code: string; readonly message: string }[],
  now: number,
): RedisTaskStatus {
  const message = refused.map((one) => one.message).join('; ');
  return {
    phase: 'Failed',
    endedAt: timestamp(now),
    code: refused[0]?.code ?? 'REFUSED',
    message: message.slice(0, MOST_TEXT),
  };
}

export function checkedStatus(findings: readonly Finding[], isClean: boolean, now: number): RedisTaskStatus {
  return {
    phase: 'Succeeded',
    startedAt: timestamp(now),
    endedAt: timestamp(now),
    message: isClean ? 'the check is clean' : `${findings.length} findings`,
    findings: findings
      .slice(0, MOST_FINDINGS)
      .map(({ code, severity, message }) => ({ code, severity, message: message.slice(0, MOST_TEXT) })),
  };
}
