import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

test('giveWay lowers the priority of all threads of the process', () => {
  // In a process of its own: there is no way back.
  const script = `
    import { readdirSync, readFileSync } from 'node:fs';
    import { getPriority } from 'node:os';
    import { giveWay } from ${JSON.stringify(new URL('./give-way.ts', import.meta.url).href)};
    const before = getPriority();
    giveWay();
    const threads = process.platform === 'linux' ? readdirSync('/proc/self/task') : ['0'];
    console.log(JSON.stringify({ before, after: threads.map((thread) => getPriority(Number(thread))) }));
  `;
  const output = execFileSync(process.execPath, ['--input-type=module-typescript', '-e', script], { encoding: 'utf8' });
  const { before, after } = JSON.parse(output) as { before: number; after: readonly number[] };
  assert.ok(after.length > 0 && after.every((priority) => priority >= Math.max(10, before)), output);
});
