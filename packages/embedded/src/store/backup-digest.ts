/**
 * What a backup says of its own content. SQLite finds a page that makes no sense, not one in which a few letters of an object are others.
 * A store that is written to is no backup any more, and says nothing.
 */
import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

/** `untold`: it was made before backups said it, or is no backup but a store. */
export type Wholeness = 'whole' | 'damaged' | 'untold';

/** Of all that a store holds. Whatever reads it in another order, or with other ends of its words, gets another one. */
export function digestOf(database: DatabaseSync): string {
  const hash = createHash('sha256');
  const tables = ['SELECT revision FROM compaction', 'SELECT * FROM revisions ORDER BY revision'];
  for (const select of tables) {
    for (const row of database.prepare(select).iterate()) hash.update(`${JSON.stringify(Object.values(row))}\n`);
  }
  return `sha256:${hash.digest('hex')}`;
}

export function writeDigest(database: DatabaseSync, digest: string): void {
  forgetDigest(database);
  database.exec('CREATE TABLE backup (id INTEGER PRIMARY KEY CHECK (id = 1), digest TEXT NOT NULL)');
  database.prepare('INSERT INTO backup VALUES (1, ?)').run(digest);
}

export function forgetDigest(database: DatabaseSync): void {
  database.exec('DROP TABLE IF EXISTS backup');
}

export function wholenessOf(database: DatabaseSync): Wholeness {
  const isTold = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'backup'").get() !== undefined;
  if (!isTold) return 'untold';
  const told = database.prepare('SELECT digest FROM backup').get()?.digest;
  return told === digestOf(database) ? 'whole' : 'damaged';
}
