/** `npm start` as a new user meets it: a declared cluster comes up, is shown, ends; the next start finds it again. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { run, temporaryFolder } from './index.ts';

const START = fileURLToPath(new URL('./start.ts', import.meta.url));

test('npm start brings a declared cluster up, shows it and says how to go on; the next start brings the same one back', async () => {
  const data = join(temporaryFolder('start'), 'data');
  const start = () => run(process.execPath, [START, '--once', '--data', data], { timeoutMs: 240_000 });
  const first = await start();
  assert.equal(first.code, 0, first.stdout + first.stderr);
  assert.match(first.stdout, /Creating: create/);
  assert.match(first.stdout, /Running: 16384 slots, 3 primaries, 3 replicas/);
  assert.match(first.stdout, /node bin\/reeve\.js delete pod cache-0/);
  assert.deepEqual(processesOf(data), [], 'nothing is left');
  const second = await start();
  assert.equal(second.code, 0, second.stdout + second.stderr);
  assert.match(second.stdout, /Starting again/);
  assert.doesNotMatch(second.stdout, /Creating/);
  assert.match(second.stdout, /Running: 16384 slots, 3 primaries, 3 replicas/);
  assert.deepEqual(processesOf(data), [], 'nothing is left');
});

/** Processes that were given something of this folder. */
function processesOf(data: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .filter(
      (pid) => textOf(`/proc/${pid}/cmdline`).includes(data) || textOf(`/proc/${pid}/environ`).includes(`=${data}`),
    );
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // it ended meanwhile, or is somebody else's
  }
}
