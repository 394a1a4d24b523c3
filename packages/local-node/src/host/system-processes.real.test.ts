import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamRequest } from './host.ts';
import { systemProcesses } from './system-processes.ts';

const { signal: never } = new AbortController();

async function stream(script: string, more: Partial<StreamRequest> = {}) {
  const said = { stdout: '', stderr: '' };
  const code = await systemProcesses.stream({
    argv: ['sh', '-c', script],
    env: { PATH: process.env.PATH ?? '' },
    folder: '/',
    signal: never,
    input: undefined,
    output: async (name, chunk) => {
      said[name] += Buffer.from(chunk).toString();
    },
    ...more,
  });
  return { code, ...said };
}

async function* texts(...all: readonly string[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const text of all) yield Buffer.from(text);
}

test('streams of a command as they come, and its exit code', async () => {
  assert.deepEqual(await stream('cat; echo problem >&2; exit 5', { input: texts('a', 'b\n') }), {
    code: 5,
    stdout: 'ab\n',
    stderr: 'problem\n',
  });
  assert.deepEqual(await stream('cat'), { code: 0, stdout: '', stderr: '' }, 'nothing to read is an end');
  assert.equal((await stream('kill -9 $$')).code, 137);
});

test('a command that does not read its input to the end is not waited for', async () => {
  const endless = async function* () {
    for (;;) yield Buffer.alloc(10_000, 'x');
  };
  assert.deepEqual(await stream('head -c 5', { input: endless() }), { code: 0, stdout: 'xxxxx', stderr: '' });
});

test('what it writes waits for whoever reads it', async () => {
  let most = 0;
  let waiting = 0;
  const { code } = await stream('head -c 2000000 /dev/zero', {
    output: async () => {
      most = Math.max(most, ++waiting);
      await new Promise((resolve) => setImmediate(resolve));
      waiting--;
    },
  });
  assert.deepEqual([code, most], [0, 1]);
});

test('a signal ends it with all that it started', async () => {
  const stop = new AbortController();
  const { promise: begun, resolve: begin } = Promise.withResolvers<string>();
  const running = stream('sleep 1000 & echo $!; wait', {
    signal: stop.signal,
    output: async (_name, chunk) => begin(Buffer.from(chunk).toString()),
  });
  const pid = Number(await begun);
  stop.abort(new Error('enough'));
  await assert.rejects(running, { message: 'enough' });
  const end = performance.now() + 20_000;
  while (systemProcesses.find(pid)?.isZombie === false && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.ok(systemProcesses.find(pid)?.isZombie !== false, 'its child is gone, too');
});

test('a program that is not there cannot be started', async () => {
  await assert.rejects(stream('', { argv: ['/no/such/program'] }), /ENOENT/);
});
