/** What a task's worker does next. Pure: the object, and what this process knows of the steps. */
import type { Outcome } from '../command/command.ts';
import type { PodPhase, StepState, TaskClass, TaskMember, TaskPhase, TaskPod, TaskStatus } from './task.ts';
import { isEnded } from './task.ts';

export interface TaskView {
  readonly class: TaskClass;
  readonly status: TaskStatus | undefined;
  readonly isDeleting: boolean;
  /** Our finalizer is on it. */
  readonly isHeld: boolean;
  readonly steps: ReadonlyMap<string, StepState>;
  readonly mustYield: boolean;
  readonly width: number;
  readonly attempts: number;
  readonly onFailure: 'stop' | 'continue';
}

export type Pods = Readonly<Record<string, TaskPod>>;

/** What a task's report says at its end. */
export interface TaskEnd {
  readonly phase: 'Succeeded' | 'Failed';
  readonly pods: Pods;
  readonly code?: string;
  readonly message?: string;
}

export type TaskAction =
  /** It ended, and nothing of it is left: somebody may give the lock back. */
  | { readonly do: 'over'; readonly phase: TaskPhase | 'Cancelled'; readonly message?: string }
  /** Put the finalizer on it, before anything that would have to be cancelled. */
  | { readonly do: 'hold' }
  /** Freeze the members. */
  | { readonly do: 'init' }
  /** Stop everything, then let go. */
  | { readonly do: 'cancel' }
  /** Start these, if any, and wait for what is under way. */
  | { readonly do: 'work'; readonly start: readonly (TaskMember & { readonly attempt: number })[] }
  /** Write the map as it is by now; the task goes on. */
  | { readonly do: 'record'; readonly pods: Pods }
  | ({ readonly do: 'finalize' } & TaskEnd)
  /** The report is written: forget the steps, and take the finalizer off. */
  | { readonly do: 'let-go' }
  | { readonly do: 'yield' };

export function decideTask(view: TaskView): TaskAction {
  const { status, isDeleting, isHeld } = view;
  if (isDeleting) return isHeld ? { do: 'cancel' } : { do: 'over', phase: 'Cancelled' };
  if (isEnded(status)) {
    if (isHeld) return { do: 'let-go' };
    const phase = status?.phase as TaskPhase;
    return { do: 'over', phase, ...(status?.message !== undefined && { message: status.message }) };
  }
  if (view.mustYield && !status?.pods) return { do: 'yield' };
  if (!isHeld) return { do: 'hold' };
  if (!status?.pods) return { do: 'init' };
  return decideSteps(view, status.pods);
}

function decideSteps(view: TaskView, pods: Pods): TaskAction {
  const merged = mergePods(pods, view.steps, view.attempts);
  const members = orderedPods(merged);
  const failure = members.find(({ pod }) => pod.phase === 'Failed' || pod.phase === 'Unknown');
  const isStopping = failure !== undefined && view.onFailure === 'stop';
  const waiting = members.filter(({ pod }) => pod.phase === 'Waiting');
  const flying = waiting.filter(({ name }) => isFlying(view.steps.get(name)));
  if (waiting.length === 0 || (isStopping && flying.length === 0)) return finalize(merged, failure?.name);
  // A sequential task writes each step down before it begins the next one: that is where a restart goes on.
  const isPausing = view.mustYield && flying.length === 0;
  if ((view.class === 'sequential' || isPausing) && hasNews(pods, merged)) return { do: 'record', pods: merged };
  if (isPausing) return { do: 'yield' };
  const width = view.class === 'parallel' ? view.width : 1;
  const room = isStopping || view.mustYield ? 0 : width - flying.length;
  const start = waiting
    .filter(({ name }) => !isFlying(view.steps.get(name)))
    .slice(0, Math.max(0, room))
    .map(({ name, pod }) => ({ name, uid: pod.uid, attempt: nextAttempt(view.steps.get(name)) }));
  return { do: 'work', start };
}

function finalize(pods: Pods, failed: string | undefined): TaskAction {
  const ended = Object.fromEntries(
    Object.entries(pods).map(([name, pod]): [string, TaskPod] => [
      name,
      pod.phase === 'Waiting' ? { ...pod, phase: 'Skipped' } : pod,
    ]),
  );
  if (failed === undefined) return { do: 'finalize', phase: 'Succeeded', pods: ended };
  const why = ended[failed]?.message;
  return { do: 'finalize', phase: 'Failed', pods: ended, message: `${failed}: ${why ?? 'failed'}` };
}

/** The map with what ended since it was written. */
export function mergePods(pods: Pods, steps: ReadonlyMap<string, StepState>, attempts: number): Pods {
  return Object.fromEntries(
    Object.entries(pods).map(([name, pod]): [string, TaskPod] => {
      const step = steps.get(name);
      if (pod.phase !== 'Waiting' || !step?.outcome) return [name, pod];
      const phase = phaseOf(step.outcome, step.attempt, attempts);
      if (phase === 'Waiting') return [name, pod];
      const message = step.outcome.status === 'done' ? step.outcome.note : step.outcome.message;
      return [name, { ...pod, phase, ...(message !== undefined && { message }) }];
    }),
  );
}

function phaseOf(outcome: Outcome, attempt: number, attempts: number): PodPhase {
  if (outcome.status === 'done') return 'Done';
  if (outcome.status === 'stale') return 'Waiting'; // nothing was changed: the same attempt again
  if (outcome.code === 'ORDER_UNKNOWN') return 'Unknown'; // what may be done already is not begun again by itself
  if (outcome.code === 'ORDER_CANCELLED') return 'Waiting'; // we did that ourselves, to give way
  if (outcome.code === 'ORDER_POD_REPLACED') return 'Failed'; // whom it was for never comes back
  return attempt < attempts ? 'Waiting' : 'Failed';
}

function nextAttempt(step: StepState | undefined): number {
  if (!step) return 1;
  return step.outcome?.status === 'failed' ? step.attempt + 1 : step.attempt;
}

function isFlying(step: StepState | undefined): boolean {
  return step !== undefined && step.outcome === undefined;
}

function hasNews(before: Pods, now: Pods): boolean {
  return Object.entries(now).some(([name, { phase }]) => phase !== before[name]?.phase);
}

/** In the order of their names, numbers by value: a map comes back from the API in any order. */
function orderedPods(pods: Pods): readonly { readonly name: string; readonly pod: TaskPod }[] {
  return Object.entries(pods)
    .map(([name, pod]) => ({ name, pod }))
    .sort((a, b) => compareNames(a.name, b.name));
}

export function compareNames(a: string, b: string): number {
  const [as, bs] = [a.match(/\d+|\D+/g) ?? [], b.match(/\d+|\D+/g) ?? []];
  for (let i = 0; i < Math.max(as.length, bs.length); i++) {
    const [x = '', y = ''] = [as[i], bs[i]];
    if (x === y) continue;
    const byValue = Number(x) - Number(y);
    if (!Number.isNaN(byValue) && byValue !== 0 && x !== '' && y !== '') return byValue;
    return x < y ? -1 : 1;
  }
  return 0;
}
