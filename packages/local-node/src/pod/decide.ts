/** What to do next for a pod. Pure: what is, what should be and the time go in; actions and when to look again come out. */
import { type RestartBackoff, restartAt, restartBackoff, restartDelay } from './backoff.ts';
import {
  CHANGED,
  endedWith,
  initsOf,
  isInitDone,
  isInitialized,
  isSidecar,
  isTerminal,
  liveContainers,
  mainsOf,
  outcomeOf,
  type PodContainer,
  runsAgain,
} from './progress.ts';
import { PUT_AWAY, type StopRecord } from '../shim/instance.ts';
import {
  isLive,
  type PodAction,
  type PodDecision,
  type PodStop,
  type PodView,
  type StoredPod,
  viewOf,
} from './view.ts';

const DEFAULT_GRACE_S = 30;

/** The least time between asking and killing, as the kubelet has it. */
const LEAST_GRACE_MS = 1_000;

class Plan {
  readonly actions: PodAction[] = [];
  wakeAt: number | undefined;

  add(action: PodAction): void {
    this.actions.push(action);
  }

  /** Look again then. */
  at(time: number): void {
    this.wakeAt = this.wakeAt === undefined ? time : Math.min(this.wakeAt, time);
  }

  get decision(): PodDecision {
    return { actions: this.actions, ...(this.wakeAt !== undefined && { wakeAt: this.wakeAt }) };
  }
}

export function graceMsOf(pod: StoredPod): number {
  const { spec, metadata } = pod;
  const seconds = metadata.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_S;
  return Math.max(LEAST_GRACE_MS, seconds * 1_000);
}

/**
 * `isGone`: its object is not there any more, or belongs to a successor. `awaySince`: its machine is put away since then, which is no
 * stop of the pod: whoever comes next goes on with it.
 */
export function decide(
  pod: StoredPod,
  view: PodView,
  now: number,
  options: { readonly isGone?: boolean; readonly awaySince?: number; readonly backoff?: RestartBackoff } = {},
): PodDecision {
  const plan = new Plan();
  const { awaySince } = options;
  if (awaySince !== undefined) {
    const away = { at: awaySince, why: PUT_AWAY, graceMs: graceMsOf(pod) };
    end(pod, view, view.stop ?? away, true, now, plan);
    return plan.decision;
  }
  const stop = stopOf(pod, view, now, options.isGone === true, plan);
  const outcome = isTerminal(pod) ? 'over' : outcomeOf(pod, view);
  const isOver = stop?.why !== 'deadline' || pod.metadata.deletionTimestamp !== undefined;
  if (stop) end(pod, view, stop, isOver, now, plan);
  else if (outcome === 'over' || outcome !== undefined) endSidecars(pod, view, now, plan);
  else run(pod, view, now, options.backoff ?? restartBackoff, plan);
  return plan.decision;
}

/** Whether the pod as a whole must end, since when, and how much time it has. */
function stopOf(pod: StoredPod, view: PodView, now: number, isGone: boolean, plan: Plan): PodStop | undefined {
  const isDeleted = pod.metadata.deletionTimestamp !== undefined;
  const limit = pod.spec?.activeDeadlineSeconds;
  const deadline = limit === undefined ? undefined : view.since + limit * 1_000;
  const isLate = deadline !== undefined && now >= deadline && !isTerminal(pod) && outcomeOf(pod, view) === undefined;
  if (!view.stop) {
    if (deadline !== undefined && !isLate) plan.at(deadline);
    const why = isGone ? 'vanished' : isDeleted ? 'deleted' : isLate ? 'deadline' : undefined;
    if (!why) return undefined;
    const stop: PodStop = { at: now, why, graceMs: graceMsOf(pod) };
    plan.add({ type: 'record-stop', stop });
    return stop;
  }
  const { stop } = view;
  if (isDeleted || isGone) {
    // Deleted again with less time, or deleted while it was ending for another reason. More time is not given.
    const graceMs = Math.min(stop.graceMs, graceMsOf(pod));
    const why = isGone ? 'vanished' : stop.why === 'deadline' ? 'deadline' : 'deleted';
    if (graceMs !== stop.graceMs || why !== stop.why) {
      const changed = { ...stop, why, graceMs } as const;
      plan.add({ type: 'record-stop', stop: changed });
      return changed;
    }
  }
  return stop;
}

function end(pod: StoredPod, view: PodView, stop: StopRecord, isOver: boolean, now: number, plan: Plan): void {
  const live = liveContainers(pod, view);
  if (live.length === 0) {
    if (isOver) plan.add({ type: 'finish' });
    return;
  }
  const until = stop.at + stop.graceMs;
  if (now >= until) {
    for (const { name } of live) kill(view, name, plan);
    return;
  }
  plan.at(until);
  const sidecars = initsOf(pod).filter(isSidecar);
  const mains = live.filter((one) => !sidecars.includes(one));
  const next = mains.length > 0 ? mains : live.slice(-1); // sidecars last, in reverse order
  for (const { name } of next) ask(view, name, until - now, stop.why, plan);
}

/** All that matters has ended: what only served it ends too. */
function endSidecars(pod: StoredPod, view: PodView, now: number, plan: Plan): void {
  const live = liveContainers(pod, view);
  const last = live.at(-1);
  if (!last) return;
  const { latest } = viewOf(view, last.name);
  const until = latest?.stop && latest.stop.at + latest.stop.graceMs;
  if (until !== undefined && now >= until) return kill(view, last.name, plan);
  const graceMs = until === undefined ? graceMsOf(pod) : until - now;
  plan.at(now + graceMs);
  ask(view, last.name, graceMs, 'completed', plan);
}

function ask(view: PodView, container: string, graceMs: number, why: string, plan: Plan): void {
  const { latest } = viewOf(view, container);
  if (latest) plan.add({ type: 'stop', container, attempt: latest.attempt, graceMs, why });
}

function kill(view: PodView, container: string, plan: Plan): void {
  const { latest } = viewOf(view, container);
  if (latest) plan.add({ type: 'kill', container, attempt: latest.attempt });
}

function run(pod: StoredPod, view: PodView, now: number, backoff: RestartBackoff, plan: Plan): void {
  if (!view.isPrepared) {
    if (view.obstacle && now < view.obstacle.retryAt) plan.at(view.obstacle.retryAt);
    else plan.add({ type: 'prepare' });
    return;
  }
  const isPastInit = isInitialized(pod, view);
  for (const init of initsOf(pod)) {
    if (isPastInit && !isSidecar(init)) continue;
    keep(pod, init, true, view, now, backoff, plan);
    if (!isPastInit && !isInitDone(init, viewOf(view, init.name))) return;
  }
  for (const main of mainsOf(pod)) keep(pod, main, false, view, now, backoff, plan);
}

/** Started, restarted, or ended because it is not well. */
function keep(
  pod: StoredPod,
  container: PodContainer,
  isInit: boolean,
  view: PodView,
  now: number,
  backoff: RestartBackoff,
  plan: Plan,
): void {
  const { name } = container;
  const of = viewOf(view, name);
  const { latest, obstacle } = of;
  if (isLive(of)) return tend(pod, container, view, now, plan);
  const isRepeated = isInit && latest?.isPast; // asked only while the pod is not initialized
  if (latest && !isRepeated && (endedWith(of) === undefined || !runsAgain(pod, container, of, isInit))) return;
  const from = latest ? restartAt(latest, backoff) : now;
  const at = Math.max(from, obstacle?.retryAt ?? from);
  if (now < at) return plan.at(at);
  const delayMs = latest ? restartDelay(latest, backoff) : 0;
  plan.add({ type: 'start', container: name, attempt: latest ? latest.attempt + 1 : 0, delayMs });
}

function tend(pod: StoredPod, container: PodContainer, view: PodView, now: number, plan: Plan): void {
  const { latest, liveness, startup, postStart, offence } = viewOf(view, container.name);
  if (!latest) return;
  const { name } = container;
  if (latest.stop) {
    const until = latest.stop.at + latest.stop.graceMs;
    if (now >= until) return kill(view, name, plan);
    plan.at(until);
    return ask(view, name, until - now, latest.stop.why, plan); // of a node before this one, perhaps
  }
  const probe = startup === 'failure' ? container.startupProbe : container.livenessProbe;
  const isChanged = container.image !== undefined && container.image !== latest.image;
  const why = isChanged ? CHANGED : unwell({ liveness, startup, postStart, offence });
  if (why === undefined) return;
  const own = why === 'probe' ? probe?.terminationGracePeriodSeconds : undefined;
  const graceMs = own === undefined ? graceMsOf(pod) : Math.max(LEAST_GRACE_MS, own * 1_000);
  plan.at(now + graceMs);
  ask(view, name, graceMs, why, plan);
}

function unwell(of: {
  readonly liveness: string | undefined;
  readonly startup: string | undefined;
  readonly postStart: string | undefined;
  readonly offence: object | undefined;
}): string | undefined {
  if (of.offence) return 'offence';
  if (of.postStart === 'failed') return 'postStart';
  return of.startup === 'failure' || of.liveness === 'failure' ? 'probe' : undefined;
}
