/** What is wrong with the containers of a pod now, and what was wrong with them before, in words. Pure. */
import type { AnyObject } from '@reeve/kube';
import { ageText } from './age.ts';

interface Terminated {
  readonly reason?: string;
  readonly message?: string;
  readonly exitCode?: number;
  readonly signal?: number;
  readonly finishedAt?: string;
}

interface State {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: object;
  readonly terminated?: Terminated;
}

interface ContainerStatus {
  readonly name: string;
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly state?: State;
  readonly lastState?: State;
}

export interface ContainerFaults {
  readonly now: readonly string[];
  readonly past: readonly string[];
}

/** On the way, and nothing wrong. */
const USUAL_WAITS: readonly string[] = ['PodInitializing', 'ContainerCreating'];

export function containerFaults(pod: AnyObject, now: number): ContainerFaults {
  const { containerStatuses = [], initContainerStatuses = [] } =
    (pod as { readonly status?: Readonly<Record<string, readonly ContainerStatus[] | undefined>> } & AnyObject)
      .status ?? {};
  const name = pod.metadata.name ?? '';
  const told = [
    ...(initContainerStatuses ?? []).map((one) => faultsOf(name, one, true, now)),
    ...(containerStatuses ?? []).map((one) => faultsOf(name, one, false, now)),
  ];
  return { now: told.flatMap((one) => one.now), past: told.flatMap((one) => one.past) };
}

function faultsOf(pod: string, container: ContainerStatus, isInit: boolean, now: number): ContainerFaults {
  const { name, restartCount = 0, state = {}, lastState } = container;
  const { waiting, terminated, running } = state;
  const who = `container ${name}`;
  const logs = (option: string): string => `\`reeve logs ${pod} -c ${name}${option}\``;
  const before = lastState?.terminated;
  if (waiting) {
    if (USUAL_WAITS.includes(waiting.reason ?? '')) return { now: [], past: [] };
    const ended = before
      ? `; it ended with ${endText(before)}, ${agoText(before, now)}: ${logs(' --previous')} shows what it wrote`
      : '';
    const message = waiting.message ? `: ${waiting.message}` : '';
    return { now: [`${who} waits (${waiting.reason ?? 'no reason'})${message}${ended}`], past: [] };
  }
  if (terminated && (terminated.exitCode ?? 0) !== 0) {
    const line = `${who} ended with ${endText(terminated)}, ${agoText(terminated, now)}: ${logs('')} shows what it wrote`;
    return { now: [line], past: [] };
  }
  const isUnready = running !== undefined && container.ready === false && !isInit;
  const past =
    restartCount > 0 && before
      ? [
          `${who} was started ${restartCount + 1} times; the last run ended with ${endText(before)}, ${agoText(before, now)}`,
        ]
      : [];
  return { now: isUnready ? [`${who} runs, and is not ready`] : [], past };
}

function endText({ exitCode, signal, reason, message }: Terminated): string {
  const how = signal ? `signal ${signal}` : `exit code ${exitCode ?? 0}`;
  const why = reason && reason !== 'Error' && reason !== 'Completed' ? ` (${reason})` : '';
  return `${how}${why}${message ? ` and the words "${message.trim()}"` : ''}`;
}

const agoText = ({ finishedAt }: Terminated, now: number): string => `${ageText(finishedAt, now)} ago`;
