import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Bar, campaign } from './campaign.ts';
import { plantedBugs } from './planted.ts';

test('a campaign ends with its bars as one JSON line, and a bug that is not found misses its bar', async () => {
  const said: string[] = [];
  const bars = await campaign(['--only', 'bugs', '--bug-seeds', '0'], (text) => said.push(text));
  const last = JSON.parse(said.at(-1) ?? '') as { bench: string; bars: readonly Bar[] };
  assert.equal(last.bench, 'simulation');
  assert.deepEqual(last.bars, bars);
  assert.deepEqual(
    bars.find(({ name }) => name === 'planted bugs found'),
    { name: 'planted bugs found', value: 0, bar: plantedBugs.length, better: 'higher', met: false },
  );
  assert.equal(said.filter((line) => line.endsWith('NOT FOUND')).length, 10);
});
