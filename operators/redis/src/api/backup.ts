/** Backups: a snapshot of each shard, and a manifest that makes them one. Kept behind a port, so that it may be a folder or an object store. */
import type { Endpoint } from './view.ts';

/** `NAMESPACE/CLUSTER/NAME`. */
export type BackupName = string;

export interface BackupShard {
  readonly file: string;
  /** As in `0-5460`. Keys of other slots in the file do not count. */
  readonly slots: string;
  /** Whose snapshot it is. */
  readonly node: string;
  readonly role: 'primary' | 'replica';
  /** Of the file's format. */
  readonly rdbVersion: number;
  /** In its slots. */
  readonly keys: number;
  readonly bytes: number;
  readonly sha256: string;
}

export interface BackupManifest {
  readonly format: 1;
  readonly name: BackupName;
  /** The uid of what asked for it: whoever asked finds its own. */
  readonly by: string;
  /** All that was acknowledged before then is in it. */
  readonly startedAt: string;
  readonly endedAt: string;
  /** As in `redis 7.0.15`; several while an upgrade is under way. */
  readonly server: string;
  readonly shards: readonly BackupShard[];
  /** Who was allowed what, without passwords: for people, nobody is made from it. */
  readonly users: readonly { readonly name: string; readonly rules: string }[];
}

/** One of the drafts of a backup. */
export interface DraftName {
  readonly name: BackupName;
  readonly id: string;
}

/** A backup is there when its manifest is, and is never changed. A store is that of one control plane: names say nothing of others. */
export interface BackupStore {
  manifest(name: BackupName): Promise<BackupManifest | undefined>;
  read(name: BackupName, file: string): AsyncIterable<Buffer>;
  /** Takes away the drafts that others left, or are still at: what these write from then on goes nowhere. */
  draft(name: BackupName): Promise<BackupDraft>;
  /** Those that are there: of backups under way, and what is left of others. */
  drafts(): Promise<readonly DraftName[]>;
  /** Exactly this one; what somebody still writes to it goes nowhere. */
  discard(draft: DraftName): Promise<void>;
}

/** A backup that is being made, by one process alone. */
export interface BackupDraft {
  /** Durable when it resolves. */
  write(file: string, bytes: AsyncIterable<Buffer>): Promise<void>;
  read(file: string): AsyncIterable<Buffer>;
  /** The last step. Fails if there is a backup of that name. */
  seal(manifest: BackupManifest): Promise<void>;
  discard(): Promise<void>;
}

/** All data of one server at one moment, as it writes it into a file. */
export interface SnapshotSource {
  snapshot(endpoint: Endpoint, signal: AbortSignal): AsyncIterable<Buffer>;
}
