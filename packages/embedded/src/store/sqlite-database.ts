/** The database file: one table, a row for every write of the store; rows that nobody needs any more are deleted later. */
import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { digestOf, writeDigest } from './backup-digest.ts';
import type { Batch } from './journal.ts';

/** `reev`, so that no other database is taken for a store. */
const APPLICATION = 0x72656576;
/** 1 had no log beside it. */
const FORMAT = 2;

export class Unreadable extends Error {}

export function openDatabase(path: string): DatabaseSync {
  // Secrets lie in it in clear text. SQLite gives its other files the mode of this one.
  closeSync(openSync(path, 'a', 0o600));
  const database = new DatabaseSync(path, { timeout: 100 });
  // The lock is taken with the first statement and kept: a second server gets none.
  database.exec('PRAGMA locking_mode = EXCLUSIVE');
  database.exec('PRAGMA journal_mode = WAL');
  // Its own log is synced at every commit: what was folded may be written over.
  database.exec('PRAGMA synchronous = FULL');
  database.exec('BEGIN IMMEDIATE');
  const pragma = (name: string): unknown => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
  const isNew = database.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.n === 0;
  if (isNew) {
    database.exec(`
      PRAGMA application_id = ${APPLICATION};
      CREATE TABLE revisions (
        revision INTEGER PRIMARY KEY, resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
        deleted INTEGER NOT NULL, body TEXT NOT NULL
      );
      CREATE TABLE compaction (id INTEGER PRIMARY KEY CHECK (id = 1), revision INTEGER NOT NULL);
      INSERT INTO compaction VALUES (1, 0);
    `);
  } else if (pragma('application_id') !== APPLICATION) {
    throw new Unreadable(`${path} is a database, but no store of ours`);
  }
  const format = isNew ? 1 : pragma('user_version');
  if (format === 1) {
    database.exec(`
      CREATE TABLE log (id INTEGER PRIMARY KEY CHECK (id = 1), life BLOB NOT NULL);
      INSERT INTO log VALUES (1, x'');
      PRAGMA user_version = ${FORMAT};
    `);
  } else if (format !== FORMAT) {
    throw new Unreadable(`${path} has format ${String(format)}; this version reads ${FORMAT}`);
  }
  database.exec('COMMIT');
  return database;
}

/** `new`: records of no log are of it. `none`: nothing of any log is to be folded. */
export type NextLife = 'new' | 'none';

/** All of it or nothing; what is there already stays as it is. */
export function folder(database: DatabaseSync): (batches: readonly Batch[], life?: NextLife) => void {
  const insert = database.prepare('INSERT OR REPLACE INTO revisions VALUES (?, ?, ?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM revisions WHERE revision = ?');
  const compact = database.prepare('UPDATE compaction SET revision = max(revision, ?)');
  const lives = {
    new: database.prepare('UPDATE log SET life = randomblob(16)'),
    none: database.prepare("UPDATE log SET life = x''"),
  };
  return (batches, life) => {
    database.exec('BEGIN IMMEDIATE');
    try {
      for (const { rows, garbage } of batches) {
        for (const { revision, key, deleted, body } of rows) {
          insert.run(revision, key.resource, key.namespace, key.name, deleted ? 1 : 0, body);
        }
        for (const revision of garbage) remove.run(revision);
      }
      const compacted = batches.at(-1)?.compacted;
      if (compacted !== undefined) compact.run(compacted);
      if (life) lives[life].run();
      database.exec('COMMIT');
    } finally {
      if (database.isTransaction) database.exec('ROLLBACK');
    }
  };
}

/** Which records belong to this database. Empty: none. */
export function lifeOf(database: DatabaseSync): Uint8Array {
  return database.prepare('SELECT life FROM log').get()?.life as Uint8Array;
}

export function compactedIn(database: DatabaseSync): number {
  return database.prepare('SELECT revision FROM compaction').get()?.revision as number;
}

/**
 * In one go, and writes wait for it: `backup` of node:sqlite copies in another thread by way of the same connection, and
 * fails when a write comes between two of its pieces.
 */
export function copyTo(database: DatabaseSync, to: string): void {
  // A new file, and private before anything is in it.
  const file = openSync(to, 'wx', 0o600);
  try {
    // Of what is to be copied, not of the copy.
    const digest = digestOf(database);
    database.prepare('VACUUM INTO ?').run(to);
    // Wherever the copy is put, a log that lies there is not its own.
    const copy = new DatabaseSync(to);
    try {
      copy.exec("UPDATE log SET life = x''");
      writeDigest(copy, digest);
    } finally {
      copy.close();
    }
    fsyncSync(file);
  } catch (error) {
    // Half a backup is none.
    for (const left of [to, `${to}-journal`]) rmSync(left, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}
