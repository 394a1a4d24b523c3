/** A selection of every area on both servers: one real path of what `npm run conformance` does in full. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areas } from './areas/index.ts';
import { explanations } from './explained.ts';
import { fuzz } from './fuzz/fuzz.ts';
import { summary } from './report.ts';
import { startEmbedded, startReal } from './server.ts';
import { runCases, type Selected } from './suite.ts';

/** Every so many, so that each area has about five. */
const OF_EACH = 5;
const SEQUENCES = 60;

const selected: readonly Selected[] = areas.flatMap(({ name, cases }) => {
  const step = Math.floor(cases.length / OF_EACH);
  return cases.filter((_, index) => index % step === 0).map((one) => ({ area: name, one }));
});

test('a selection of cases and random sequences is equal on both servers', async () => {
  const errors: unknown[] = [];
  await using embedded = await startEmbedded((error) => errors.push(error));
  await using real = await startReal();
  const { lines, isGood } = summary(await runCases(selected, { real, embedded }, explanations));
  assert.ok(isGood, lines.join('\n'));
  const { sequences, codes, different } = await fuzz(
    { real, embedded },
    { seeds: Array.from({ length: SEQUENCES }, (_, index) => index) },
  );
  assert.deepEqual([sequences, different], [SEQUENCES, []]);
  // Conflicts of managers are what they are about.
  assert.ok((codes.get(409) ?? 0) > 5 && (codes.get(200) ?? 0) > 50, JSON.stringify([...codes]));
  assert.deepEqual(errors, []);
});
