import assert from 'node:assert/strict';
import { existsSync, readdirSync, renameSync, symlinkSync } from 'node:fs';
import { chmod, lstat, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getegid, geteuid } from 'node:process';
import { setImmediate as turn } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { systemHostFiles as files } from './system-files.ts';

const FOLDERS = 100;

async function place(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-files-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

/** Each of its folders has a file. */
async function nested(folder: string): Promise<string> {
  for (let number = 0; number < FOLDERS; number++) {
    await mkdir(join(folder, `${number}`), { recursive: true });
    await writeFile(join(folder, `${number}`, 'file'), '');
  }
  return folder;
}

test('a removal is not led elsewhere by who puts a link in place of a folder meanwhile', async (t) => {
  const folder = await place(t);
  const victim = await nested(join(folder, 'victim'));
  const pod = join(folder, 'pod');
  const swapped = await nested(join(pod, 'empty', 'swapped'));
  const removal = files.remove(pod).catch(() => undefined); // it may tell that somebody is in its way
  while (readdirSync(swapped).length === FOLDERS) await turn();
  assert.ok(readdirSync(swapped).length > 0, 'it is in the middle of it');
  renameSync(swapped, join(pod, 'empty', 'aside'));
  symlinkSync(victim, swapped);
  await removal;
  const left = await readdir(victim, { recursive: true });
  assert.equal(left.length, 2 * FOLDERS, 'what the link leads to is as it was');
  await files.remove(pod);
  assert.deepEqual(await readdir(folder), ['victim']);
});

test('whatever lies in a folder goes with it: links and not what they lead to, names of any bytes, folders closed to us', async (t) => {
  const folder = await place(t);
  const gone = join(folder, 'gone');
  await mkdir(join(gone, 'a', 'b', 'c'), { recursive: true });
  await writeFile(join(folder, 'kept'), '');
  await mkdir(join(folder, 'full'));
  await writeFile(join(folder, 'full', 'kept'), '');
  await symlink(join(folder, 'kept'), join(gone, 'a', 'to-file'));
  await symlink(join(folder, 'full'), join(gone, 'a', 'to-folder'));
  await symlink('nowhere', join(gone, 'a', 'to-nothing'));
  await writeFile(Buffer.concat([Buffer.from(join(gone, 'a', 'b')), Buffer.from([0x2f, 0xff, 0xfe])]), '');
  await chmod(join(gone, 'a', 'b', 'c'), 0);
  await files.remove(gone);
  await files.remove(gone);
  await symlink(join(folder, 'full'), join(folder, 'link'));
  await files.remove(join(folder, 'link'));
  await files.remove(join(folder, 'full', 'kept', 'below a file')).catch(() => undefined);
  assert.deepEqual((await readdir(folder)).sort(), ['full', 'kept']);
  assert.ok(existsSync(join(folder, 'full', 'kept')));
});

test('a folder is given away after what is in it: nobody can lead the way through it elsewhere', async (t) => {
  const folder = await place(t);
  const below = await nested(join(folder, 'given', 'deep'));
  await files.setOwner(join(folder, 'given'), { uid: geteuid?.() ?? 0, gid: getegid?.() ?? 0 }, true);
  const changed = async (path: string) => (await lstat(path, { bigint: true })).ctimeNs;
  const given = await changed(join(folder, 'given'));
  assert.ok((await changed(below)) <= given);
  for (const name of await readdir(below, { recursive: true }))
    assert.ok((await changed(join(below, name))) <= given, name);
});

test('a folder like another one has its mode, whatever the umask, and is made where it was asked for or not at all', async (t) => {
  const folder = await place(t);
  await mkdir(join(folder, 'volume', 'sub'), { recursive: true });
  await mkdir(join(folder, 'elsewhere'));
  await chmod(join(folder, 'volume'), 0o777);
  await symlink(join(folder, 'elsewhere'), join(folder, 'volume', 'link'));
  const make = (path: string) => files.makeFolderLike(join(folder, 'volume', path), join(folder, 'volume'));
  await make('sub/new');
  assert.equal((await stat(join(folder, 'volume', 'sub', 'new'))).mode & 0o7777, 0o777);
  await chmod(join(folder, 'volume', 'sub', 'new'), 0o700);
  await make('sub/new');
  assert.equal((await stat(join(folder, 'volume', 'sub', 'new'))).mode & 0o7777, 0o700, 'what is there stays as it is');
  await mkdir(join(folder, 'elsewhere', 'below'));
  for (const path of ['link/new', 'link/below/new']) await assert.rejects(make(path), path);
  assert.deepEqual(await readdir(join(folder, 'elsewhere'), { recursive: true }), ['below']);
});
