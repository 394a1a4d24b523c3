import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { refuseUnreadable, refuseUnwritable, writeStore } from './system-store-file.ts';

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
