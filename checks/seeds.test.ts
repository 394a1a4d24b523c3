import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSeeds, titlesOf } from './seeds.ts';

const files = [
  {
    path: 'a/x.test.ts',
    text: "describe('outer', () => { test(\n 'it\\'s true', () => {}); test(`for ${product}`, f) });",
  },
  { path: 'docs/designs/0001.md', text: '' },
  { path: 'a/x.ts', text: '' },
];
const page = (...rows: string[]) =>
  [
    '## 000 A (1 statements)\n| 000-01 | s | open: issue 2 |',
    '## 001 B (1 statements)\n| 001-01 | s | open: later |',
    '## 002 C (1 statements)\n| 002-01 | s | open: later |',
    '## 003 D (1 statements)\n| 003-01 | s | open: issue 2 |',
    `## 004 E (${rows.length} statements)`,
    ...rows,
  ].join('\n');

test('rows with existing tests, decisions and open issues pass', () => {
  const rows = [
    "| 004-01 | first | `a/x.test.ts › outer › it's true`, `a/x.test.ts › for ${product}` |",
    '| 004-02 | second | `docs/designs/0001.md` |',
    '| 004-03 | third | open: issue 3 |',
  ];
  assert.deepEqual(checkSeeds(page(...rows), files), []);
});

test('a test or file that does not exist fails', () => {
  assert.match(checkSeeds(page('| 004-01 | s | `a/x.test.ts › other` |'), files).join(), /has no test 'other'/);
  assert.match(
    checkSeeds(page('| 004-01 | s | `a/y.test.ts › other` |'), files).join(),
    /a\/y\.test\.ts does not exist/,
  );
  assert.match(checkSeeds(page('| 004-01 | s | `a/x.ts` |'), files).join(), /name a test/);
  assert.match(checkSeeds(page('| 004-01 | s | `a/x.ts › t` |'), files).join(), /not a test file/);
});

test('a row without proof, a gap in the numbers, a missing seed and a wrong total fail', () => {
  assert.match(checkSeeds(page('| 004-01 | s | |'), files).join(), /no test, no decision/);
  assert.match(checkSeeds(page('| 004-02 | s | open: later |'), files).join(), /should be 004-01/);
  assert.match(checkSeeds(page(), files).join(), /no row of seed 004/);
  assert.match(
    checkSeeds(`${page('| 004-01 | s | open: later |')}\n| 004-02 | s | open: later |`, files).join(),
    /says 1 statements and has 2/,
  );
});

test('a title made of a template is found by what was filled in', () => {
  const table = [
    ...files,
    { path: 'a/t.test.ts', text: "for (const name of ['one (1)', 'two']) test(`case ${name}: works`, f);" },
  ];
  const found = (title: string) => checkSeeds(page(`| 004-01 | s | \`a/t.test.ts › ${title}\` |`), table);
  assert.deepEqual(found('case one (1): works'), []);
  assert.match(found('case three: works').join(), /has no test/);
  assert.match(found('case two: fails').join(), /has no test/);
});

test('titles are found however they are quoted', () => {
  assert.deepEqual([...titlesOf('test("a", f); it(`b ${c}`, f);\ndescribe("d", f)')], ['a', 'b ${c}', 'd']);
});
