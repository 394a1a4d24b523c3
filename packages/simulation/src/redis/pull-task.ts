/** What a server keeps of the atomic slot migrations of Redis 8.4 and later. */
import type { Ranges } from './atomic-job.ts';
import type { Entry } from './keyspace.ts';

export type ImportTaskState =
  | 'none'
  | 'connecting'
  | 'syncslots-reply'
  | 'accumulate-buffer'
  | 'streaming-buffer'
  | 'wait-stream-eof'
  | 'takeover';
export type MigrateTaskState = 'wait-rdbchannel' | 'send-bulk-and-stream' | 'send-stream' | 'handoff' | 'stream-eof';
export type TaskEnd = 'canceled' | 'failed' | 'completed';

export interface Task {
  readonly id: string;
  readonly operation: 'import' | 'migrate';
  readonly ranges: Ranges;
  /** A failover of the source while the target retries changes it. */
  sourceId: string;
  readonly destId: string;
  /** `failed` is not the end of an import: its target tries again until it is cancelled. */
  state: ImportTaskState | MigrateTaskState | TaskEnd;
  error: string;
  retries: number;
  readonly createdAt: number;
  startedAt: number;
  endedAt: number;
  pausedAt: number;
  changedAt: number;
  received: readonly { readonly database: number; readonly key: string; readonly entry: Entry }[];
}

export interface PullState {
  /** The one task under way: a node has one at a time. */
  current: Task | undefined;
  /** Newest first. */
  archived: Task[];
}

export function createPullState(): PullState {
  return { current: undefined, archived: [] };
}
