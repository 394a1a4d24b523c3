/**
 * The database thread. SQLite's calls block, and an fsync may take long: here they stop nobody. One table, appended to:
 * every write of the store is one row, and rows that nobody needs any more are deleted later.
 */
import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isMainThread, type MessagePort, workerData } from 'node:worker_threads';
import type { EmbeddedErrorCode } from '../errors/errors.ts';
import type { Answer, Request, RowValues, Start } from './sqlite-messages.ts';

/** `reev`, so that no other database is taken for a store. */
const APPLICATION = 0x72656576;
const FORMAT = 1;
const ROWS_AT_ONCE = 1_000;
const BUSY = 5;
const FULL = 13;
/** Corrupt, and not a database. */
const DAMAGED = [11, 26];

class Unreadable extends Error {}

function open(path: string): DatabaseSync {
  // Secrets lie in it in clear text. SQLite gives its other files the mode of this one.
  closeSync(openSync(path, 'a', 0o600));
  const database = new DatabaseSync(path, { timeout: 100 });
  // The lock is taken with the first statement and kept: a second server gets none.
  database.exec('PRAGMA locking_mode = EXCLUSIVE');
  database.exec('PRAGMA journal_mode = WAL');
  // The log is synced at every commit: acknowledged means durable.
  database.exec('PRAGMA synchronous = FULL');
  database.exec('BEGIN IMMEDIATE');
  const pragma = (name: string): unknown => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
  const isNew = database.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.n === 0;
  if (isNew) {
    database.exec(`
      PRAGMA application_id = ${APPLICATION};
      PRAGMA user_version = ${FORMAT};
      CREATE TABLE revisions (
        revision INTEGER PRIMARY KEY, resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
        deleted INTEGER NOT NULL, body TEXT NOT NULL
      );
      CREATE TABLE compaction (id INTEGER PRIMARY KEY CHECK (id = 1), revision INTEGER NOT NULL);
      INSERT INTO compaction VALUES (1, 0);
    `);
  } else if (pragma('application_id') !== APPLICATION) {
    throw new Unreadable(`${path} is a database, but no store of ours`);
  } else if (pragma('user_version') !== FORMAT) {
    throw new Unreadable(`${path} has format ${String(pragma('user_version'))}; this version reads ${FORMAT}`);
  }
  database.exec('COMMIT');
  return database;
}

function serve(port: MessagePort, path: string): void {
  const answer = (message: Answer): void => port.postMessage(message);
  let database: DatabaseSync | undefined;
  let append: ((request: Extract<Request, { type: 'append' }>) => void) | undefined;

  const load = (): void => {
    database = open(path);
    append = appendTo(database);
    let rows: RowValues[] = [];
    const select = database.prepare('SELECT * FROM revisions ORDER BY revision');
    for (const { revision, resource, namespace, name, deleted, body } of select.iterate()) {
      rows.push([revision, resource, namespace, name, deleted, body] as unknown as RowValues);
      if (rows.length < ROWS_AT_ONCE) continue;
      answer({ type: 'rows', rows });
      rows = [];
    }
    answer({ type: 'rows', rows });
    answer({
      type: 'loaded',
      compacted: database.prepare('SELECT revision FROM compaction').get()?.revision as number,
    });
  };

  const copy = (to: string, id: number): void => {
    let failure: string | undefined;
    try {
      if (database === undefined) throw new Error('it is not open');
      copyTo(database, to);
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
    }
    answer({ type: 'backedUp', id, failure });
  };

  port.on('message', (request: Request) => {
    try {
      switch (request.type) {
        case 'load':
          load();
          break;
        case 'append':
          append?.(request);
          answer({ type: 'done' });
          break;
        case 'backup':
          copy(request.path, request.id);
          break;
        case 'close':
          database?.close();
          answer({ type: 'done' });
          port.close();
      }
    } catch (error) {
      answer({ type: 'failed', code: codeOf(error), message: error instanceof Error ? error.message : String(error) });
    }
  });
}

/**
 * In one go, and writes wait for it: `backup` of node:sqlite copies in another thread by way of the same connection, and
 * fails when a write comes between two of its pieces.
 */
function copyTo(database: DatabaseSync, to: string): void {
  // A new file, and private before anything is in it.
  const file = openSync(to, 'wx', 0o600);
  try {
    database.prepare('VACUUM INTO ?').run(to);
    fsyncSync(file);
  } catch (error) {
    // Half a backup is none.
    rmSync(to);
    throw error;
  } finally {
    closeSync(file);
  }
}

function appendTo(database: DatabaseSync): (request: Extract<Request, { type: 'append' }>) => void {
  const insert = database.prepare('INSERT INTO revisions VALUES (?, ?, ?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM revisions WHERE revision = ?');
  const compact = database.prepare('UPDATE compaction SET revision = ?');
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  let written: number | undefined;
  let broken: unknown;
  const write = ({ rows, garbage, compacted }: Extract<Request, { type: 'append' }>): void => {
    const [first] = rows;
    // A statement of its own is a transaction, too, and what one client writes is mostly that.
    if (first !== undefined && rows.length === 1 && garbage.length === 0 && compacted === written) {
      insert.run(...first);
      return;
    }
    begin.run();
    for (const row of rows) insert.run(...row);
    for (const revision of garbage) remove.run(revision);
    if (compacted !== written) compact.run(compacted);
    commit.run();
    written = compacted;
  };
  return (request) => {
    if (broken !== undefined) throw broken;
    try {
      write(request);
    } catch (error) {
      // Taken back, it is certain that nothing of it is there. After any other failure it is not: nothing may be written behind it.
      if (!isFull(error)) broken = error;
      else if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  };
}

function isFull(error: unknown): boolean {
  return ((error as { readonly errcode?: number }).errcode ?? 0) % 256 === FULL;
}

function codeOf(error: unknown): EmbeddedErrorCode {
  const { errcode } = error as { readonly errcode?: number };
  if (errcode === BUSY) return 'EMBEDDED_STORE_LOCKED';
  if (isFull(error)) return 'EMBEDDED_STORE_FULL';
  const unreadable = error instanceof Unreadable || (errcode !== undefined && DAMAGED.includes(errcode & 0xff));
  return unreadable ? 'EMBEDDED_STORE_UNREADABLE' : 'EMBEDDED_STORE_FAILED';
}

if (!isMainThread) {
  const { port, path } = workerData as Start;
  serve(port, path);
}
