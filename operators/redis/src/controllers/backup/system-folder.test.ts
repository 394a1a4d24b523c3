import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { countingIds } from '@reeve/runtime/testing';
import type { BackupManifest, BackupStore } from '../../api/backup.ts';
import { folderBackups } from './system-folder.ts';

const NAME = 'ns/c/one';
const manifest = { format: 1, name: NAME, by: 'uid', shards: [], users: [] } as unknown as BackupManifest;

async function* bytesOf(...parts: readonly string[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield Buffer.from(part);
}

async function textOf(bytes: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function folderFor(t: TestContext): Promise<{ readonly root: string; readonly store: BackupStore }> {
  const root = await mkdtemp(join(tmpdir(), 'reeve-backups-'));
  t.after(() => rm(root, { recursive: true }));
  return { root, store: folderBackups(root, countingIds()) };
}

test('a backup is there when it is sealed, as a whole, and for its owner only', async (t) => {
  const { root, store } = await folderFor(t);
  const draft = await store.draft(NAME);
  await draft.write('shard-0.rdb', bytesOf('half ', 'and half'));
  assert.equal(await store.manifest(NAME), undefined);
  assert.equal(await textOf(draft.read('shard-0.rdb')), 'half and half');
  await draft.seal(manifest);
  assert.deepEqual(await store.manifest(NAME), manifest);
  assert.equal(await textOf(store.read(NAME, 'shard-0.rdb')), 'half and half');
  assert.equal((await stat(join(root, 'ns/c/one/shard-0.rdb'))).mode & 0o777, 0o600);
  assert.deepEqual((await readdir(join(root, 'ns/c/one'))).sort(), ['manifest.json', 'shard-0.rdb']);
});

test('of two who make the same backup one seals it; what the other has written goes nowhere', async (t) => {
  const { store } = await folderFor(t);
  const first = await store.draft(NAME);
  await first.write('shard-0.rdb', bytesOf('first'));
  const second = await store.draft(NAME);
  await assert.rejects(() => first.write('shard-1.rdb', bytesOf('first')), { code: 'ENOENT' });
  await second.write('shard-0.rdb', bytesOf('second'));
  await second.seal(manifest);
  await assert.rejects(() => first.seal({ ...manifest, by: 'another' }));
  assert.equal(await textOf(store.read(NAME, 'shard-0.rdb')), 'second');
  const third = await store.draft(NAME);
  await assert.rejects(() => third.seal({ ...manifest, by: 'another' }), { code: 'BACKUP_EXISTS' });
  assert.equal((await store.manifest(NAME))?.by, 'uid');
});

test('a draft that was never sealed leaves nothing behind', async (t) => {
  const { root, store } = await folderFor(t);
  const draft = await store.draft(NAME);
  await draft.write('shard-0.rdb', bytesOf('first'));
  await draft.discard();
  assert.deepEqual(await readdir(join(root, 'ns/c/.drafts')), []);
});

test('drafts that somebody left are told, and thrown away one by one', async (t) => {
  const { root, store } = await folderFor(t);
  assert.deepEqual(await store.drafts(), []);
  const sealed = await store.draft('ns/c/sealed');
  await sealed.seal({ ...manifest, name: 'ns/c/sealed' });
  await (await store.draft(NAME)).write('shard-0.rdb', bytesOf('first'));
  await store.draft('other/d/two');
  const all = await store.drafts();
  assert.deepEqual(all.map(({ name }) => name).sort(), [NAME, 'other/d/two']);
  const [left] = all.filter(({ name }) => name === NAME);
  assert.ok(left);
  const newer = await store.draft(NAME);
  await newer.write('shard-0.rdb', bytesOf('second'));
  await store.discard(left);
  assert.equal(await textOf(newer.read('shard-0.rdb')), 'second', 'another one of the same backup stays');
  for (const draft of await store.drafts()) await store.discard(draft);
  assert.deepEqual(await store.drafts(), []);
  assert.deepEqual(await readdir(join(root, 'ns/c/.drafts')), []);
  await assert.rejects(() => store.discard({ name: NAME, id: '../sealed' }), { code: 'BACKUP_NAME' });
  assert.ok(await store.manifest('ns/c/sealed'));
});

test('no name leads out of the folder', async (t) => {
  const { store } = await folderFor(t);
  for (const name of ['../c/one', 'ns/../one', 'ns/c/..', 'ns/c', 'ns/c/one/more', 'ns/c/.drafts', 'ns/c/']) {
    await assert.rejects(() => store.manifest(name), { code: 'BACKUP_NAME' }, name);
  }
});
