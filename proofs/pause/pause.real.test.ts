import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Kube, startKube } from '@reeve/rig';
import { PauseWorld } from './world.ts';

const kubes: Kube[] = [];
let fencedKube: Kube;
let openKube: Kube;
before(async () => {
  fencedKube = await startKube();
  kubes.push(fencedKube);
  openKube = await startKube();
  kubes.push(openKube);
});
after(async () => {
  for (const kube of kubes) await kube.stop();
});

test('a leader that is paused past its lease and resumed lands no write in the next term', async () => {
  await using world = await PauseWorld.open(fencedKube, { random: Math.random });
  for (let round = 0; round < 2; round++) await world.round();
  const { stale, problems, terms, writes } = world.judge.verdict();
  assert.deepEqual([stale, problems], [[], []]);
  assert.ok(terms >= 3 && writes > 60, `${writes} writes in ${terms} terms`);
});

test('without the fence the same pause is seen as stale writes: the judge can tell', async () => {
  await using world = await PauseWorld.open(openKube, { random: () => 0.99, fenced: false });
  for (let round = 0; round < 2; round++) await world.round();
  assert.ok(world.judge.verdict().stale.length > 0);
});
