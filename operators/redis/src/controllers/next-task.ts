/** What the next task of a cluster comes to: something to be begun, or its end at once. */
import { type DeepReadonly, timestamp } from '@reeve/runtime';
import type { Reconcile } from '@reeve/runtime/manager';
import type { MemberStatus } from '../api/cluster.ts';
import type { RedisClusterObject, RedisTaskObject } from '../api/kinds.ts';
import type { Desired } from '../plan/desired.ts';
import type { OperationWish } from '../plan/next.ts';
import { areStraysSaid } from '../plan/stray-keys.ts';
import { taskWish } from '../plan/task-wish.ts';
import { type Checked, checkTask, countStrays } from './check-task.ts';
import { choose, NO_APPROVAL, Settling } from './choose.ts';
import type { Environment } from './environment.ts';
import { mayReturn, type Seen } from './look.ts';
import { refusedStatus, taskLine, writeTask } from './tasks.ts';

type Task = DeepReadonly<RedisTaskObject>;

export interface NextTaskGiven {
  readonly work: Reconcile<RedisClusterObject>;
  readonly tasks: readonly Task[];
  readonly desired: Desired;
  readonly seen: Seen;
  readonly stored: readonly DeepReadonly<MemberStatus>[];
  readonly environment: Environment;
}

/** `begin`: to be begun for it. `checked`: to be written to it, when the cluster says the same. */
export type TaskStep =
  | { readonly task: Task; readonly begin: { readonly wish: OperationWish; readonly goal: unknown } }
  | { readonly task: Task; readonly checked: Checked };

/** Undefined: there is none; or what could be said of the next one at once was written to it. */
export async function nextTask(given: NextTaskGiven): Promise<TaskStep | undefined> {
  const { work, tasks, desired, seen, stored, environment } = given;
  const [task] = taskLine(tasks, mayReturn(seen, desired));
  // An upgrade is what turns do anyway, and is gone on with elsewhere.
  if (!task || task.spec.upgrade) return undefined;
  const now = work.now();
  const wish = taskWish(task as RedisTaskObject, { desired, members: seen.members, stored });
  if (!wish) return { task, checked: await checkTask(task, desired, environment, now) };
  if ('refused' in wish) await writeTask(work, task, refusedStatus(wish.refused, now));
  else {
    const settling = new Settling();
    const { begin, refused } = await choose({ wishes: [wish], settling, approval: NO_APPROVAL, environment });
    if (begin) return { task, begin: { wish, goal: begin.proposal.decided.goal } };
    if (refused.length > 0) await writeTask(work, task, refusedStatus(refused, now));
    else {
      const status = { phase: 'Succeeded', endedAt: timestamp(now), message: 'there was nothing to do' } as const;
      // What a fix finds nothing of any more may be over. It goes on without those that it cannot read.
      const isAsked = wish.kind === 'fix' && areStraysSaid(work.object.status?.conditions);
      return { task, checked: { status, ...(isAsked && { strays: await countStrays(environment) }) } };
    }
  }
  return undefined;
}
