/** The sample operator as a controller of two managers: a lease, a fence in the server, statuses and children by the controller. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulate } from '@reeve/simulation';
import { sampleScenario } from './scenario.ts';
import { holdsForSeeds } from './seeds-testing.ts';

test('the sample operator: 200 seeds, as a controller of two managers with a lease and a fence', (t) =>
  holdsForSeeds(t, 'managers', 200));

test('without accidents every task is done, in the order in which they were asked for', async () => {
  let taken: readonly string[] = [];
  const onEnd = (checks: { readonly taken: readonly string[] }) => {
    taken = checks.taken;
  };
  const { failure } = await simulate(sampleScenario('managers', { quiet: true, onEnd }), { choices: [] });
  assert.equal(failure, undefined);
  assert.deepEqual(taken, ['resize c', 'clean t1', 'snapshot t2', 'clean t3']);
});

test('a fence with a gap is found: a write of a former leader lands while another leads', async () => {
  // The probe is fenced, so that managers begin to work; clusters and tasks are not.
  const fenced = [{ apiGroups: [''], resources: ['configmaps'] }];
  for (let seed = 0; seed < 60; seed++) {
    const { failure } = await simulate(sampleScenario('managers', { fenced }), { seed });
    if (failure === undefined) continue;
    assert.equal(failure.code, 'FENCE');
    if (/of term (\d+\/\w+) landed in (?!\1)\d+\/\w+/.test(failure.message)) return;
  }
  assert.fail('nothing found it');
});
