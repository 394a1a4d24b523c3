/** What the shim writes down, and what it does where that cannot be written. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { SHIM } from './script.ts';

/** A file that everything can be read from and nothing written to: the disk is full. */
const FULL = '/dev/full';

function runFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-shim-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

function runShim(folder: string, ...command: readonly string[]): void {
  const { error } = spawnSync('/bin/sh', ['-c', SHIM, 'shim', folder, ...command], {
    stdio: 'ignore',
    timeout: 10_000,
  });
  assert.equal(error, undefined);
}

test('the exit code is written into the room that was kept for it, and is there as a whole', (t) => {
  const folder = runFolder(t);
  const kept = join(folder, 'exit.new');
  writeFileSync(kept, ' \n');
  const { ino } = statSync(kept);
  runShim(folder, 'sh', '-c', 'exit 7');
  assert.equal(readFileSync(join(folder, 'exit'), 'utf8'), '7\n');
  assert.equal(statSync(join(folder, 'exit')).ino, ino, 'it needed no other room');
});

test('a run that cannot say who it is does not begin, and says so', (t) => {
  const folder = runFolder(t);
  symlinkSync(FULL, join(folder, 'main'));
  runShim(folder, 'touch', join(folder, 'begun'));
  assert.ok(!existsSync(join(folder, 'begun')));
  assert.equal(readFileSync(join(folder, 'exit'), 'utf8'), '125\n');
});

test('an exit code that cannot be written is not told at all', (t) => {
  const folder = runFolder(t);
  symlinkSync(FULL, join(folder, 'exit.new'));
  runShim(folder, 'sh', '-c', 'exit 7');
  assert.ok(!existsSync(join(folder, 'exit')));
});
