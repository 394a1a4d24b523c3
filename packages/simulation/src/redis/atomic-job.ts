/** What a server keeps of Valkey's atomic slot migrations. */
import type { Entry } from './keyspace.ts';

export type Ranges = readonly (readonly [first: number, last: number])[];

export type ExportState =
  | 'connecting'
  | 'reading-establish-response'
  | 'waiting-to-snapshot'
  | 'snapshotting'
  | 'replicating'
  | 'failover-paused'
  | 'failover-granted';
export type ImportState = 'waiting-for-ack' | 'receiving-snapshot' | 'waiting-for-paused' | 'failover-granted';
export type EndState = 'success' | 'cancelled' | 'failed';

export interface Job {
  readonly name: string;
  readonly operation: 'EXPORT' | 'IMPORT';
  readonly ranges: Ranges;
  readonly sourceId: string;
  readonly targetId: string;
  readonly createdAt: number;
  updatedAt: number;
  lastContactAt: number;
  state: ExportState | ImportState | EndState;
  message: string;
  /** The process at the other end: a restarted one has no such connection. */
  otherRunId: string;
  /** While writes are paused for the hand-over. */
  pausedUntil: number;
  /** What the snapshot and the stream behind it brought, once the source granted the hand-over. */
  received: readonly { readonly database: number; readonly key: string; readonly entry: Entry }[];
}

/** Jobs, newest first, and the failure that a test ordered for the next one. */
export interface AtomicState {
  jobs: Job[];
  failNext: { readonly at: ExportState; readonly message: string } | undefined;
}

export function createAtomicState(): AtomicState {
  return { jobs: [], failNext: undefined };
}

export function isEnded(job: Job): boolean {
  return job.state === 'success' || job.state === 'cancelled' || job.state === 'failed';
}
