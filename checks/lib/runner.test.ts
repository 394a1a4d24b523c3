import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addCounts, batchEnd, type Counts, cut, judge, sumCounts, tierOf } from './runner.ts';

const good: Counts = { tests: 3, passed: 3, failed: 0, cancelled: 0, skipped: 0, todo: 0 };

test('a run passes only when tests ran and none failed, was cancelled or skipped', () => {
  assert.equal(judge(good), undefined);
  assert.match(judge(undefined) ?? '', /no summary/);
  assert.match(judge({ ...good, tests: 0 }) ?? '', /no test ran/);
  assert.match(judge({ ...good, failed: 1 }) ?? '', /1 tests failed/);
  assert.match(judge({ ...good, cancelled: 2 }) ?? '', /2 tests failed/);
  assert.match(judge({ ...good, skipped: 1 }) ?? '', /skipped/);
  assert.match(judge({ ...good, todo: 1 }) ?? '', /skipped/);
});

test('the name of a test file says its tier', () => {
  assert.equal(tierOf('a/x.test.ts'), 'unit');
  assert.equal(tierOf('a/x.sim.test.ts'), 'sim');
  assert.equal(tierOf('a/x.real.test.ts'), 'real');
  assert.equal(tierOf('a/x.ts'), undefined);
});

test('counts add up, and a batch without a summary spoils the sum', () => {
  assert.deepEqual(addCounts(good, { ...good, failed: 2 }), {
    tests: 6,
    passed: 6,
    failed: 2,
    cancelled: 0,
    skipped: 0,
    todo: 0,
  });
  assert.equal(addCounts(good, undefined), undefined);
});

test('files are cut into batches of neighbours, each once', () => {
  assert.deepEqual(cut([1, 2, 3, 4, 5], 2), [
    [1, 2, 3],
    [4, 5],
  ]);
  assert.deepEqual(cut([1, 2, 3], 8), [[1], [2], [3]]);
  const many = Array.from({ length: 276 }, (_, index) => index);
  const parts = cut(many, 8);
  assert.deepEqual(parts.flat(), many);
  assert.deepEqual(
    [...new Set(parts.map((part) => part.length))].sort((a, b) => a - b),
    [34, 35],
  );
});

test('a batch whose process failed is no success, whatever it counted', () => {
  assert.deepEqual(batchEnd(good, 0), { counts: good });
  assert.deepEqual(batchEnd({ ...good, failed: 2 }, 1), { counts: { ...good, failed: 2 } });
  const passed = batchEnd(good, 1);
  assert.equal(passed.counts?.failed, 1);
  assert.match(passed.words ?? '', /ended with 1 although its tests passed/);
  const killed = batchEnd(undefined, 'SIGKILL');
  assert.equal(killed.counts, undefined);
  assert.match(killed.words ?? '', /SIGKILL and without a summary/);
});

test('no job is lost in the sum, whatever order they end in', async () => {
  const later = (turns: number): Promise<void> =>
    turns === 0 ? Promise.resolve() : new Promise((resolve) => setImmediate(() => resolve(later(turns - 1))));
  const jobs = [5, 1, 4, 2, 3];
  const counts = await sumCounts(jobs, 2, async (job) => {
    await later(job);
    return { ...good, failed: job };
  });
  assert.equal(counts?.tests, 15);
  assert.equal(counts?.failed, 15);
});
