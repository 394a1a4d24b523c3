import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { clock, key, put, storeContract } from './contract-testing.ts';
import { sqliteJournal } from './sqlite-journal.ts';
import { Store } from './store.ts';

storeContract(
  'sqlite',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'reeve-store-'));
    return {
      open: () => sqliteJournal({ path: join(folder, 'store.db') }),
      end: () => rmSync(folder, { recursive: true }),
    };
  },
  8,
);

test('a store file is private, has one server, and is told from other files', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-store-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'store.db');
  const store = await Store.open({ journal: sqliteJournal({ path }), clock });
  t.after(() => store.close());
  await store.write(key('x'), put('1'));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(`${path}-wal`).mode & 0o777, 0o600);
  await assert.rejects(Store.open({ journal: sqliteJournal({ path }), clock }), { code: 'EMBEDDED_STORE_LOCKED' });
  await store.close();

  const other = join(folder, 'other.db');
  const database = new DatabaseSync(other);
  database.exec('CREATE TABLE mine (x)');
  database.close();
  await assert.rejects(Store.open({ journal: sqliteJournal({ path: other }), clock }), {
    code: 'EMBEDDED_STORE_UNREADABLE',
  });
  const text = join(folder, 'text');
  writeFileSync(text, 'no database at all, but a text that is long enough for a header'.repeat(100));
  await assert.rejects(Store.open({ journal: sqliteJournal({ path: text }), clock }), {
    code: 'EMBEDDED_STORE_UNREADABLE',
  });
});

test('a backup is private, whole, and made while writes go on; it is a store of its own', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-store-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const journal = sqliteJournal({ path: join(folder, 'store.db') });
  const store = await Store.open({ journal, clock });
  // Its thread would keep a failed test from ending.
  t.after(() => store.close());
  for (let i = 0; i < 200; i++) await store.write(key(`x${i}`), put('1'.repeat(10_000)));
  const copy = join(folder, 'copy.db');
  const copying = journal.backup(copy);
  for (let i = 0; i < 50; i++) await store.write(key(`y${i}`), put('2'));
  await copying;
  await store.write(key('later'), put('3'));
  assert.equal(statSync(copy).mode & 0o777, 0o600);
  await assert.rejects(journal.backup(copy), { code: 'EMBEDDED_BACKUP', message: /EEXIST/ });
  await store.close();

  const second = await Store.open({ journal: sqliteJournal({ path: copy }), clock });
  t.after(() => second.close());
  const names = new Set(second.range({ resource: 'pods' }).map(({ key: { name } }) => name));
  for (let i = 0; i < 200; i++) assert.ok(names.has(`x${i}`), `x${i}`);
  assert.ok(!names.has('later'));
  assert.ok(second.revision >= 200 && second.revision <= 250);
});
