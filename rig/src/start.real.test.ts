/** `npm start` as a new user meets it: a declared cluster comes up, is shown, ends; the next start finds it again. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type TestContext, test } from 'node:test';
import { REEVE, run, temporaryFolder, until } from './index.ts';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const START = fileURLToPath(new URL('./start.ts', import.meta.url));

test('npm start brings a declared cluster up, shows it and says how to go on; the next start brings the same one back, a control plane that is killed comes back to the same servers, and Ctrl-C ends all of it', async (t) => {
  const data = join(temporaryFolder('start'), 'data');
  const first = await run(process.execPath, [START, '--once', '--data', data], { timeoutMs: 240_000 });
  assert.equal(first.code, 0, first.stdout + first.stderr);
  assert.match(first.stdout, /Creating: create/);
  assert.match(first.stdout, /Running: 16384 slots, 3 primaries, 3 replicas/);
  assert.match(first.stdout, /node bin\/reeve\.js delete pod cache-0/);
  assert.doesNotMatch(first.stdout, /^ +reeve /m, 'nobody has a reeve in PATH yet');
  assert.deepEqual(processesOf(data), [], 'nothing is left');
  const second = await untilCtrlC(t, data);
  assert.equal(second.code, 0, second.said);
  assert.match(second.said, /Starting again/);
  assert.doesNotMatch(second.said, /Creating/);
  assert.match(second.said, /Running: 16384 slots, 3 primaries, 3 replicas/);
  assert.match(second.said, /The control plane has ended \(SIGKILL\)[^]*6 pods taken over/);
  assert.match(second.said, /6 pods ended/);
  assert.doesNotMatch(
    second.said,
    /Stopping\. Pods go on|Ctrl-C stops/,
    'what Ctrl-C does is said once, as it is here',
  );
  assert.doesNotMatch(second.said, /still open/, 'the control plane ends by itself while its pods go on');
  assert.deepEqual(processesOf(data), [], 'nothing is left');
});

/** `npm start` in a group of its own, which is sent SIGINT as `timeout` does it: npm, which passes it on, and then all of the group. */
async function untilCtrlC(
  t: TestContext,
  data: string,
): Promise<{ readonly code: number | null; readonly said: string }> {
  const npm = spawn('npm', ['start', '--', '--data', data], {
    cwd: REPOSITORY,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { pid } = npm;
  assert.ok(pid !== undefined);
  const ended = once(npm, 'exit') as Promise<[number | null]>;
  t.after(async () => {
    endGroup(pid);
    if (processesOf(data).length > 0) await run(process.execPath, [REEVE, 'down', '--data', data]);
  });
  let said = '';
  for (const stream of [npm.stdout, npm.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  await until('it waits for Ctrl-C', () => Promise.resolve(said.includes('Ctrl-C ends all of it')), {
    timeoutMs: 240_000,
  });
  const plane = holderOf(data);
  const runs = shimsOf(data);
  assert.equal(runs.length, 6);
  process.kill(plane, 'SIGKILL');
  const isBack = () => Promise.resolve(/6 pods taken over/.test(said) && holderOf(data) !== plane);
  await until('the control plane is back', isBack);
  assert.deepEqual(shimsOf(data), runs, 'the servers went on');
  process.kill(pid, 'SIGINT');
  process.kill(-pid, 'SIGINT');
  const [code] = await ended;
  return { code, said };
}

/** The process that has the folder. */
function holderOf(data: string): number {
  return (JSON.parse(textOf(join(data, 'holder')) || '{"pid":0}') as { readonly pid: number }).pid;
}

/** Whoever began a server and waits for its end, one for each run; servers themselves write their titles over what they were given. */
const shimsOf = (data: string): readonly string[] =>
  processesOf(data).filter((pid) => /^[^\0]*\0[^\0]*\/shim\.sh\0/.test(textOf(`/proc/${pid}/cmdline`)));

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // nothing of it is left, as it should be
  }
}

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
