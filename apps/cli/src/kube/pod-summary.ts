/** A pod in a few words, as people know them from kubectl. */
import type { AnyObject } from '@reeve/kube';
import { ageText } from './age.ts';

interface State {
  readonly waiting?: { readonly reason?: string };
  readonly running?: object;
  readonly terminated?: {
    readonly reason?: string;
    readonly exitCode?: number;
    readonly signal?: number;
    readonly finishedAt?: string;
  };
}

interface ContainerStatus {
  readonly name: string;
  readonly ready?: boolean;
  readonly started?: boolean;
  readonly restartCount?: number;
  readonly state?: State;
  readonly lastState?: State;
}

interface PodFields {
  readonly spec?: {
    readonly containers?: readonly object[];
    readonly initContainers?: readonly { readonly name: string; readonly restartPolicy?: string }[];
    readonly nodeName?: string;
  };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly podIP?: string;
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
  };
}

export interface PodSummary {
  readonly ready: string;
  readonly status: string;
  readonly restarts: string;
  readonly ip: string;
  readonly node: string;
}

export function podSummary(pod: AnyObject, now: number): PodSummary {
  const { spec = {}, status = {} } = pod as PodFields & AnyObject;
  const inits = spec.initContainers ?? [];
  // Init containers that go on beside the others count as such.
  const sidecars = new Set(inits.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name));
  const initStatuses = status.initContainerStatuses ?? [];
  const statuses = status.containerStatuses ?? [];
  const lasting = [...initStatuses.filter(({ name }) => sidecars.has(name)), ...statuses];
  const total = (spec.containers?.length ?? 0) + sidecars.size;
  const initializing = initText(initStatuses, sidecars, inits.length);
  const counted = initializing === undefined ? lasting : initStatuses;
  return {
    ready: `${lasting.filter(isServing).length}/${total}`,
    status: statusText(pod, status, statuses, initializing),
    restarts: restartsText(counted, now),
    ip: status.podIP ?? '<none>',
    node: spec.nodeName ?? '<none>',
  };
}

const isServing = ({ ready, state }: ContainerStatus): boolean => ready === true && state?.running !== undefined;

function statusText(
  { metadata }: AnyObject,
  { phase = 'Unknown', reason, conditions = [] }: NonNullable<PodFields['status']>,
  statuses: readonly ContainerStatus[],
  initializing: string | undefined,
): string {
  if (metadata.deletionTimestamp !== undefined) {
    if (reason === 'NodeLost') return 'Unknown';
    if (phase !== 'Succeeded' && phase !== 'Failed') return 'Terminating';
  }
  const isGated = conditions.some(({ type, reason: why }) => type === 'PodScheduled' && why === 'SchedulingGated');
  if (isGated) return 'SchedulingGated';
  if (initializing !== undefined) return initializing;
  // The first one that has something to say.
  const told = statuses.map(({ state }) => stateText(state)).find((text) => text !== undefined);
  const usual = reason ?? phase;
  if (told === undefined) return usual;
  const someRun = statuses.some(isServing);
  if (told !== 'Completed' || !someRun) return told;
  const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  return isReady ? 'Running' : 'NotReady';
}

/** Undefined: it runs, or says nothing. */
function stateText(state: State | undefined): string | undefined {
  if (state?.waiting?.reason) return state.waiting.reason;
  const { terminated } = state ?? {};
  if (!terminated) return undefined;
  if (terminated.reason) return terminated.reason;
  return terminated.signal ? `Signal:${terminated.signal}` : `ExitCode:${terminated.exitCode ?? 0}`;
}

/** Undefined: it is past that. */
function initText(
  statuses: readonly ContainerStatus[],
  sidecars: ReadonlySet<string>,
  total: number,
): string | undefined {
  const at = statuses.findIndex(
    ({ name, started, state }) => !(state?.terminated?.exitCode === 0 || (sidecars.has(name) && started === true)),
  );
  const current = statuses[at];
  if (!current) return undefined;
  const { waiting, terminated } = current.state ?? {};
  if (terminated) return `Init:${stateText(current.state)}`;
  if (waiting?.reason && waiting.reason !== 'PodInitializing') return `Init:${waiting.reason}`;
  return `Init:${at}/${total}`;
}

/** With when it was last, if it was. */
function restartsText(statuses: readonly ContainerStatus[], now: number): string {
  const count = statuses.reduce((sum, { restartCount = 0 }) => sum + restartCount, 0);
  const times = statuses.flatMap(({ lastState }) => lastState?.terminated?.finishedAt ?? []);
  const last = times.sort().at(-1);
  return count === 0 || last === undefined ? String(count) : `${count} (${ageText(last, now)} ago)`;
}
