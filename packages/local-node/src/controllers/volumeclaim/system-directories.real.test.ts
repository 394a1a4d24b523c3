import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemDirectories } from './system-directories.ts';

test('a directory is removed for the claim that it was made for, and for no other', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'reeve-volumes-'));
  t.after(() => rm(root, { recursive: true }));
  const directories = systemDirectories(root);
  await directories.make('pvc-1', 'uid-1');
  await directories.make('pvc-1', 'uid-1');
  await assert.rejects(directories.make('pvc-1', 'uid-2'), { code: 'VOLUME_FOREIGN' });
  assert.deepEqual(await readdir(directories.pathOf('pvc-1')), [], 'programs find it empty');
  await writeFile(join(directories.pathOf('pvc-1'), 'file'), 'data');
  assert.equal(await directories.remove('pvc-1', 'uid-2'), 'foreign');
  assert.deepEqual(await readdir(directories.pathOf('pvc-1')), ['file']);
  assert.equal(await directories.remove('pvc-1', 'uid-1'), 'removed');
  assert.equal(await directories.remove('pvc-1', 'uid-1'), 'absent');
  await mkdir(join(root, 'pvc-2'));
  assert.equal(await directories.remove('pvc-2', 'uid-1'), 'foreign', 'not marked');
  assert.throws(() => directories.pathOf('../outside'), { code: 'VOLUME_FOREIGN' });
});
