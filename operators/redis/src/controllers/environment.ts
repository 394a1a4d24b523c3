/** What a run of an operation is given, and what it tells while it runs. */
import type { Executor, Ports, Waiting } from '@reeve/runtime';
import type { BackupStore, SnapshotSource } from '../api/backup.ts';
import type { RedisCommand } from '../api/commands.ts';
import type { RedisPort } from '../api/port.ts';
import type { ClusterView, Endpoint } from '../api/view.ts';

/** What happens, for progress lines and traces. */
export type RunEvent =
  | { readonly event: 'observed'; readonly view: ClusterView }
  | { readonly event: 'waiting'; readonly waitingFor: readonly Waiting[] }
  | { readonly event: 'started'; readonly number: number; readonly command: RedisCommand }
  | {
      readonly event: 'progress';
      readonly number: number;
      readonly done: number;
      readonly total: number;
      readonly unit: string;
      readonly note?: string;
    }
  | {
      readonly event: 'ended';
      readonly number: number;
      readonly command: RedisCommand;
      readonly status: string;
      readonly message?: string;
    };

/** Where backups are kept, and where they come from. */
export interface Backups {
  readonly store: BackupStore;
  readonly snapshots: SnapshotSource;
}

export interface Environment {
  readonly redis: RedisPort;
  readonly ports: Ports;
  readonly executor: Executor<RedisCommand>;
  readonly seeds: readonly Endpoint[];
  /** Without it there is no backup and no restore. */
  readonly backups?: Backups;
  readonly annotations?: (endpoint: Endpoint) => Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly report?: (event: RunEvent) => void;
  /** How long the same wait may last before the run stops with WAIT_LIMIT. While a replica is being filled it is not counted. Default 120 s. */
  readonly waitLimitMs?: number;
  /** How often the same command may fail in a row before the run stops. Default 5. */
  readonly failureLimit?: number;
}
