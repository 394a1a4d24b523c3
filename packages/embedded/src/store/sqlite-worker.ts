/**
 * The database thread. SQLite's calls block, and an fsync may take long: here they stop nobody. What the store writes is in the log first;
 * this thread folds the log into the database, in life as after a crash.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { isMainThread, type MessagePort, workerData } from 'node:worker_threads';
import type { EmbeddedErrorCode } from '../errors/errors.ts';
import { forgetDigest, wholenessOf } from './backup-digest.ts';
import { type LogFile, type LogPart, logPath } from './commit-log.ts';
import type { Batch } from './journal.ts';
import { batchesIn, batchesLeft, DamagedLog, refuseGaps } from './log-record.ts';
import { compactedIn, copyTo, folder, lifeOf, type NextLife, openDatabase, Unreadable } from './sqlite-database.ts';
import type { Answer, Request, RowValues, Start } from './sqlite-messages.ts';

const ROWS_AT_ONCE = 1_000;
const LOG_FILES: readonly LogFile[] = [0, 1];
const BUSY = 5;
const FULL = 13;
/** Corrupt, and not a database. */
const DAMAGED = [11, 26];

class DatabaseThread {
  readonly #path: string;
  readonly #answer: (message: Answer) => void;
  #opened: { readonly database: DatabaseSync; readonly fold: ReturnType<typeof folder> } | undefined;
  /** The life in the database is that of this process. */
  #isBegun = false;
  /** Up to this one there is nothing to be read again: their files may have been written over. */
  #foldedTurn = 0;
  #broken: unknown;

  constructor(path: string, answer: (message: Answer) => void) {
    this.#path = path;
    this.#answer = answer;
  }

  get #database(): DatabaseSync {
    if (this.#opened === undefined) throw new Error('it is not open');
    return this.#opened.database;
  }

  load(): void {
    const database = openDatabase(this.#path);
    this.#opened = { database, fold: folder(database) };
    const unfolded = this.#recover();
    let rows: RowValues[] = [];
    for (const row of rowsOf(database, unfolded)) {
      rows.push(row);
      if (rows.length < ROWS_AT_ONCE) continue;
      this.#answer({ type: 'rows', rows });
      rows = [];
    }
    this.#answer({ type: 'rows', rows });
    const compacted = Math.max(compactedIn(database), unfolded.at(-1)?.compacted ?? 0);
    this.#answer({ type: 'loaded', compacted });
  }

  /** @returns what the database had no room for: it stays in the log, and can be read. */
  #recover(): readonly Batch[] {
    const left = this.#leftInLog();
    if (left === undefined) return [];
    try {
      this.#write(left, 'none');
      return [];
    } catch (error) {
      if (!isFull(error)) throw error;
      return left;
    }
  }

  /** What a process that did not come to its end has left. Undefined: there is no log. */
  #leftInLog(): readonly Batch[] | undefined {
    const life = lifeOf(this.#database);
    if (life.length === 0) return undefined;
    const files = LOG_FILES.map((file) => logPath(this.#path, file));
    const missing = files.find((path) => !existsSync(path));
    if (missing !== undefined) throw new DamagedLog(`${missing}, which belongs to it, is not there`);
    const batches = batchesLeft(
      files.map((path) => readFileSync(path)),
      life,
    );
    const newest = this.#database.prepare('SELECT max(revision) AS revision FROM revisions').get()?.revision;
    refuseGaps(batches, Math.max(Number(newest ?? 0), compactedIn(this.#database)));
    return batches;
  }

  begin(): void {
    this.#foldAll([]);
    for (const file of LOG_FILES) closeSync(openSync(logPath(this.#path, file), 'a', 0o600));
    // A file is durable when its name is.
    syncFolder(dirname(this.#path));
    forgetDigest(this.#database);
    this.#write([], 'new');
    this.#isBegun = true;
    this.#foldedTurn = 0;
    this.#answer({ type: 'begun', life: lifeOf(this.#database) });
  }

  /** A whole turn: its file may be written over as soon as this is done. */
  foldTurn(part: LogPart): void {
    this.#fold([part]);
    this.#foldedTurn = part.turn;
  }

  #fold(parts: readonly LogPart[]): void {
    const life = lifeOf(this.#database);
    for (const { file, bytes, turn } of parts) {
      if (turn <= this.#foldedTurn) continue;
      this.#write(batchesIn(beginningOf(logPath(this.#path, file), bytes), { life, turn }));
    }
  }

  /** What this process has written; or what an earlier one has left, and there was no room for when the store was opened. */
  #foldAll(parts: readonly LogPart[]): void {
    if (this.#isBegun) return this.#fold(parts);
    const left = this.#leftInLog();
    if (left) this.#write(left, 'none');
  }

  backup(to: string, id: number, parts: readonly LogPart[]): void {
    let failure: string | undefined;
    try {
      this.#foldAll(parts);
      copyTo(this.#database, to);
    } catch (error) {
      failure = messageOf(error);
    }
    this.#answer({ type: 'backedUp', id, failure });
  }

  check(): void {
    this.#answer({ type: 'checked', wholeness: wholenessOf(this.#database) });
  }

  /** Everything into one file; where that cannot be, the log stays for whoever comes next. */
  close(parts: readonly LogPart[]): void {
    if (this.#opened === undefined) return;
    let isOneFile = false;
    try {
      this.#foldAll(parts);
      if (this.#isBegun) this.#write([], 'none');
      isOneFile = true;
    } finally {
      this.#database.close();
      if (isOneFile) for (const file of LOG_FILES) rmSync(logPath(this.#path, file), { force: true });
    }
  }

  #write(batches: readonly Batch[], life?: NextLife): void {
    if (this.#broken !== undefined) throw this.#broken;
    try {
      this.#opened?.fold(batches, life);
    } catch (error) {
      // Taken back, it is certain that nothing of it is there. After any other failure it is not: nothing may be written behind it.
      if (!isFull(error)) this.#broken = error;
      throw error;
    }
  }
}

function serve(port: MessagePort, path: string): void {
  const thread = new DatabaseThread(path, (message) => port.postMessage(message));
  const done = (): void => port.postMessage({ type: 'done' } satisfies Answer);
  port.on('message', (request: Request) => {
    try {
      switch (request.type) {
        case 'load':
          thread.load();
          break;
        case 'begin':
          thread.begin();
          break;
        case 'fold':
          thread.foldTurn(request.part);
          done();
          break;
        case 'backup':
          thread.backup(request.path, request.id, request.parts);
          break;
        case 'check':
          thread.check();
          break;
        case 'close':
          try {
            thread.close(request.parts);
          } catch {
            // Whatever it is, everything is in the database and the log, and the next one goes on from there.
          }
          done();
          port.close();
      }
    } catch (error) {
      port.postMessage({ type: 'failed', code: codeOf(error), message: messageOf(error) } satisfies Answer);
    }
  });
}

/** With what is not in the database yet. */
function* rowsOf(database: DatabaseSync, unfolded: readonly Batch[]): Generator<RowValues, void, undefined> {
  const select = database.prepare('SELECT * FROM revisions ORDER BY revision').iterate();
  const known = new Set(unfolded.flatMap(({ rows }) => rows.map(({ revision }) => revision)));
  const garbage = new Set(unfolded.flatMap((batch) => batch.garbage));
  for (const { revision, resource, namespace, name, deleted, body } of select) {
    if (known.has(revision as number) || garbage.has(revision as number)) continue;
    yield [revision, resource, namespace, name, deleted, body] as unknown as RowValues;
  }
  for (const { rows } of unfolded) {
    for (const { revision, key, deleted, body } of rows) {
      if (!garbage.has(revision)) yield [revision, key.resource, key.namespace, key.name, deleted ? 1 : 0, body];
    }
  }
}

function beginningOf(path: string, bytes: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const beginning = Buffer.allocUnsafe(bytes);
    let at = 0;
    for (let read = -1; at < bytes && read !== 0; at += read) read = readSync(file, beginning, at, bytes - at, at);
    return beginning.subarray(0, at);
  } finally {
    closeSync(file);
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function isFull(error: unknown): boolean {
  const { errcode = 0, code } = error as { readonly errcode?: number; readonly code?: string };
  return errcode % 256 === FULL || code === 'ENOSPC' || code === 'EDQUOT';
}

function codeOf(error: unknown): EmbeddedErrorCode {
  const { errcode } = error as { readonly errcode?: number };
  if (errcode === BUSY) return 'EMBEDDED_STORE_LOCKED';
  if (isFull(error)) return 'EMBEDDED_STORE_FULL';
  const isDamaged = errcode !== undefined && DAMAGED.includes(errcode & 0xff);
  const isUnreadable = error instanceof Unreadable || error instanceof DamagedLog || isDamaged;
  return isUnreadable ? 'EMBEDDED_STORE_UNREADABLE' : 'EMBEDDED_STORE_FAILED';
}

if (!isMainThread) {
  const { port, path } = workerData as Start;
  serve(port, path);
}
