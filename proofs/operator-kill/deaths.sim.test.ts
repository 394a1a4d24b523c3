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
}
