import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Coverage, type CoverageData } from './coverage.ts';

/** A run with two effects: servers may be killed at both, failed over at the second only. */
function aRun(): Coverage {
  const run = new Coverage();
  for (const label of ['write', 'read']) {
    run.effect(label);
    run.possible(label, ['crash']);
  }
  run.offered('write', ['kill']);
  run.offered('read', ['kill', 'failover']);
  return run;
}

test('a cell is empty when the accident could have come there and did not', () => {
  const run = aRun();
  run.struck('read', 'kill');
  run.struck('write', 'crash');
  assert.deepEqual(run.emptyCells(['done']), [
    { label: 'done' },
    { label: 'read', accident: 'crash' },
    { label: 'read', accident: 'failover' },
    { label: 'write', accident: 'kill' },
  ]);
  assert.match(run.table(), /write +1 +1 +· +0/);
});

test('runs in which an accident could have come are remembered, through plain data, but not for ever', () => {
  const all = new Coverage();
  for (let seed = 0; seed < 20; seed++) all.add(aRun(), `seed ${seed}`);
  const calm = new Coverage();
  for (const label of ['late', 'read']) {
    calm.effect(label);
    calm.spared(label);
  }
  all.add(calm, 'seed 20');
  const copy = new Coverage();
  copy.add(Coverage.from(JSON.parse(JSON.stringify(all.toJSON())) as CoverageData));
  assert.equal(copy.count('read'), 21);
  assert.deepEqual(
    copy.origins('read', 'failover'),
    Array.from({ length: 8 }, (_, seed) => `seed ${seed}`),
  );
  assert.deepEqual(copy.origins('write', 'failover'), []);
  assert.deepEqual(copy.emptyCells(), all.emptyCells());
  assert.deepEqual(copy.alwaysSpared(), ['late']);
});
