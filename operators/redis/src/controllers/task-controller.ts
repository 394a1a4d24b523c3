/**
 * Tasks of clusters that are not there. A cluster's own worker sees to its tasks; without a cluster there is none, and a task would never
 * end. It waits for a while, because files are applied in any order, and fails then: a cluster of the same name that somebody makes next
 * month must not find it.
 */
import { type DeepReadonly, finished, keyOf, timestamp, type Verdict, wakeAt } from '@reeve/runtime';
import { Controller, type Parts, type Reconcile, type Reflection } from '@reeve/runtime/manager';
import { type RedisClusterObject, redisClusters, type RedisTaskObject, redisTasks } from '../api/kinds.ts';
import type { RedisTaskStatus } from '../api/task.ts';
import { storeTask, TASK_FAILED } from './tasks.ts';

type Task = DeepReadonly<RedisTaskObject>;

/** How long a task waits for its cluster to be declared. */
export const CLUSTER_WAIT_MS = 600_000;

export type Orphan = { readonly status: RedisTaskStatus; readonly at?: number };

/** What becomes of a task whose cluster is not there; undefined: it has ended. Pure. */
export function orphanOf({ metadata, spec, status }: Task, now: number): Orphan | undefined {
  if (metadata.deletionTimestamp || status?.phase === 'Succeeded' || status?.phase === 'Failed') return undefined;
  const missing = `there is no RedisCluster ${spec.cluster} in namespace ${metadata.namespace ?? ''}`;
  const until = Date.parse(metadata.creationTimestamp ?? '') + CLUSTER_WAIT_MS;
  if (status?.phase !== 'Running' && now < until) {
    return { status: { phase: 'Waiting', code: 'CLUSTER_AWAITED', message: missing }, at: until };
  }
  const { operation, startedAt } = status ?? {};
  return {
    status: {
      phase: 'Failed',
      ...(operation !== undefined && { operation }),
      ...(startedAt !== undefined && { startedAt }),
      endedAt: timestamp(now),
      code: 'CLUSTER_MISSING',
      message: status?.phase === 'Running' ? `${missing} any more` : missing,
    },
  };
}

export class RedisTaskController extends Controller<RedisTaskObject> {
  #clusters: Reflection<RedisClusterObject> | undefined;

  constructor() {
    super({ name: 'redis-tasks' });
  }

  override setUp(parts: Parts): void {
    const queue = parts.queue('tasks');
    const byCluster = 'redis-task-cluster';
    const clusterOf = ({ metadata, spec }: Task) => `${metadata.namespace ?? ''}/${spec.cluster}`;
    const own = parts.reflect(redisTasks, {
      route: () => queue,
      indexes: { [byCluster]: (task) => [clusterOf(task)] },
    });
    // A cluster that comes has its own worker; one that goes leaves its tasks behind.
    this.#clusters = parts.wake(redisClusters, own, (cluster, { change }) =>
      change === 'removed' ? own.cache.byIndex(byCluster, keyOf(cluster)).map(keyOf) : [],
    );
    parts.work({ of: own, queues: [queue], reconcile: (work) => this.#turn(work) });
  }

  async #turn(work: Reconcile<RedisTaskObject>): Promise<Verdict> {
    const { object: task, api, signal } = work;
    const { namespace = '' } = task.metadata;
    const orphan = orphanOf(task, work.now());
    if (!orphan || this.#clusters?.cache.get(`${namespace}/${task.spec.cluster}`)) return finished;
    // Not known is not absent.
    if (await api.resource(redisClusters, namespace).find(task.spec.cluster, { signal })) return finished;
    const { phase, message } = task.status ?? {};
    if (phase !== orphan.status.phase || message !== orphan.status.message) {
      await storeTask(work, task, orphan.status);
      const why = `${orphan.status.code ?? ''}: ${orphan.status.message ?? ''}`;
      if (orphan.status.phase === 'Failed') work.events.warning(TASK_FAILED, why, 'Task');
    }
    return orphan.at === undefined ? finished : wakeAt(orphan.at);
  }
}
