import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatProblems, overTime } from './report.ts';

const unformatted = `a/b.ts format ━━━━━━━━

  × Formatter would have printed the following content:

c.json format ━━━━━━━━
`;

test('files that are not formatted are named, a line each', () => {
  assert.deepEqual(formatProblems([unformatted]), [
    'a/b.ts is not formatted: npm run format',
    'c.json is not formatted: npm run format',
  ]);
  assert.deepEqual(formatProblems([]), []);
});

test('a formatter that failed without naming a file is a problem in its own words', () => {
  const broken = 'biome.json:1:9 deserialize ━━━\n  × Found an unknown key';
  assert.deepEqual(formatProblems([broken]), [broken]);
});

test('too long is said in one line, and only then', () => {
  assert.equal(overTime('the checks', 30, 30), undefined);
  assert.match(overTime('the checks', 30.1, 30) ?? '', /^WARNING: the checks took 30\.1 s, more than the 30 s [^\n]*$/);
});
