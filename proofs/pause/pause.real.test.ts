import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startKube } from '@reeve/rig';
import { PauseWorld } from './world.ts';

test('a leader that is paused past its lease and resumed lands no write in the next term', async () => {
  await using kube = await startKube();
  await using world = await PauseWorld.open(kube, { random: Math.random });
  for (let round = 0; round < 2; round++) await world.round();
  const { stale, problems, terms, writes } = world.judge.verdict();
  assert.deepEqual([stale, problems], [[], []]);
  assert.ok(terms >= 3 && writes > 60, `${writes} writes in ${terms} terms`);
});

test('without the fence the same pause is seen as stale writes: the judge can tell', async () => {
  await using kube = await startKube();
  await using world = await PauseWorld.open(kube, { random: () => 0.99, fenced: false });
  // How many writes a resumed leader gets through before it learns the truth is chance; none in six rounds is not.
  const isSeen = () => world.judge.verdict().stale.length > 0;
  for (let round = 0; round < 6 && !isSeen(); round++) await world.round();
  assert.ok(isSeen());
});
