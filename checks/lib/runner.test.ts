import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Counts, judge, tierOf } from './runner.ts';

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
