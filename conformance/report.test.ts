import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Explanation } from './explained.ts';
import { summary, verdictOf } from './report.ts';
import type { Outcome } from './suite.ts';

const row: Explanation = { area: 'a', case: 'c', field: 'f', why: 'w' };
const outcome = (more: Partial<Outcome> = {}): Outcome => ({
  area: 'a',
  name: 'c',
  unexplained: [],
  explainedBy: [],
  stale: [],
  surprises: [],
  ...more,
});

test('a difference without a row, a row without a difference and a case about nothing all count as different', () => {
  assert.equal(verdictOf(outcome()), 'equal');
  assert.equal(verdictOf(outcome({ explainedBy: [row] })), 'explained');
  assert.equal(verdictOf(outcome({ stale: [row] })), 'different');
  assert.equal(verdictOf(outcome({ surprises: ['201, expected 422'] })), 'different');
  assert.equal(verdictOf(outcome({ unexplained: [{ field: '0.code', real: 1, embedded: 2 }] })), 'different');
});

test('the table adds up, and what is explained does not make a run fail', () => {
  const outcomes = [outcome(), outcome({ explainedBy: [row] })];
  const { table, isGood } = summary(outcomes);
  assert.ok(isGood);
  assert.equal(table.at(-1), '| all | 2 | 1 | 1 | 0 |');
  const worse = summary([...outcomes, outcome({ unexplained: [{ field: '0.code', real: 1, embedded: 2 }] })]);
  assert.ok(!worse.isGood);
  assert.match(worse.lines.join('\n'), /a: c\n {2}0\.code\n {4}real: {5}1\n {4}embedded: 2/);
});
