import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileRefusal } from '../file-problem.ts';
import { copyStore, refuseUnreadable, refuseUnwritable, writeStore } from './system-store-file.ts';

test('what is no file to read, and no place to write to, is told before anything is done', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-store-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'file');
  await writeFile(file, '');
  await refuseUnreadable(file);
  const code = 'FILE_UNREADABLE';
  await assert.rejects(refuseUnreadable(folder), { code, message: `${folder} is no file` });
  await assert.rejects(refuseUnreadable(`${file}.none`), { code, message: /there is no such file/ });
  await refuseUnwritable(join(folder, 'new'));
  const unwritable = { code: 'FILE_UNWRITABLE' };
  await assert.rejects(refuseUnwritable('/nonexist/x.db'), { ...unwritable, message: /^\/nonexist: there is no such/ });
  await assert.rejects(refuseUnwritable(join(file, 'new')), { ...unwritable, message: /is no folder/ });
  await assert.rejects(writeStore(join(folder, 'none', 'x'), [Buffer.from('x')]), unwritable);
});

test('a copy that fails is told of the file that failed, and a disk that does as the machine’s', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-store-'));
  t.after(() => rm(folder, { recursive: true }));
  const [from, to] = [join(folder, 'from'), join(folder, 'to')];
  await assert.rejects(copyStore(from, to), { code: 'FILE_UNREADABLE', message: /from: there is no such file/ });
  const broken = Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', syscall: 'read' });
  const chunks = (async function* () {
    yield Buffer.from('x');
    throw broken;
  })();
  await assert.rejects(writeStore(join(folder, 'other'), chunks), broken);
  for (const [is, code] of [
    ['EIO', 'MACHINE_REFUSED'],
    ['ENOSPC', 'MACHINE_REFUSED'],
    ['EDQUOT', 'MACHINE_REFUSED'],
    ['EACCES', 'FILE_UNWRITABLE'],
  ]) {
    const error = Object.assign(new Error('no'), { code: is, syscall: 'write' });
    const told = fileRefusal(error, 'FILE_UNWRITABLE', to) as { readonly code: string; readonly message: string };
    assert.equal(told.code, code);
    assert.ok(told.message.startsWith(`${to}: `));
  }
  assert.equal(fileRefusal(broken.message, 'FILE_UNWRITABLE', to), broken.message);
});
