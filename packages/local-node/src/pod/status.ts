/** The status of a pod, in the words of Kubernetes. Pure. */
import type { ContainerState, ContainerStatus, PodStatus } from '../kinds/pod.ts';
import type { Instance } from '../shim/instance.ts';
import { type RestartBackoff, restartAt, restartBackoff, restartDelay } from './backoff.ts';
import { conditionsOf } from './conditions.ts';
import {
  endedWith,
  initsOf,
  isInitialized,
  isReady,
  isSidecar,
  isStarted,
  isTerminal,
  liveContainers,
  mainsOf,
  outcomeOf,
  type PodContainer,
  runsAgain,
} from './progress.ts';
import { isoTime } from './time.ts';
import { type ContainerView, type PodView, type StoredPod, viewOf } from './view.ts';

type Phase = NonNullable<PodStatus['phase']>;

export function statusOf(
  pod: StoredPod,
  view: PodView,
  now: number,
  backoff: RestartBackoff = restartBackoff,
): PodStatus {
  const phase = phaseOf(pod, view);
  const shown = { pod, view, now, backoff, phase };
  const inits = initsOf(pod).map((one) => containerStatus(one, true, shown));
  const mains = mainsOf(pod).map((one) => containerStatus(one, false, shown));
  const conditions = conditionsOf({ pod, phase, isPrepared: view.isPrepared, inits, mains, view, now });
  const { generation } = pod.metadata;
  return {
    phase,
    ...(generation !== undefined && { observedGeneration: generation }),
    conditions,
    ...causeOf(pod, view, phase),
    hostIP: view.hostAddress,
    ...(view.address !== undefined && { podIP: view.address, podIPs: [{ ip: view.address }] }),
    startTime: isoTime(view.since),
    ...(inits.length > 0 && { initContainerStatuses: inits }),
    containerStatuses: mains,
  };
}

/** A phase that is over stays; one is over only when nothing runs any more. */
export function phaseOf(pod: StoredPod, view: PodView): Phase {
  const before = pod.status?.phase;
  if (isTerminal(pod) && before) return before;
  const isQuiet = liveContainers(pod, view).length === 0;
  const codes = mainsOf(pod).map(({ name }) => endedWith(viewOf(view, name)));
  if (view.stop && isQuiet) {
    if (view.stop.why === 'deadline') return 'Failed';
    if (codes.every((code) => code === 0)) return 'Succeeded';
    if (codes.some((code) => code !== undefined)) return 'Failed';
  }
  const outcome = outcomeOf(pod, view);
  if (outcome !== undefined && isQuiet) return outcome === 'succeeded' ? 'Succeeded' : 'Failed';
  const isEachSeen = mainsOf(pod).every(({ name }) => {
    const { latest } = viewOf(view, name);
    return latest !== undefined && (latest.state !== 'starting' || latest.attempt > 0);
  });
  return isInitialized(pod, view) && isEachSeen ? 'Running' : 'Pending';
}

function causeOf(pod: StoredPod, view: PodView, phase: Phase): Pick<PodStatus, 'reason' | 'message'> {
  if (phase === 'Failed' && view.stop?.why === 'deadline') {
    const message = 'Pod was active on the node longer than the specified deadline';
    return { reason: 'DeadlineExceeded', message };
  }
  if (phase === 'Failed' || phase === 'Succeeded') {
    const { reason, message } = pod.status ?? {};
    return { ...(reason !== undefined && { reason }), ...(message !== undefined && { message }) };
  }
  const { obstacle } = view;
  if (!view.isPrepared && obstacle?.reason === 'SandboxUnavailable')
    return { reason: obstacle.reason, message: obstacle.message };
  return {};
}

interface Shown {
  readonly pod: StoredPod;
  readonly view: PodView;
  readonly now: number;
  readonly backoff: RestartBackoff;
  readonly phase: Phase;
}

export function containerId(pod: StoredPod, container: string, attempt: number): string {
  return `reeve://${pod.metadata.uid}/${container}/${attempt}`;
}

function containerStatus(container: PodContainer, isInit: boolean, shown: Shown): ContainerStatus {
  const { pod, view } = shown;
  const of = viewOf(view, container.name);
  const { latest, previous } = of;
  const isRunning = latest?.state === 'running';
  const isStartedNow = isStarted(of);
  const hasStarted = isInit && !isSidecar(container) ? isRunning : isStartedNow;
  const isDone = isInit && !isSidecar(container) && endedWith(of) === 0;
  const waiting = waitingOf(container, isInit, shown);
  // While it waits to run again, how it ended is its last state.
  const last = waiting && latest?.state === 'ended' ? latest : previous;
  return {
    name: container.name,
    state: stateOf(pod, container.name, latest, waiting),
    lastState: last?.end ? terminated(pod, container.name, last) : {},
    ready: isDone || (isRunning && isReady(of)),
    restartCount: latest?.attempt ?? 0,
    image: container.image ?? '',
    imageID: '',
    ...(latest && { containerID: containerId(pod, container.name, latest.attempt) }),
    started: hasStarted,
  };
}

function stateOf(
  pod: StoredPod,
  name: string,
  latest: Instance | undefined,
  waiting: ContainerState['waiting'],
): ContainerState {
  if (waiting) return { waiting };
  if (latest?.state === 'ended') return terminated(pod, name, latest);
  return { running: { startedAt: isoTime(latest?.startedAt ?? 0) } };
}

function terminated(pod: StoredPod, name: string, run: Instance): ContainerState {
  const { end, startedAt, attempt } = run;
  if (!end) return {};
  return {
    terminated: {
      exitCode: end.code,
      reason: end.reason ?? (end.code === 0 ? 'Completed' : 'Error'),
      ...(end.message !== undefined && { message: end.message }),
      startedAt: isoTime(startedAt ?? end.at),
      finishedAt: isoTime(end.at),
      containerID: containerId(pod, name, attempt),
    },
  };
}

/** Undefined: it runs, or it ended and will not run again. */
function waitingOf(container: PodContainer, isInit: boolean, shown: Shown): ContainerState['waiting'] | undefined {
  const { pod, view, now, backoff, phase } = shown;
  const of: ContainerView = viewOf(view, container.name);
  const { latest, obstacle } = of;
  if (latest?.state === 'running') return undefined;
  const isOver = view.stop !== undefined || phase === 'Succeeded' || phase === 'Failed';
  // It ran on a machine or in a folder that was, and the pod begins anew.
  const isAnew =
    latest?.isPast && !isOver && !isInitialized(pod, view) && (isInit || runsAgain(pod, container, of, false));
  if (latest?.state === 'ended' && !isAnew) {
    if (isOver || !runsAgain(pod, container, of, isInit)) return undefined;
    if (obstacle) return { reason: obstacle.reason, message: obstacle.message };
    if (now >= restartAt(latest, backoff)) return undefined; // it runs again in this turn
    const seconds = restartDelay(latest, backoff) / 1_000;
    const { name, namespace, uid } = pod.metadata;
    const where = `container=${container.name} pod=${name}_${namespace}(${uid})`;
    return { reason: 'CrashLoopBackOff', message: `back-off ${seconds}s restarting failed ${where}` };
  }
  const cause = obstacle ?? (view.isPrepared ? undefined : view.obstacle);
  if (cause) return { reason: cause.reason, message: cause.message };
  const isInitializing = initsOf(pod).length > 0 && (!isInitialized(pod, view) || isInit);
  return { reason: isInitializing ? 'PodInitializing' : 'ContainerCreating' };
}
