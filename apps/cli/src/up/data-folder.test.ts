import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemFiles, systemMakeFolder } from '@reeve/runtime';
import { MemoryFiles } from '../../tests/harness.ts';
import { findDataFolder, openDataFolder, openSystemFolder } from './data-folder.ts';

const refusedBy = (code: string) => async (): Promise<never> => {
  throw Object.assign(new Error(`${code}: no`), { code, syscall: 'mkdir' });
};

test('a new folder is its owner’s alone, and found again', async (t) => {
  const parent = await mkdtemp(join(tmpdir(), 'reeve-data-'));
  t.after(() => rm(parent, { recursive: true }));
  const path = join(parent, 'above', 'data');
  await openDataFolder(systemFiles, path, systemMakeFolder);
  assert.equal((await stat(path)).mode & 0o777, 0o700);
  assert.equal((await findDataFolder(systemFiles, path))?.store, join(path, 'store.db'));
});

test('others may pass through the folder of root, and of nobody else', async (t) => {
  const parent = await mkdtemp(join(tmpdir(), 'reeve-data-'));
  t.after(() => rm(parent, { recursive: true }));
  const modeFor = async (uid: number) => {
    const { path } = await openSystemFolder(systemFiles, join(parent, `${uid}`), { uid });
    return (await stat(path)).mode & 0o777;
  };
  assert.deepEqual([await modeFor(0), await modeFor(1000)], [0o711, 0o700]);
});

test('a place that is no folder, or where none can be made, is refused with the reason', async () => {
  const code = 'DATA_FOLDER';
  const open = (path: string) => openDataFolder(systemFiles, path, systemMakeFolder);
  await assert.rejects(open('/etc/passwd'), {
    code,
    message: '/etc/passwd cannot be used: is no folder, or lies below a file',
  });
  await assert.rejects(findDataFolder(systemFiles, '/etc/passwd'), { code });
  await assert.rejects(open('/proc/none/of/these'), { code, message: /cannot be used: no folder can be made there/ });
  const without = openDataFolder(new MemoryFiles(), '/somebody/else', refusedBy('EACCES'));
  await assert.rejects(without, { code, message: '/somebody/else cannot be used: permission denied' });
  await assert.rejects(openDataFolder(new MemoryFiles(), '/full', refusedBy('ENOSPC')), { code, message: /no room/ });
});
