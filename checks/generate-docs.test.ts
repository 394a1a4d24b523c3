import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorsPage } from './generate-docs.ts';

const entry = { meaning: 'It | broke.', remedy: 'Mend it.' };

test('the page has one row for each code', () => {
  const page = errorsPage([{ title: 'One', intro: 'From here.', catalog: { BROKEN: entry, OTHER: entry } }]);
  assert.match(page, /## One\n\nFrom here\./);
  assert.match(page, /\| `BROKEN` \| It \\\| broke\. \| Mend it\. \|\n\| `OTHER` \|/);
});

test('a code declared twice, written badly or not explained is an error', () => {
  const section = (title: string, catalog: Record<string, typeof entry>) => ({ title, intro: '', catalog });
  assert.throws(
    () => errorsPage([section('One', { A_B: entry }), section('Two', { A_B: entry })]),
    /A_B is declared twice/,
  );
  assert.throws(() => errorsPage([section('One', { lower: entry })]), /not in capitals/);
  assert.throws(() => errorsPage([section('One', { A_B: { meaning: '', remedy: 'x' } })]), /lacks/);
});
