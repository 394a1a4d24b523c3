import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { clock, key, put, remove, storeContract } from './contract-testing.ts';
import { besideStore, sqliteJournal } from './sqlite-journal.ts';
import { Store } from './store.ts';

for (const [name, logBytes] of [
  ['sqlite', undefined],
  ['sqlite, folded with every write', 1],
] as const) {
  storeContract(
    name,
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'reeve-store-'));
      return {
        open: () => sqliteJournal({ path: join(folder, 'store.db'), ...(logBytes && { logBytes }) }),
        end: () => rmSync(folder, { recursive: true }),
      };
    },
    8,
  );
}

const names = (store: Store) => store.range({ resource: 'pods' }).map(({ key: { name } }) => name);

interface Scene {
  readonly folder: string;
  open(path: string, logBytes?: number): Promise<Store>;
  /** A copy of all files as they are: what a process that is killed now leaves behind. While nothing is folded. */
  left(path: string): string;
}

function openScene(t: TestContext): Scene {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-store-'));
  t.after(() => rmSync(folder, { recursive: true }));
  let copies = 0;
  return {
    folder,
    async open(path, logBytes) {
      const journal = sqliteJournal({ path, ...(logBytes && { logBytes }) });
      const store = await Store.open({ journal, clock });
      t.after(() => store.close());
      return store;
    },
    left(path) {
      const copy = join(folder, `copy-${++copies}.db`);
      for (const file of [path, ...besideStore(path)].filter(existsSync)) {
        copyFileSync(file, file.replace(path, copy));
      }
      return copy;
    },
  };
}

/** One bit. */
function damage(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] as number) ^ 1;
  writeFileSync(path, bytes);
}

test('what a killed process leaves is whole: what was acknowledged is there, a record that is half is not', async (t) => {
  const scene = openScene(t);
  const path = join(scene.folder, 'store.db');
  const first = await scene.open(path);
  for (const name of ['a', 'b', 'c']) await first.write(key(name), put('1'));
  await first.write(key('b'), remove);
  const [whole, torn, holed, alone] = [scene.left(path), scene.left(path), scene.left(path), scene.left(path)];

  const second = await scene.open(whole);
  assert.deepEqual([names(second), second.revision], [['a', 'c'], 4]);
  await second.write(key('d'), put('2'));
  const again = scene.left(whole);
  await second.close();
  assert.deepEqual(besideStore(whole).filter(existsSync), [], 'after an orderly end there is one file');
  for (const one of [whole, again]) {
    const third = await scene.open(one);
    assert.deepEqual([names(third), third.revision], [['a', 'c', 'd'], 5]);
  }

  damage(`${torn}-log0`, 3 * 4096 + 40);
  assert.deepEqual(names(await scene.open(torn)), ['a', 'b', 'c'], 'it was not acknowledged');
  damage(`${holed}-log0`, 1 * 4096 + 40);
  const unreadable = { code: 'EMBEDDED_STORE_UNREADABLE' };
  await assert.rejects(scene.open(holed), { ...unreadable, message: /follows one that cannot be read/ });
  rmSync(`${alone}-log0`);
  await assert.rejects(scene.open(alone), { ...unreadable, message: /-log0, which belongs to it, is not there/ });
});

test('batches much larger than the log go by it, too; their room is given back', async (t) => {
  const scene = openScene(t);
  const path = join(scene.folder, 'store.db');
  const store = await scene.open(path, 4096);
  const large = 'x'.repeat(3_000_000);
  for (let round = 0; round < 3; round++) {
    await Promise.all([0, 1, 2].map((i) => store.write(key(`l${i}`), put(large))));
  }
  for (let i = 0; i < 10; i++) await store.write(key(`s${i}`), put('y'));
  assert.equal(store.get(key('l2'))?.body.length, large.length + '@9'.length);
  for (const file of [0, 1]) assert.ok(statSync(`${path}-log${file}`).size <= 2 * 1024 * 1024);
  await store.close();
  const next = await scene.open(path);
  assert.deepEqual([names(next).length, next.revision], [13, 19]);
  await Promise.all([0, 1, 2].map((i) => next.write(key(`l${i}`), put(large))));
  // Its log is of the usual size, and none of it was folded.
  const killed = await scene.open(scene.left(path));
  assert.equal(killed.get(key('l2'))?.body, `${large}@22`);
});

test('a store of the format before the log is read, and goes on', async (t) => {
  const scene = openScene(t);
  const path = join(scene.folder, 'store.db');
  const old = new DatabaseSync(path);
  old.exec(`
    PRAGMA application_id = ${0x72656576};
    PRAGMA user_version = 1;
    CREATE TABLE revisions (
      revision INTEGER PRIMARY KEY, resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
      deleted INTEGER NOT NULL, body TEXT NOT NULL
    );
    CREATE TABLE compaction (id INTEGER PRIMARY KEY CHECK (id = 1), revision INTEGER NOT NULL);
    INSERT INTO compaction VALUES (1, 2);
    INSERT INTO revisions VALUES (3, 'pods', 'a', 'x', 0, 'old');
  `);
  old.close();
  const store = await scene.open(path);
  assert.deepEqual([store.get(key('x'))?.body, store.revision, store.compacted], ['old', 3, 2]);
  await store.write(key('y'), put('new'));
  await store.close();
  assert.deepEqual(names(await scene.open(path)), ['x', 'y']);
});

test('a store file is private, has one server, and is told from other files', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-store-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'store.db');
  const store = await Store.open({ journal: sqliteJournal({ path }), clock });
  t.after(() => store.close());
  await store.write(key('x'), put('1'));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  for (const file of besideStore(path).filter(existsSync)) assert.equal(statSync(file).mode & 0o777, 0o600, file);
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
  const copied = new Set(names(second));
  for (let i = 0; i < 200; i++) assert.ok(copied.has(`x${i}`), `x${i}`);
  assert.ok(!copied.has('later'));
  assert.ok(second.revision >= 200 && second.revision <= 250);
});

/** Another letter in the middle of what is stored: it stays a database. */
function alter(path: string, what: string): void {
  const bytes = readFileSync(path);
  const at = bytes.indexOf(what);
  assert.ok(at > 0, what);
  bytes.write(what.replaceAll('1', '7'), at);
  writeFileSync(path, bytes);
}

test('a backup knows whether it is what it was made of; a store that is written to does not say so', async (t) => {
  const scene = openScene(t);
  const path = join(scene.folder, 'store.db');
  const journal = sqliteJournal({ path });
  const store = await Store.open({ journal, clock });
  t.after(() => store.close());
  for (const name of ['x', 'y', 'z']) await store.write(key(name), put('111'));
  const wholenessOf = async (file: string) => {
    const one = sqliteJournal({ path: file });
    try {
      await one.load();
      return await one.wholeness();
    } finally {
      await one.close();
    }
  };
  const backup = async (name: string) => {
    const file = join(scene.folder, name);
    await journal.backup(file);
    return file;
  };
  const whole = await backup('whole');
  assert.equal(await wholenessOf(whole), 'whole');
  assert.equal(await wholenessOf(whole), 'whole', 'whoever looks changes nothing');
  const damaged = await backup('damaged');
  alter(damaged, '111');
  assert.equal(await wholenessOf(damaged), 'damaged');
  await store.close();
  assert.equal(await wholenessOf(path), 'untold');
  // A backup that became a store, was written to, and is copied by hand or backed up again.
  const next = await scene.open(whole);
  await next.write(key('later'), put('1'));
  await next.close();
  assert.equal(await wholenessOf(whole), 'untold');
  const used = sqliteJournal({ path: await copied(scene, damaged) });
  await used.load();
  const again = join(scene.folder, 'again');
  await used.backup(again);
  await used.close();
  assert.equal(await wholenessOf(again), 'whole', 'of what it was made of');
});

async function copied(scene: Scene, file: string): Promise<string> {
  const copy = `${file}-copy`;
  copyFileSync(file, copy);
  const store = await scene.open(copy);
  await store.close();
  return copy;
}

test('backups are whole however often the log turns meanwhile, and none is made of a store that is being closed', async (t) => {
  const scene = openScene(t);
  const journal = sqliteJournal({ path: join(scene.folder, 'store.db'), logBytes: 16 * 1024 });
  const store = await Store.open({ journal, clock });
  t.after(() => store.close());
  let isOver = false;
  const writing = (async () => {
    for (let i = 0; !isOver; i++) await store.write(key(`x${i}`), put('1'));
  })();
  const copies: { readonly path: string; readonly least: number }[] = [];
  for (let i = 0; i < 30; i++) {
    const path = join(scene.folder, `copy-${i}`);
    copies.push({ path, least: store.revision });
    await journal.backup(path);
  }
  isOver = true;
  await writing;
  for (const { path, least } of copies.slice(-5)) {
    const copy = await scene.open(path);
    assert.ok(copy.revision >= least, `${copy.revision} of at least ${least}`);
    assert.equal(names(copy).length, copy.revision);
  }
  const closing = store.close();
  // Its own close comes a moment later.
  const journalCloses = journal.close();
  await assert.rejects(journal.backup(join(scene.folder, 'late')), {
    code: 'EMBEDDED_BACKUP',
    message: /being closed/,
  });
  await Promise.all([closing, journalCloses, journal.close()]);
  const { revision } = store;
  const next = await scene.open(join(scene.folder, 'store.db'));
  assert.deepEqual(
    [next.revision, names(next).length],
    [revision, revision],
    'closed twice at once, it has everything',
  );
});

test('a log that cannot be begun, or was begun and never written to, is nobody’s loss', async (t) => {
  const scene = openScene(t);
  const path = join(scene.folder, 'store.db');
  const first = await scene.open(path);
  await first.write(key('x'), put('1'));
  await first.close();
  mkdirSync(`${path}-log1`);
  const second = await scene.open(path);
  await assert.rejects(second.write(key('y'), put('2')), { code: 'EMBEDDED_STORE_FAILED' });
  await second.close();
  rmSync(`${path}-log1`, { recursive: true });
  // As a process leaves it that dies before its first record.
  const database = new DatabaseSync(path);
  database.exec('UPDATE log SET life = randomblob(16)');
  database.close();
  for (const file of [0, 1]) writeFileSync(`${path}-log${file}`, '');
  for (let round = 0; round < 2; round++) {
    const next = await scene.open(path);
    assert.deepEqual(names(next), ['x']);
    await next.close();
  }
});

test('a disk without room refuses a write, and nothing of it is there; with room the next one is taken', async (t) => {
  const scene = openScene(t);
  const path = join(scene.folder, 'store.db');
  // The device that is always full, in the place of a file of the log.
  symlinkSync('/dev/full', `${path}-log0`);
  const full = await scene.open(path);
  for (let i = 0; i < 2; i++) {
    await assert.rejects(full.write(key('x'), put('1')), { code: 'EMBEDDED_STORE_FULL', message: /no space left/ });
  }
  assert.equal(full.revision, 0);
  await full.close();
  const next = await scene.open(path);
  await next.write(key('y'), put('2'));
  assert.deepEqual([names(next), next.revision], [['y'], 1]);
});
