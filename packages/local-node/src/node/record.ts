/** What the node keeps of a pod on disk, besides the runs of its containers: enough to end it when its object is gone. */
import { join } from 'node:path';
import type { HostFiles } from '../host/host.ts';
import type { PodStop, StoredPod } from '../pod/view.ts';

export interface PodRecord {
  readonly pod: StoredPod;
  readonly since: number;
  readonly address?: string;
  /** Its address and its volumes were there once. */
  readonly isPrepared: boolean;
  readonly stop?: PodStop;
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
