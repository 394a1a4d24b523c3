/** Tasks that nothing is done for just now, because nothing is done for their cluster: they say so, and why. Written once, not every turn. */
import { isKubeError } from '@reeve/kube';
import type { DeepReadonly } from '@reeve/runtime';
import type { Reconcile } from '@reeve/runtime/manager';
import type { RedisClusterObject, RedisTaskObject } from '../api/kinds.ts';
import { openTasks, storeTask } from './tasks.ts';

type Task = DeepReadonly<RedisTaskObject>;

export interface ClusterState {
  /** What is wrong with its spec. */
  readonly problem: string | undefined;
  readonly isPaused: boolean;
  /** Why its servers cannot be asked. */
  readonly unseen: string | undefined;
  readonly isConfigured: boolean;
}

/** Why no task of a cluster is begun; undefined: tasks are. Pure. */
export function whyTasksWait({ problem, isPaused, unseen, isConfigured }: ClusterState): string | undefined {
  if (problem !== undefined) return `the spec of the cluster cannot be acted on: ${problem}`;
  if (isPaused) return 'the cluster is paused (spec.paused)';
  if (unseen !== undefined) return unseen;
  return isConfigured ? undefined : 'the cluster is not created yet: its status says what that waits for';
}

/** What a task is told that waited and does so no longer for its cluster: it may come after others. */
const ITS_TURN = 'its turn: tasks run one after the other, after what the cluster needs itself';
const MOST_TEXT = 1_000;

/** What is to be written to whom. Those that run go on when their cluster does, and say how far they are. Pure. */
export function waitingTasks(tasks: readonly Task[], why: string | undefined): readonly (readonly [Task, string])[] {
  const message = (why ?? ITS_TURN).slice(0, MOST_TEXT);
  return openTasks(tasks)
    .filter(({ status }) => status?.phase !== 'Running' && (why !== undefined || status?.phase === 'Waiting'))
    .filter(({ status }) => status?.message !== message)
    .map((task) => [task, message]);
}

export async function tellWaiting(
  work: Pick<Reconcile<RedisClusterObject>, 'api' | 'signal' | 'now'>,
  tasks: readonly Task[],
  why: string | undefined,
): Promise<void> {
  for (const [task, message] of waitingTasks(tasks, why)) {
    try {
      await storeTask(work, task, { phase: 'Waiting', message, waitingFor: message });
    } catch (error) {
      // It was begun or ended by this very turn, or deleted: it has more to say than this.
      if (!isKubeError(error, 'KUBE_CONFLICT') && !isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
    }
  }
}
