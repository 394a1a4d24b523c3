/** How far each container is, and how far the pod is with them. */
import type { Container } from '../kinds/pod.ts';
import type { ContainerView, PodView, StoredPod } from './view.ts';
import { isLive, viewOf } from './view.ts';

type Policy = 'Always' | 'OnFailure' | 'Never';
type ReadContainer = NonNullable<StoredPod['spec']>['containers'][number];
export type PodContainer = ReadContainer | Container;

/** Of init containers. */
export const isSidecar = ({ restartPolicy }: Pick<PodContainer, 'restartPolicy'>): boolean =>
  restartPolicy === 'Always';

export function policyOf({ spec }: StoredPod): Policy {
  return spec?.restartPolicy ?? 'Always';
}

export function initsOf({ spec }: StoredPod): readonly ReadContainer[] {
  return spec?.initContainers ?? [];
}

export function mainsOf({ spec }: StoredPod): readonly ReadContainer[] {
  return spec?.containers ?? [];
}

/** Why a run was ended whose container has another image now. */
export const CHANGED = 'changed';

/** Whether it runs again after this end, while its pod is not to end. */
export function runsAgain(
  pod: StoredPod,
  container: PodContainer,
  { latest }: ContainerView,
  isInit: boolean,
): boolean {
  const code = latest?.end?.code ?? 0;
  if ((isInit && isSidecar(container)) || latest?.stop?.why === CHANGED) return true;
  const policy = container.restartPolicy ?? policyOf(pod);
  if (code === 0) return policy === 'Always' && !isInit;
  return policy !== 'Never';
}

/** Running, and past its hook and its startup probe. */
export function isStarted({ latest, startup, postStart }: ContainerView): boolean {
  if (latest?.state !== 'running') return false;
  return (startup === undefined || startup === 'success') && (postStart === undefined || postStart === 'done');
}

export function isReady(view: ContainerView): boolean {
  return isStarted(view) && (view.readiness === undefined || view.readiness === 'success');
}

export function endedWith({ latest }: ContainerView): number | undefined {
  return latest?.state === 'ended' ? latest.end?.code : undefined;
}

/** An init container that lets the next one begin. What it did for a folder or a machine that was, it has to do again. */
export function isInitDone(container: PodContainer, view: ContainerView): boolean {
  return isSidecar(container) ? isStarted(view) : endedWith(view) === 0 && !view.latest?.isPast;
}

/** Once containers of the pod's own have run, its initialization is over, whatever its sidecars do. */
export function isInitialized(pod: StoredPod, view: PodView): boolean {
  const latest = mainsOf(pod).map(({ name }) => viewOf(view, name).latest);
  if (latest.some((run) => run && !run.isPast)) return true;
  return initsOf(pod).every((init) => isInitDone(init, viewOf(view, init.name)));
}

/** No container will run again by itself, and none of its own containers runs: `failed` or `succeeded`. */
export function outcomeOf(pod: StoredPod, view: PodView): 'succeeded' | 'failed' | undefined {
  const failedInit = initsOf(pod).some((init) => {
    const of = viewOf(view, init.name);
    const code = isSidecar(init) ? undefined : endedWith(of);
    return code !== undefined && code !== 0 && !runsAgain(pod, init, of, true);
  });
  if (failedInit) return 'failed';
  const mains = mainsOf(pod).map((main) => ({ main, of: viewOf(view, main.name) }));
  if (mains.some(({ main, of }) => endedWith(of) === undefined || runsAgain(pod, main, of, false))) return undefined;
  return mains.every(({ of }) => endedWith(of) === 0) ? 'succeeded' : 'failed';
}

export function liveContainers(pod: StoredPod, view: PodView): readonly ReadContainer[] {
  return [...initsOf(pod), ...mainsOf(pod)].filter(({ name }) => isLive(viewOf(view, name)));
}

/** As the API server tells it, and never taken back. */
export function isTerminal({ status }: StoredPod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
