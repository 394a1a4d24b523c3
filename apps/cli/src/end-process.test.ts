import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';

const MODULE = JSON.stringify(new URL('./end-process.ts', import.meta.url).href);

/** A process of its own whose command is over with 3. */
function ending(before: string, lingerMs: number) {
  const script = `import { endProcess } from ${MODULE};\n${before}\nawait endProcess(3, ${lingerMs});`;
  return spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function outcomeOf(child: ReturnType<typeof ending>) {
  let [out, err] = [0, ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.length));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
}

test('a process that has nothing open ends at once, and silently', async () => {
  assert.deepEqual(await outcomeOf(ending('', 60_000)), { code: 3, out: 0, err: '' });
});

test('something that was left open does not keep the process: it is named', async () => {
  const { code, err } = await outcomeOf(
    ending('setInterval(() => undefined, 1_000); setInterval(() => undefined, 1_000);', 20),
  );
  assert.equal(code, 3);
  assert.match(err, /still open: .*2 Timeout/);
});

test('what was printed is not lost, however late it is read', async () => {
  const size = 4 << 20;
  const child = ending(
    `setInterval(() => undefined, 1_000); process.stdout.write('x'.repeat(${size})); process.stderr.write('begun');`,
    1,
  );
  await once(child.stderr, 'readable');
  assert.equal((await outcomeOf(child)).out, size);
});
