import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkPurity } from './purity.ts';

const problemsOf = (text: string, path = 'operators/redis/src/plan/x.ts') => checkPurity([{ path, text }]);

test('reading the clock through Date is found', () => {
  assert.match(problemsOf('export const at = () => new Date();').join(), /:1: new Date\(\)/);
  assert.match(problemsOf('export const at = () => Date();').join(), /Date\(\)/);
  assert.deepEqual(problemsOf('export const at = (ms: number) => new Date(ms).toISOString(); // not new Date()'), []);
});

test('module-level mutable state is found, local state is not', () => {
  assert.match(problemsOf('\nlet count = 0;').join(), /:2: module-level mutable state/);
  assert.match(problemsOf('export let count = 0;').join(), /mutable/);
  assert.match(problemsOf('const cache = new Map<string, number>();').join(), /starts empty/);
  assert.match(problemsOf('const list: string[] = [];').join(), /starts empty/);
  assert.deepEqual(problemsOf('const none: readonly string[] = [];\nconst NO_OPTIONS = {};\nconst n: Needs = {};'), []);
  assert.match(problemsOf('const seen: Record<string, number> = {};').join(), /starts empty/);
  assert.deepEqual(
    problemsOf("const names = new Set(['a']);\nfunction f() { let n = 0; const m = new Map(); return [n, m]; }"),
    [],
  );
});

test('tests, the rig and the real ports are exempt', () => {
  assert.deepEqual(problemsOf('let a = new Date();', 'operators/redis/src/plan/x.test.ts'), []);
  assert.deepEqual(problemsOf('let a = new Date();', 'rig/src/servers.ts'), []);
  assert.deepEqual(problemsOf('let a = new Date();', 'packages/runtime/src/ports/system.ts'), []);
});
