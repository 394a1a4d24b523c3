/** A task that asks for a check: one look of its own, and what it found. */
import type { DeepReadonly } from '@reeve/runtime';
import type { RedisTaskObject } from '../api/kinds.ts';
import type { RedisTaskStatus } from '../api/task.ts';
import { observeCluster } from '../observe/observe.ts';
import { checkCluster, isClean } from '../plan/check.ts';
import type { Desired } from '../plan/desired.ts';
import { type StrayLook, strayLook, straysLeft } from '../plan/stray-keys.ts';
import type { Environment } from './environment.ts';
import { checkedStatus } from './tasks.ts';

export interface Checked {
  readonly status: RedisTaskStatus;
  /** Of one that counted keys outside their slots. */
  readonly strays?: StrayLook;
}

export async function checkTask(
  { spec }: DeepReadonly<RedisTaskObject>,
  { replicasPerPrimary, spreadBy }: Pick<Desired, 'replicasPerPrimary' | 'spreadBy'>,
  { redis, ports, seeds, annotations }: Environment,
  now: number,
): Promise<Checked> {
  const strayKeys = spec.check?.strayKeys ?? false;
  const view = await observeCluster(redis, ports, seeds, {
    keysBeyondSlots: strayKeys,
    ...(annotations && { annotations }),
  });
  const findings = checkCluster(view, { replicasPerPrimary, spreadBy });
  const status = checkedStatus(findings, isClean(findings), now);
  return { status, ...(strayKeys && { strays: strayLook(findings) }) };
}

/** After a fix, where somebody found stray keys before. */
export async function countStrays({ redis, ports, seeds }: Omit<Environment, 'signal'>): Promise<StrayLook> {
  return straysLeft(await observeCluster(redis, ports, seeds, { keysBeyondSlots: true }));
}
