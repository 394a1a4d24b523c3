import assert from 'node:assert/strict';
import { test } from 'node:test';
import { live } from './deaths.ts';
import { stages } from './stages.ts';

for (const stage of stages) {
  test(`${stage.name}: undisturbed, and with a death before and after an effect`, async () => {
    const calm = await live(stage, { after: Number.POSITIVE_INFINITY, comes: 'before', looksCount: false });
    assert.equal(calm.problem, undefined);
    assert.equal(calm.deaths, 0);
    assert.ok(calm.effects > 2, `${calm.effects} effects`);
    const middle = Math.floor(calm.effects / 2);
    for (const comes of ['before', 'after'] as const) {
      const { deaths, problem } = await live(stage, { after: middle, comes, looksCount: false });
      assert.equal(problem, undefined);
      assert.equal(deaths, 1);
    }
  });
  test(`${stage.name}: a server dies with the operator`, async () => {
    const { deaths, problem } = await live(stage, { after: 2, comes: 'after', looksCount: false, server: 2 });
    assert.equal(problem, undefined);
    assert.equal(deaths, 1);
  });
}

test('a primary that dies with the operator right before its replica changes places', async () => {
  const stage = stages.find(({ name }) => name === 'replicas that change places');
  assert.ok(stage);
  for (const server of [0, 1, 2, 3, 4, 5]) {
    const { problem } = await live(stage, { after: 4, comes: 'after', looksCount: false, server });
    assert.equal(problem, undefined);
  }
});
