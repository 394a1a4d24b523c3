/** What Kubernetes tells of a pod that does not come up: why, and whether its server can be alive. Pure. */
import type { DeepReadonly, NewCondition, Waiting } from '@reeve/runtime';
import type { ContainerStatus, Pod } from '../api/kinds.ts';
import { SERVER_CONTAINER } from './children.ts';
import type { PodMember } from './pods.ts';

/** `unstarted`: it never ran in this pod, so nothing can be in it. `down`: it ran, and does not now. */
export type ContainerLife = 'unstarted' | 'down' | 'running';

/** In the words of Kubernetes. */
export interface PodTrouble {
  readonly reason: string;
  readonly message: string;
  /** Since when, where Kubernetes tells. */
  readonly since?: number;
}

type Told = Pick<DeepReadonly<Pod>, 'spec' | 'status'>;
type Status = DeepReadonly<ContainerStatus>;

/** Of a container that is only not there yet. */
const ON_ITS_WAY: readonly string[] = ['ContainerCreating', 'PodInitializing'];
const MOST_TEXT = 400;
const MOST_REASON = 63;
const MOST_NAMES = 5;
const CONDITION = 'PodStuck';
/** A pod that found no place in the first moment mostly finds one in the next: its claims are still being made. */
const PATIENCE_MS = 10_000;

/** Of one container. Undefined: nobody says. That is not to be taken for dead. */
export function lifeOf({ spec, status }: Told, container: string): ContainerLife | undefined {
  const told = status?.containerStatuses?.find(({ name }) => name === container);
  // Without a place it was never begun; with one, the node has not told yet.
  if (!told) return spec?.nodeName ? undefined : 'unstarted';
  const { state, lastState, restartCount = 0 } = told;
  if (state?.running) return 'running';
  if (state?.terminated || lastState?.terminated || restartCount > 0) return 'down';
  return state?.waiting ? 'unstarted' : undefined;
}

/** Undefined: it is well, or on its way. */
export function troubleOf({ status }: Told): PodTrouble | undefined {
  const unplaced = status?.conditions?.find((one) => one.type === 'PodScheduled' && one.status === 'False');
  if (unplaced) {
    const since = Date.parse(unplaced.lastTransitionTime ?? '');
    const said = trouble(unplaced.reason ?? 'Unschedulable', unplaced.message);
    return Number.isNaN(since) ? said : { ...said, since };
  }
  for (const container of status?.containerStatuses ?? []) {
    const found = containerTrouble(container);
    if (found) return found;
  }
  return status?.phase === 'Failed' ? trouble(status.reason ?? 'Failed', status.message) : undefined;
}

function containerTrouble({ name, state, lastState }: Status): PodTrouble | undefined {
  const { waiting, terminated } = state ?? {};
  const whose = name === SERVER_CONTAINER ? '' : `container ${name}: `;
  if (waiting?.reason !== undefined && !ON_ITS_WAY.includes(waiting.reason)) {
    const parts = [waiting.message, endText(lastState?.terminated)].filter((part) => part !== undefined && part !== '');
    return trouble(waiting.reason, `${whose}${parts.join('; ')}`);
  }
  if (!terminated) return undefined;
  return trouble(terminated.reason ?? 'Terminated', `${whose}${endText(terminated) ?? ''}`);
}

function endText(end: NonNullable<Status['state']>['terminated']): string | undefined {
  if (!end) return undefined;
  const said = end.message === undefined || end.message === '' ? '' : `: ${end.message.trim()}`;
  return `it ended with ${end.exitCode} (${end.reason ?? 'no reason'})${said}`;
}

function trouble(reason: string, message = ''): PodTrouble {
  return { reason: reason.slice(0, MOST_REASON), message: message.slice(0, MOST_TEXT) };
}

type Troubled = PodMember & { readonly trouble: PodTrouble };

function troubled(members: readonly PodMember[]): readonly Troubled[] {
  return members.filter((pod): pod is Troubled => pod.trouble !== undefined && !pod.isDeleting);
}

/** For each reason of pods in which nobody answers. */
export function troubleWaits(absent: readonly PodMember[]): readonly Waiting[] {
  const pods = troubled(absent);
  return [...new Set(pods.map((pod) => pod.trouble.reason))].map((reason) => {
    const those = pods.filter((pod) => pod.trouble.reason === reason);
    const names = those.map(({ name }) => name);
    return { reason, message: `${listed(names)}: ${textOf(those[0] as Troubled)}`, subjects: names.slice(0, 16) };
  });
}

/** Also of pods whose server answers: an agent beside it may not come up. What has only begun is told when it lasts. */
export function stuckConditions(
  members: readonly PodMember[],
  before: readonly NewCondition[] | undefined,
  now: number,
): readonly NewCondition[] {
  const said = before?.find(({ type }) => type === CONDITION);
  const lasts = ({ trouble: { since } }: Troubled) => since === undefined || now - since >= PATIENCE_MS;
  const pods = troubled(members).filter((pod) => said?.status === 'True' || lasts(pod));
  const [first] = pods;
  if (first) {
    const texts = pods.slice(0, MOST_NAMES).map((pod) => `${pod.name}: ${textOf(pod)}`);
    const more = pods.length > MOST_NAMES ? [`and ${pods.length - MOST_NAMES} more`] : [];
    const message = [...texts, ...more].join('; ');
    return [{ type: CONDITION, status: 'True', reason: first.trouble.reason, message }];
  }
  return said ? [{ type: CONDITION, status: 'False', reason: 'NoneStuck', message: '' }] : [];
}

function textOf({ trouble: { reason, message } }: Troubled): string {
  return message === '' ? reason : `${reason}: ${message}`;
}

function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return more > 0 ? `${names.slice(0, MOST_NAMES).join(', ')} and ${more} more` : names.join(', ');
}
