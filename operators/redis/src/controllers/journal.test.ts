import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock, Files } from '@reeve/runtime';
import { createJournal, openJournal } from './journal.ts';

const clock: Clock = { now: () => 1000, sleep: async () => undefined };

function memoryFiles(): Files & { readonly texts: Map<string, string> } {
  const texts = new Map<string, string>();
  return {
    texts,
    read: async (path) => texts.get(path),
    write: async (path, text) => void texts.set(path, text),
    append: async (path, text) => void texts.set(path, (texts.get(path) ?? '') + text),
    remove: async (path) => void texts.delete(path),
  };
}

const header = {
  operationId: 'op-1',
  kind: 'reshard',
  goal: { moves: [] },
  digest: 'v1-x',
  seeds: [{ host: '127.0.0.1', port: 7000 }],
};

test('a journal gives back the goal it was begun with, and what happened', async () => {
  const files = memoryFiles();
  const journal = await createJournal(files, clock, 'j', header);
  await journal.append({ entry: 'ended', number: 1, outcome: { status: 'done' } });
  const stored = await openJournal(files, clock, 'j');
  assert.deepEqual(stored.journal.header, { ...header, version: 1, at: 1000 });
  assert.deepEqual(stored.entries, [{ entry: 'ended', number: 1, outcome: { status: 'done' }, at: 1000 }]);
  assert.equal(stored.reached, false);
  await stored.journal.append({ entry: 'reached' });
  assert.equal((await openJournal(files, clock, 'j')).reached, true);
});

test('a torn last line is left out and what is appended next stands on a line of its own', async () => {
  const files = memoryFiles();
  await createJournal(files, clock, 'j', header);
  await files.append('j', '{"entry":"ended","num');
  const stored = await openJournal(files, clock, 'j');
  assert.deepEqual(stored.entries, []);
  await stored.journal.append({ entry: 'resumed' });
  assert.deepEqual((await openJournal(files, clock, 'j')).entries, [{ entry: 'resumed', at: 1000 }]);
});

test('a journal that exists is never overwritten', async () => {
  const files = memoryFiles();
  await createJournal(files, clock, 'j', header);
  await assert.rejects(createJournal(files, clock, 'j', { ...header, operationId: 'op-2' }), {
    code: 'JOURNAL_EXISTS',
  });
  assert.equal((await openJournal(files, clock, 'j')).journal.header.operationId, 'op-1');
});

test('what is not a journal is refused with a code', async () => {
  const files = memoryFiles();
  await assert.rejects(openJournal(files, clock, 'none'), { code: 'JOURNAL_MISSING' });
  files.texts.set('text', 'hello\nworld\n');
  await assert.rejects(openJournal(files, clock, 'text'), { code: 'JOURNAL_BROKEN' });
  files.texts.set('newer', `${JSON.stringify({ ...header, version: 99 })}\n`);
  await assert.rejects(openJournal(files, clock, 'newer'), { code: 'JOURNAL_BROKEN' });
  files.texts.set('middle', `${JSON.stringify({ ...header, version: 1 })}\nbroken\n{"entry":"reached"}\n`);
  await assert.rejects(openJournal(files, clock, 'middle'), { code: 'JOURNAL_BROKEN' });
});
