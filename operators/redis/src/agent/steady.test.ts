import assert from 'node:assert/strict';
import { test } from 'node:test';
import { viewOf } from '../plan/testing.ts';
import { factsOf, type RedisFacts } from './facts.ts';
import { steadyFacts } from './steady.ts';

function facts(changes: Partial<RedisFacts> = {}): RedisFacts {
  const [node] = viewOf({ primaries: 3 }).nodes;
  assert.ok(node?.report.known);
  return { ...factsOf(node.report.value, 'run'), keys: 1_000, usedBytes: 100_000_000, offset: 50_000_000, ...changes };
}

const before = { facts: facts(), at: 0 };

test('the first look is reported', () => {
  assert.deepEqual(steadyFacts(undefined, facts(), 7), { facts: facts(), at: 7 });
});

test('numbers that move a little are not told, however long they do', () => {
  const moved = facts({ keys: 1_049, usedBytes: 104_000_000, offset: 52_000_000 });
  assert.equal(steadyFacts(before, moved, 86_400_000), before);
  const small = { facts: facts({ keys: 3, usedBytes: 2_000_000, offset: 14 }), at: 0 };
  assert.equal(steadyFacts(small, facts({ keys: 90, usedBytes: 3_000_000, offset: 1_400 }), 86_400_000), small);
});

test('numbers that move far are told, but not every second', () => {
  for (const change of [{ keys: 1_200 }, { usedBytes: 90_000_000 }, { offset: 60_000_000 }]) {
    const moved = facts(change);
    assert.equal(steadyFacts(before, moved, 9_999), before);
    assert.deepEqual(steadyFacts(before, moved, 10_000), { facts: moved, at: 10_000 });
  }
});

test('what happened is told at once, with the numbers of now; so is that a node is empty, or not any more', () => {
  const failed = facts({ state: 'fail', keys: 1_001 });
  assert.deepEqual(steadyFacts(before, failed, 1), { facts: failed, at: 1 });
  assert.deepEqual(steadyFacts(before, facts({ keys: 0 }), 1).facts.keys, 0);
  const empty = { facts: facts({ keys: 0 }), at: 0 };
  assert.deepEqual(steadyFacts(empty, facts({ keys: 1 }), 1).facts.keys, 1);
});
