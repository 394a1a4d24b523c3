/** What the node keeps of a pod on disk, besides the runs of its containers: enough to end it when its object is gone. */
import { join } from 'node:path';
import type { HostFiles } from '../host/host.ts';
import { PUT_AWAY } from '../pod/progress.ts';
import type { PodStop, StoredPod } from '../pod/view.ts';
import type { ContainerStatus } from '../kinds/pod.ts';
import { type Instance, LOST_REASON } from '../shim/instance.ts';

export interface PodRecord {
  readonly pod: StoredPod;
  readonly since: number;
  readonly address?: string;
  /** Its address and its volumes were there once. */
  readonly isPrepared: boolean;
  readonly stop?: PodStop;
  /** Runs that the API server tells of and of which nothing is here: how they are said to have ended. */
  readonly lost?: Readonly<Record<string, Instance>>;
}

const fileOf = (folder: string): string => join(folder, 'record');

/** Undefined: there is none, or none that can be read. */
export async function readRecord(files: HostFiles, folder: string): Promise<PodRecord | undefined> {
  const text = await files.read(fileOf(folder));
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as PodRecord;
  } catch {
    return undefined;
  }
}

export async function writeRecord(files: HostFiles, folder: string, record: PodRecord): Promise<void> {
  const { metadata, ...rest } = record.pod;
  const { managedFields: _theirs, ...kept } = metadata;
  await files.write(fileOf(folder), JSON.stringify({ ...record, pod: { ...rest, metadata: kept } }));
}

/** Of a pod that this node sees for the first time. What it is said to have run before is lost, and must not run as if it never had. */
export function recordOf(pod: StoredPod, now: number): PodRecord {
  const { startTime, containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  const told = [...initContainerStatuses, ...containerStatuses].filter(({ containerID }) => containerID !== undefined);
  const lost = Object.fromEntries(told.map((status) => [status.name, toldRun(status, now)]));
  const since = told.length > 0 && startTime !== undefined ? Date.parse(startTime) : now;
  return { pod, since, isPrepared: false, ...(told.length > 0 && { lost }) };
}

function toldRun({ restartCount, state, lastState, containerID, image }: ContainerStatus, now: number): Instance {
  const { running } = state ?? {};
  // How a run ended that waits to be run again is its last state, unless that is of the one before it.
  const last = lastState?.terminated;
  const terminated = state?.terminated ?? (last?.containerID === containerID ? last : undefined);
  const timeOf = (text: string | undefined) => (text === undefined ? now : Date.parse(text));
  const message = 'The container could not be located when the node took the pod over.';
  const end = terminated
    ? {
        code: terminated.exitCode,
        at: timeOf(terminated.finishedAt),
        ...(terminated.reason !== undefined && { reason: terminated.reason }),
      }
    : { code: 137, at: now, reason: LOST_REASON, message };
  return {
    attempt: restartCount,
    delayMs: 0,
    driver: 'plain',
    image,
    isPast: true,
    state: 'ended',
    main: undefined,
    shim: undefined,
    startedAt: timeOf(terminated?.startedAt ?? running?.startedAt),
    stop: terminated ? undefined : { at: now, graceMs: 0, why: PUT_AWAY },
    end,
  };
}
