/**
 * What the operator would do next with a cluster or a task, and why: the same decisions on live reads. Nothing is changed; the server is
 * asked what would become of objects without keeping them.
 */
import type { Refusal, Waiting } from '@reeve/runtime';
import type { RedisClusterObject, RedisTaskObject } from '../../api/kinds.ts';
import { specProblems } from '../../plan/desired.ts';
import { pausedWaits } from '../../plan/next.ts';
import { isConfigured, mayReturn } from '../look.ts';
import { taskLine } from '../tasks.ts';
import { type Around, type DryRunPorts, visit } from './around.ts';
import { following } from './following.ts';
import { childrenOf, type ObjectPlan } from './objects.ts';
import { isUpgrading, type StepPlan, stepsOf, taskSteps, underWay } from './steps.ts';

export type { DryRunPorts } from './around.ts';
export type { FieldChange } from './field-changes.ts';
export type { ObjectPlan } from './objects.ts';
export type { StepPlan } from './steps.ts';

export interface DryRun {
  readonly objects: readonly ObjectPlan[];
  /** Undefined: nothing is to be done, or not yet. */
  readonly next?: StepPlan;
  readonly refused: readonly Refusal[];
  readonly waitingFor: readonly Waiting[];
  /** What comes after that, as far as it can be known. Of clusters only. */
  readonly following?: readonly string[];
}

/** @param cluster as it is, or as it would be if a file were applied. */
export async function planCluster(given: DryRunPorts, cluster: RedisClusterObject): Promise<DryRun> {
  const problems = specProblems(cluster.spec);
  if (problems.length > 0) return { objects: [], refused: problems, waitingFor: [] };
  return visit(given, cluster, async (around) => {
    const objects = await childrenOf(given, around);
    const paused = pausedWaits(cluster.spec);
    const steps = await stepsOf(around);
    const { desired, seen } = around;
    const task = paused.length > 0 ? undefined : taskLine(around.tasks, mayReturn(seen, desired))[0];
    const asked = task && (await nextTask(around, task as RedisTaskObject, steps.next));
    const { status = {}, metadata } = cluster;
    const configured = isConfigured(status, status.currentOperation?.kind, seen);
    return {
      objects,
      following:
        desired.members === 'external' ? [] : following({ name: metadata.name, desired, seen, configured, objects }),
      ...steps,
      ...asked,
      refused: [...steps.refused, ...(asked?.refused ?? [])],
      waitingFor: [...paused, ...around.waitingFor, ...steps.waitingFor, ...(asked?.waitingFor ?? [])],
    };
  });
}

/** Tasks come after what the cluster needs itself; an upgrade shows beside that, because it is that which brings it on. */
async function nextTask(
  around: Around,
  task: RedisTaskObject,
  next: StepPlan | undefined,
): Promise<Omit<DryRun, 'objects'> | undefined> {
  const { cluster, seen } = around;
  const running = cluster.status?.currentOperation;
  if (!isConfigured(cluster.status ?? {}, running?.kind, seen)) return undefined;
  if ((next || running) && !isUpgrading(around, task)) return undefined;
  const { next: asked, refused, waitingFor } = await taskSteps(around, task, next);
  const { name } = task.metadata;
  return {
    ...(asked && !running && { next: asked }),
    refused: refused.map((one) => ({ ...one, message: `${name}: ${one.message}` })),
    waitingFor,
  };
}

/** What a task asks for, if its turn were now. */
export async function planTask(
  given: DryRunPorts,
  cluster: RedisClusterObject,
  task: RedisTaskObject,
): Promise<DryRun> {
  return visit(given, cluster, async (around) => {
    const { seen, environment } = around;
    const waitingFor = [...pausedWaits(cluster.spec), ...around.waitingFor];
    const none = { objects: [], refused: [], waitingFor };
    const running = cluster.status?.currentOperation;
    const isOwn = running?.trigger.uid !== undefined && running.trigger.uid === task.metadata.uid;
    if (running && isOwn && environment) {
      const begun = await underWay(around, running, environment);
      return { ...none, ...begun, waitingFor: [...waitingFor, ...begun.waitingFor] };
    }
    const busy: readonly Waiting[] = running
      ? [{ reason: 'Busy', message: `${running.kind} runs: ${running.why}`, subjects: [running.id] }]
      : [];
    const unborn: readonly Waiting[] = isConfigured(cluster.status ?? {}, running?.kind, seen)
      ? []
      : [{ reason: 'NotCreated', message: 'the cluster was not created yet: its tasks wait', subjects: [] }];
    const waiting = { ...none, waitingFor: [...waitingFor, ...busy, ...unborn] };
    if (unborn.length > 0) return waiting;
    const own = task.spec.upgrade && !running ? await stepsOf(around) : undefined;
    const steps = await taskSteps(around, task, own?.next);
    return { ...waiting, ...steps, waitingFor: [...waiting.waitingFor, ...steps.waitingFor] };
  });
}
