/** The conditions that a node writes about a pod. */
import type { ContainerStatus, PodCondition } from '../kinds/pod.ts';
import { initsOf, isInitDone, isInitialized } from './progress.ts';
import { isoTime } from './time.ts';
import { type PodView, type StoredPod, viewOf } from './view.ts';

interface Shown {
  readonly pod: StoredPod;
  readonly phase: string;
  readonly isPrepared: boolean;
  readonly inits: readonly ContainerStatus[];
  readonly mains: readonly ContainerStatus[];
  readonly view: PodView;
  readonly now: number;
}

type Judgement = Pick<PodCondition, 'status' | 'reason' | 'message'>;

const YES: Judgement = { status: 'True' };

export function conditionsOf(shown: Shown): readonly PodCondition[] {
  const { pod, phase, isPrepared } = shown;
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  const ready = containersReady(shown);
  const judged: readonly (readonly [string, Judgement])[] = [
    ['PodReadyToStartContainers', isPrepared && !isOver ? YES : { status: 'False' }],
    ['Initialized', initialized(shown)],
    ['Ready', readiness(pod, ready)],
    ['ContainersReady', ready],
    ['PodScheduled', YES],
  ];
  return judged.map(([type, judgement]) => condition(shown, type, judgement));
}

function condition({ pod, now }: Shown, type: string, judgement: Judgement): PodCondition {
  const before = pod.status?.conditions?.find((one) => one.type === type);
  const { generation } = pod.metadata;
  const isSame = before?.status === judgement.status && before.lastTransitionTime !== undefined;
  return {
    type,
    ...judgement,
    lastTransitionTime: isSame ? (before.lastTransitionTime as string) : isoTime(now),
    ...(generation !== undefined && { observedGeneration: generation }),
  };
}

function initialized({ pod, phase, view }: Shown): Judgement {
  if (phase === 'Succeeded') return { ...YES, reason: 'PodCompleted' };
  if (isInitialized(pod, view)) return YES;
  const open = initsOf(pod).filter((init) => !isInitDone(init, viewOf(view, init.name)));
  const message = `containers with incomplete status: [${open.map(({ name }) => name).join(' ')}]`;
  return { status: 'False', reason: 'ContainersNotInitialized', message };
}

function containersReady({ pod, phase, inits, mains }: Shown): Judgement {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  const sidecars = initsOf(pod).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const counted = [...inits.filter(({ name }) => sidecars.some((one) => one.name === name)), ...mains];
  const open = counted.filter(({ ready }) => !ready);
  if (open.length === 0) return YES;
  const message = `containers with unready status: [${open.map(({ name }) => name).join(' ')}]`;
  return { status: 'False', reason: 'ContainersNotReady', message };
}

/** Conditions of others may have to hold, too. */
function readiness(pod: StoredPod, containers: Judgement): Judgement {
  if (containers.status !== 'True') return containers;
  const gates = pod.spec?.readinessGates ?? [];
  const open = gates.filter(({ conditionType }) => {
    return pod.status?.conditions?.find(({ type }) => type === conditionType)?.status !== 'True';
  });
  if (open.length === 0) return YES;
  const list = open.map(
    ({ conditionType }) =>
      `corresponding condition of pod readiness gate "${conditionType}" does not exist or is not True.`,
  );
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: list.join('\n') };
}
