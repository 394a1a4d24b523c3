import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generator } from '../lib/random.ts';
import { OPERATIONS, planRounds, VICTIMS } from './plan.ts';

test('every operation meets every victim, and the same seed gives the same rounds', () => {
  const rounds = planRounds(100, generator(1), false);
  for (const operation of OPERATIONS) {
    const victims = new Set(rounds.filter((round) => round.operation === operation).map(({ victim }) => victim));
    assert.deepEqual([...victims].sort(), ['everything', 'plane', 'plane and pods', 'pods'], operation);
  }
  assert.deepEqual(planRounds(100, generator(1), false), rounds);
  assert.notDeepEqual(planRounds(100, generator(2), false), rounds);
});

test('with agents, five turns bring every operation together with every victim, them among it', () => {
  const pairs = new Set(planRounds(30, generator(1), true).map(({ operation, victim }) => `${operation}, ${victim}`));
  assert.equal(pairs.size, OPERATIONS.length * VICTIMS.length);
});
