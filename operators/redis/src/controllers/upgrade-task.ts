/** Goes on with the upgrade that a task asks for. Nothing of it is remembered: what the cluster is to run, and what its pods run, says all. */
import { isKubeError } from '@reeve/kube';
import { type DeepReadonly, type Refusal, timestamp } from '@reeve/runtime';
import type { Reconcile } from '@reeve/runtime/manager';
import type { RedisClusterSpec } from '../api/cluster.ts';
import { type RedisClusterObject, redisClusters, type RedisTaskObject } from '../api/kinds.ts';
import type { PodMember } from '../plan/pods.ts';
import { upgradeStep } from '../plan/upgrade.ts';
import { openTasks, refusedStatus, writeTask } from './tasks.ts';

export interface UpgradeGiven {
  readonly work: Reconcile<RedisClusterObject>;
  readonly tasks: readonly DeepReadonly<RedisTaskObject>[];
  readonly members: readonly PodMember[];
  readonly held: Refusal | undefined;
}

/** If the task that is next asks for one. In every turn, whatever else is done: it is what is done that brings it on. */
export async function advanceUpgrade({ work, tasks, members, held }: UpgradeGiven): Promise<void> {
  const [task] = openTasks(tasks);
  if (!task?.spec.upgrade) return;
  const now = work.now();
  const startedAt = task.status?.startedAt ?? timestamp(now);
  const spec = work.object.spec as RedisClusterSpec;
  const next = upgradeStep(task.spec.upgrade, { spec, members, ...(held && { held }) });
  switch (next.step) {
    case 'refuse':
      return writeTask(work, task, { ...refusedStatus(next.refused, now), startedAt });
    case 'set': {
      const { name, namespace, uid } = work.object.metadata;
      const { version, image } = next;
      const api = work.api.resource(redisClusters, namespace);
      const live = await api.find(name, { signal: work.signal });
      // A person may have changed it meanwhile: the next turn looks again.
      if (live?.metadata.uid !== uid || live?.metadata.generation !== work.object.metadata.generation) return;
      if (task.status?.phase === 'Running') {
        const message = 'version or image of the cluster was changed to something else since';
        return writeTask(work, task, { ...refusedStatus([{ code: 'UPGRADE_SUPERSEDED', message }], now), startedAt });
      }
      const { resourceVersion } = live?.metadata ?? {};
      const value = { metadata: { resourceVersion }, spec: { version, image } };
      try {
        // By the operator's name: the client's is that of the manager, `reeve`, as which people apply what they ask for.
        await api.patch(name, { type: 'merge', value }, { fieldManager: 'redis', signal: work.signal });
      } catch (error) {
        if (!isKubeError(error, 'KUBE_INVALID') && !isKubeError(error, 'KUBE_FORBIDDEN')) throw error;
        const { message } = error as Error;
        return writeTask(work, task, { ...refusedStatus([{ code: 'UPGRADE_REFUSED', message }], now), startedAt });
      }
      work.events.normal('UpgradeBegun', `task ${task.metadata.name} asks for ${image ?? version ?? ''}`, 'Upgrade');
      return writeTask(work, task, { phase: 'Running', startedAt, progress: 'the cluster is told' });
    }
    case 'wait': {
      const { progress, waitingFor } = next;
      if (task.status?.progress === progress && task.status.waitingFor === waitingFor) return;
      return writeTask(work, task, { phase: 'Running', startedAt, progress, waitingFor });
    }
    case 'done':
      return writeTask(work, task, { phase: 'Succeeded', startedAt, endedAt: timestamp(now), message: next.message });
  }
}
