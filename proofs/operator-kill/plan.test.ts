import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generator } from '../lib/random.ts';
import { OPERATIONS, planRounds } from './plan.ts';

test('every operation meets every victim, and the same seed gives the same rounds', () => {
  const rounds = planRounds(100, generator(1), false);
  for (const operation of OPERATIONS) {
    const victims = new Set(rounds.filter((round) => round.operation === operation).map(({ victim }) => victim));
    assert.deepEqual([...victims].sort(), ['everything', 'plane', 'plane and pods', 'pods'], operation);
  }
  assert.deepEqual(planRounds(100, generator(1), false), rounds);
  assert.notDeepEqual(planRounds(100, generator(2), false), rounds);
  assert.ok(planRounds(40, generator(1), true).some(({ victim }) => victim === 'agent'));
});
