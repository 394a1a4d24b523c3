/** What the shim writes down, and what it does where that cannot be written. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { systemProcesses } from '../host/system-processes.ts';
import { eventually } from '../node/node-testing.ts';
import { SHIM } from './script.ts';

/** A file that everything can be read from and nothing written to: the disk is full. */
const FULL = '/dev/full';

function runFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-shim-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** In a group of its own, as the node begins it: it ends that group. */
async function runShim(folder: string, ...command: readonly string[]): Promise<void> {
  const args = ['-c', SHIM, 'shim', folder, ...command];
  await once(spawn('/bin/sh', args, { stdio: 'ignore', detached: true, timeout: 10_000 }), 'exit');
}

test('the exit code is written into the room that was kept for it, and is there as a whole', async (t) => {
  const folder = runFolder(t);
  const kept = join(folder, 'exit.new');
  writeFileSync(kept, ' \n');
  const { ino } = statSync(kept);
  await runShim(folder, 'sh', '-c', 'exit 7');
  assert.equal(readFileSync(join(folder, 'exit'), 'utf8'), '7\n');
  assert.equal(statSync(join(folder, 'exit')).ino, ino, 'it needed no other room');
});

test('a run that cannot say who it is does not begin, and says so', async (t) => {
  const folder = runFolder(t);
  symlinkSync(FULL, join(folder, 'main'));
  await runShim(folder, 'touch', join(folder, 'begun'));
  assert.ok(!existsSync(join(folder, 'begun')));
  assert.equal(readFileSync(join(folder, 'exit'), 'utf8'), '125\n');
});

test('what the program leaves behind ends with it, also where nothing tells whose it is', async (t) => {
  const folder = runFolder(t);
  const pidFile = join(folder, 'pid');
  await runShim(folder, 'sh', '-c', `env -i sleep 1000 & echo $! >${pidFile}; kill -9 $$`);
  assert.equal(readFileSync(join(folder, 'exit'), 'utf8'), '137\n');
  const left = Number(readFileSync(pidFile, 'utf8'));
  assert.ok(left > 0);
  await eventually(() => !isAlive(left), 'it is gone');
});

function isAlive(pid: number): boolean {
  const row = systemProcesses.find(pid);
  return row !== undefined && !row.isZombie;
}

test('an exit code that cannot be written is not told at all', async (t) => {
  const folder = runFolder(t);
  symlinkSync(FULL, join(folder, 'exit.new'));
  await runShim(folder, 'sh', '-c', 'exit 7');
  assert.ok(!existsSync(join(folder, 'exit')));
});
