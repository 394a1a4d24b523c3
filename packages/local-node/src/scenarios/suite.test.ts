import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { onBoth, onNode, onScheduler, tables } from './suite-testing.ts';

const LEAST = 60;
const listed = readFileSync(new URL('./README.md', import.meta.url), 'utf8');

/** As the list has them: a heading, then a line for each. */
function names(): readonly string[] {
  return Object.values(tables).flatMap((some) => some.flatMap((table) => Object.keys(table)));
}

test(`the suite has at least ${LEAST} scenarios, and no name twice`, () => {
  assert.ok(names().length >= LEAST, String(names().length));
  assert.equal(new Set(names()).size, names().length);
  const run = [onBoth, onScheduler, onNode].flatMap((table) => Object.keys(table));
  assert.deepEqual(run.toSorted(), names().toSorted(), 'those that are run are those that are counted');
});

test('the list names them all, under the right heading, and no others', () => {
  const wanted = Object.entries(tables).flatMap(([heading, some]) => [
    `## ${heading}`,
    ...some.flatMap((table) => Object.keys(table).map((name) => `- ${name}`)),
  ]);
  const found = listed.split('\n').filter((line) => line.startsWith('## ') || line.startsWith('- '));
  assert.deepEqual(found, wanted);
});
