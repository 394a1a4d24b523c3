import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { deadline } from './deadline.ts';
import type { Clock } from './ports.ts';
import { systemClock, systemFiles, systemIds, systemMakeFolder } from './system.ts';

test('files are written as a whole, readable by their owner only, and appended to', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-files-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'deeper', 'journal');
  assert.equal(await systemFiles.read(path), undefined);
  await systemFiles.write(path, 'one\n');
  await systemFiles.append(path, 'two\n');
  assert.equal(await systemFiles.read(path), 'one\ntwo\n');
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  await systemFiles.write(path, 'three\n');
  assert.equal(await readFile(path, 'utf8'), 'three\n');
  await systemFiles.remove(path);
  assert.equal(await systemFiles.read(path), undefined);
});

test('a folder is made with those above it; where none can be made, that is told', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-folders-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'one', 'two', 'three');
  await systemMakeFolder(path, 0o700);
  await systemMakeFolder(path, 0o700);
  assert.equal((await stat(path)).mode & 0o777, 0o700);
  await assert.rejects(systemMakeFolder('/proc/none/of/these'), { code: 'ENOENT' });
  await assert.rejects(systemFiles.write('/proc/none/file', ''), { code: 'ENOENT' });
  await assert.rejects(systemMakeFolder('/etc/passwd/x'), { code: 'ENOTDIR' });
});

test('a sleep ends with the reason of its signal', async () => {
  const controller = new AbortController();
  const sleeping = systemClock.sleep(60_000, controller.signal);
  controller.abort(new Error('enough'));
  await assert.rejects(sleeping, { message: 'enough' });
  await assert.rejects(systemClock.sleep(60_000, controller.signal), { message: 'enough' });
});

test('the clock does not go back and ids do not repeat', () => {
  const first = systemClock.now();
  assert.ok(systemClock.now() >= first);
  const ids = new Set(Array.from({ length: 1000 }, () => systemIds.next('op')));
  assert.equal(ids.size, 1000);
});

/** A clock that moves when told. */
function handClock(): Clock & { advance(ms: number): void } {
  let now = 0;
  const sleepers: { at: number; wake: () => void }[] = [];
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        sleepers.push({ at: now + ms, wake: resolve });
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
    advance(ms) {
      now += ms;
      for (const sleeper of sleepers) if (sleeper.at <= now) sleeper.wake();
    },
  };
}

test('a deadline aborts its signal with the given reason, not before', async () => {
  const clock = handClock();
  using limit = deadline(clock, 100, () => new Error('too slow'));
  clock.advance(99);
  await Promise.resolve();
  assert.equal(limit.signal.aborted, false);
  clock.advance(1);
  await new Promise((resolve) => limit.signal.addEventListener('abort', resolve));
  assert.equal((limit.signal.reason as Error).message, 'too slow');
});

test('a deadline passes on its parent’s end and is silent once disposed', async () => {
  const clock = handClock();
  const parent = new AbortController();
  const limit = deadline(clock, 100, () => new Error('too slow'), parent.signal);
  parent.abort(new Error('stop'));
  assert.equal((limit.signal.reason as Error).message, 'stop');
  const other = deadline(clock, 100, () => new Error('too slow'));
  other[Symbol.dispose]();
  clock.advance(200);
  await Promise.resolve();
  assert.equal(other.signal.aborted, false);
});
