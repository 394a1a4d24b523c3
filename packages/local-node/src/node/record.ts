/** What the node keeps of a pod on disk, besides the runs of its containers: enough to end it when its object is gone. */
import { join } from 'node:path';
import type { HostFiles } from '../host/host.ts';
import { isNoRoom } from '../host/no-room.ts';
import type { PodStop, StoredPod } from '../pod/view.ts';
import type { ContainerStatus } from '../kinds/pod.ts';
import { type Instance, LOST_REASON, PUT_AWAY } from '../shim/instance.ts';

export interface PodRecord {
  readonly pod: StoredPod;
  readonly since: number;
  readonly address?: string;
  /** Its address and its volumes were there once. */
  readonly isPrepared: boolean;
  readonly stop?: PodStop;
  /** Runs of which nothing else is here: how they ended, or are said to have by the API server. */
  readonly lost?: Readonly<Record<string, Instance>>;
}

const RECORD = 'record';
const fileOf = (folder: string): string => join(folder, RECORD);

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

/** What the API server knows, too, and a later node may learn from it: a full disk keeps nobody from ending a pod. */
export async function writeIfRoom(files: HostFiles, folder: string, record: PodRecord): Promise<void> {
  await writeRecord(files, folder, record).catch((error: unknown) => {
    if (!isNoRoom(error)) throw error;
  });
}

/** All else in the folder goes, once this is written. */
export async function keepOnly(files: HostFiles, folder: string, record: PodRecord): Promise<void> {
  try {
    await writeRecord(files, folder, record);
  } catch (error) {
    if (!isNoRoom(error)) throw error;
    // What goes anyway makes room. If it does not, what the API server knows has to do.
    await files.remove(folder);
    return writeIfRoom(files, folder, record);
  }
  await removeRest(files, folder);
}

/** Again also where a removal was broken off: half a volume must not be taken for a whole one. */
export async function removeRest(files: HostFiles, folder: string): Promise<void> {
  for (const { name } of (await files.list(folder)) ?? []) if (name !== RECORD) await files.remove(join(folder, name));
}

/** Of a pod that this node sees for the first time. What it is said to have run before is lost, and must not run as if it never had. */
export function recordOf(pod: StoredPod, now: number): PodRecord {
  const { startTime, containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  const told = [...initContainerStatuses, ...containerStatuses].filter(({ containerID }) => containerID !== undefined);
  const lost = Object.fromEntries(told.map((status) => [status.name, toldRun(status, now)]));
  const since = told.length > 0 && startTime !== undefined ? Date.parse(startTime) : now;
  return { pod, since, isPrepared: false, ...(told.length > 0 && { lost }) };
}

/** Of a pod whose machine is put away: it begins anew, but for what is over. `runs`: the newest of each container; all have ended. */
export function awayRecord({ pod, since, stop }: PodRecord, runs: ReadonlyMap<string, Instance>): PodRecord {
  const past = [...runs].map(
    ([name, run]) => [name, { ...run, isPast: true, main: undefined, shim: undefined }] as const,
  );
  // That it took too long belongs to its outcome; the other reasons are told by the API server.
  const kept = stop?.why === 'deadline' ? { stop } : {};
  return { pod, since, isPrepared: false, ...kept, lost: Object.fromEntries(past) };
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
