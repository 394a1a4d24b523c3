/** Where the store's writes go to stay. Memory for tests and the simulation; SQLite is in sqlite-journal.ts. */
import type { Row } from './entry.ts';

export interface Kept {
  /** In order of revision. */
  readonly rows: readonly Row[];
  /** Rows up to this revision may be missing, where they were superseded. */
  readonly compacted: number;
}

/** What is written together or not at all. */
export interface Batch {
  readonly rows: readonly Row[];
  /** Revisions whose rows nobody needs any more. */
  readonly garbage: readonly number[];
  readonly compacted: number;
}

export interface Journal {
  /** Once, before anything else. */
  load(): Promise<Kept>;
  /** Resolves when the batch would survive the loss of the process and of power. One at a time. */
  append(batch: Batch): Promise<void>;
  close(): Promise<void>;
}

/**
 * Survives nothing but the store: a store opened on the same journal later finds everything again.
 * @param kept what another journal held: many stores can begin with the same objects.
 */
export function memoryJournal(kept: Kept = { rows: [], compacted: 0 }): Journal {
  const rows = new Map(kept.rows.map((row) => [row.revision, row]));
  let { compacted } = kept;
  return {
    load: async () => ({ rows: [...rows.values()], compacted }),
    async append(batch) {
      for (const row of batch.rows) rows.set(row.revision, row);
      for (const revision of batch.garbage) rows.delete(revision);
      compacted = batch.compacted;
    },
    close: async () => undefined,
  };
}
