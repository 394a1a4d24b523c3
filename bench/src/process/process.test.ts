import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Count } from './count.ts';
import { LineProcess } from './line-process.ts';
import { cpuMsOf, ownCpuMs, residentMbOf } from './usage.ts';

test('the CPU time and memory that Linux tells of a process are those it tells itself', () => {
  const before = { outside: cpuMsOf(process.pid), inside: ownCpuMs() };
  const until = ownCpuMs() + 60;
  while (ownCpuMs() < until);
  const outside = cpuMsOf(process.pid) - before.outside;
  assert.ok(Math.abs(outside - (ownCpuMs() - before.inside)) <= 25, `${outside}`);
  assert.ok(Math.abs(residentMbOf(process.pid) - process.memoryUsage().rss / 2 ** 20) < 32);
});

test('a count tells when its number is reached, also one that is reached already', async () => {
  const count = new Count();
  count.add();
  await count.reach(1);
  let isReached = false;
  const reached = count.reach(3).then(() => (isReached = true));
  count.add();
  await Promise.resolve();
  assert.equal(isReached, false);
  count.add();
  await reached;
  count.reset();
  assert.equal(count.value, 0);
});

test('a process answers line by line; one that ends says why', async () => {
  await using echo = new LineProcess('echo', { command: 'cat', args: [] });
  assert.deepEqual(await echo.ask({ do: 'usage' }), { do: 'usage' });
  await using broken = new LineProcess('broken', { command: 'sh', args: ['-c', 'echo no such thing >&2; exit 3'] });
  await assert.rejects(broken.next(), /broken: ended with 3\nno such thing/);
});
