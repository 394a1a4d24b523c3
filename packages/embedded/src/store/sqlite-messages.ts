/** What the store's thread and its database thread say to each other: plain values, cheap to copy. */
import type { MessagePort } from 'node:worker_threads';
import type { EmbeddedErrorCode } from '../errors/errors.ts';
import type { Wholeness } from './backup-digest.ts';
import type { LogPart } from './commit-log.ts';

/** What the database thread begins with. */
export interface Start {
  readonly path: string;
  readonly port: MessagePort;
}

/** revision, resource, namespace, name, deleted (0 or 1), body */
export type RowValues = readonly [number, string, string, string, number, string];

export type Request =
  | { readonly type: 'load' }
  /** Before the first write: a log, and a life that none of its records is of. */
  | { readonly type: 'begin' }
  | { readonly type: 'fold'; readonly part: LogPart }
  /** With what the log has so far. Its answer has this number. */
  | { readonly type: 'backup'; readonly id: number; readonly path: string; readonly parts: readonly LogPart[] }
  /** Of a backup that is loaded. */
  | { readonly type: 'check' }
  | { readonly type: 'close'; readonly parts: readonly LogPart[] };

export type Answer =
  /** Some of the rows; more follow. */
  | { readonly type: 'rows'; readonly rows: readonly RowValues[] }
  | { readonly type: 'loaded'; readonly compacted: number }
  | { readonly type: 'begun'; readonly life: Uint8Array }
  | { readonly type: 'checked'; readonly wholeness: Wholeness }
  | { readonly type: 'done' }
  | { readonly type: 'backedUp'; readonly id: number; readonly failure: string | undefined }
  | { readonly type: 'failed'; readonly code: EmbeddedErrorCode; readonly message: string };
