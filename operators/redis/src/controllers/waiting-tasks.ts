/** Tasks that nothing is done for just now, for their cluster or for those before them: they say so, and why. Written once, not every turn. */
import { isKubeError } from '@reeve/kube';
import type { DeepReadonly } from '@reeve/runtime';
import type { Reconcile } from '@reeve/runtime/manager';
import type { RedisClusterObject, RedisTaskObject } from '../api/kinds.ts';
import type { RedisTaskStatus } from '../api/task.ts';
import type { Desired } from '../plan/desired.ts';
import { mayReturn, type Seen } from './look.ts';
import { openTasks, storeTask, taskLine } from './tasks.ts';

type Task = DeepReadonly<RedisTaskObject>;

export interface ClusterState {
  /** What is wrong with its spec. */
  readonly problem: string | undefined;
  readonly isPaused: boolean;
  /** Why its servers cannot be asked. */
  readonly unseen: string | undefined;
  readonly isConfigured: boolean;
  /** Whether a server of it answers. */
  readonly isAnswering: boolean;
}

/** Why no task of a cluster is begun; undefined: tasks are. Pure. */
export function whyTasksWait(state: ClusterState): string | undefined {
  const { problem, isPaused, unseen, isConfigured, isAnswering } = state;
  if (problem !== undefined) return `the spec of the cluster cannot be acted on: ${problem}`;
  if (isPaused) return 'the cluster is paused (spec.paused)';
  if (unseen !== undefined) return unseen;
  if (!isConfigured) return 'the cluster is not created yet: its status says what that waits for';
  return isAnswering ? undefined : 'no server of the cluster answers: its status says what is known of them';
}

const ONE_BY_ONE = 'tasks run one after the other, after what the cluster needs itself';
const MOST_TEXT = 1_000;

/** What is to be written to whom (`mayReturn`: see `taskLine`). One that has begun keeps what it says, and goes on when its cluster does. Pure. */
export function waitingTasks(
  tasks: readonly Task[],
  why: string | undefined,
  mayReturn: boolean,
): readonly (readonly [Task, RedisTaskStatus])[] {
  // Also when it is an upgrade that others pass: that goes on meanwhile.
  const [first] = openTasks(tasks);
  return taskLine(tasks, mayReturn).flatMap((task, place, line): readonly (readonly [Task, RedisTaskStatus])[] => {
    const { status } = task;
    const before = task === first ? undefined : line[place - 1];
    if (status?.phase === 'Running') return held(task, status as RedisTaskStatus, why?.slice(0, MOST_TEXT));
    // One that is next, and was told nothing yet, has a turn to begin in.
    const isNext = why === undefined && !before;
    const message = (why ?? itsTurn(before)).slice(0, MOST_TEXT);
    if ((isNext && status?.phase !== 'Waiting') || status?.message === message) return [];
    return [[task, { phase: 'Waiting', message, waitingFor: message }]];
  });
}

/** Of the one right before it, not of the first: so it is told once, however many go before. */
function itsTurn(before: Task | undefined): string {
  return `its turn${before ? ` after task ${before.metadata.name}` : ''}: ${ONE_BY_ONE}`;
}

function held(
  task: Task,
  status: RedisTaskStatus,
  message: string | undefined,
): readonly (readonly [Task, RedisTaskStatus])[] {
  if (status.message === message) return [];
  const { message: _message, waitingFor: _waitingFor, conditions: _conditions, ...begun } = status;
  return [[task, message === undefined ? begun : { ...begun, message, waitingFor: message }]];
}

export interface WaitingGiven {
  readonly work: Pick<Reconcile<RedisClusterObject>, 'api' | 'signal' | 'now'>;
  readonly tasks: readonly Task[];
  readonly desired: Desired;
  readonly seen: Seen;
}

export async function tellWaiting(
  { work, tasks, desired, seen }: WaitingGiven,
  why: string | undefined,
): Promise<void> {
  for (const [task, status] of waitingTasks(tasks, why, mayReturn(seen, desired))) {
    try {
      await storeTask(work, task, status);
    } catch (error) {
      // It was begun or ended by this very turn, or deleted: it has more to say than this.
      if (!isKubeError(error, 'KUBE_CONFLICT') && !isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
    }
  }
}
