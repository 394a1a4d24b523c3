/** The agent dies before and after each of its writes, to the API and to the servers: an order is carried out once, or said to be unknown. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { oneAccident, runSeeds, simulate } from '@reeve/simulation';
import type { Outcome } from '@reeve/runtime';
import { type Ending, type Errand, errandScenario } from './errand.ts';
import { errands } from './errands.ts';

const API_WRITES = ['update status members', 'create leases', 'update leases'];

/** What changes something at a server. */
function isServerWrite(label: string): boolean {
  return /^(?:CLUSTER (?:SETSLOT|BUMPEPOCH|FAILOVER|MIGRATESLOTS|CANCELSLOTMIGRATIONS)|MIGRATE|transaction)/.test(
    label,
  );
}

async function labelsOf(errand: Errand): Promise<readonly string[]> {
  const ending: Ending = { outcomes: [] };
  const { failure, coverage, trace } = await simulate(errandScenario(errand, ending), { choices: [] });
  assert.equal(failure, undefined, trace.join('\n'));
  assert.deepEqual(kindsOf(ending.outcomes), ['done'], 'without an accident it is done at once');
  const labels = coverage.labels().filter((label) => API_WRITES.includes(label) || isServerWrite(label));
  assert.ok(labels.some(isServerWrite), labels.join(', '));
  return labels;
}

function kindsOf(outcomes: readonly Outcome[]): readonly string[] {
  return outcomes.map((outcome) => (outcome.status === 'failed' ? outcome.code : outcome.status));
}

describe('the agent of a server', () => {
  for (const errand of errands) {
    test(`${errand.name}: killed around every write`, async (t) => {
      const endings = new Map<string, number>();
      let runs = 0;
      for (const label of await labelsOf(errand)) {
        for (const accident of ['crash-before', 'crash-after'] as const) {
          for (let nth = 1; ; nth++) {
            const ending: Ending = { outcomes: [] };
            const source = oneAccident(accident, nth, { label });
            const { failure, trace } = await simulate(errandScenario(errand, ending), { source });
            if (source.chances < nth) break;
            runs++;
            const where = `${accident} ${nth} at ${label}`;
            assert.equal(failure, undefined, `${where}: ${failure?.code} ${failure?.message}\n${trace.join('\n')}`);
            const kinds = kindsOf(ending.outcomes).join(' ');
            endings.set(kinds, (endings.get(kinds) ?? 0) + 1);
            assert.match(kinds, /^(?:ORDER_NOT_DONE |stale )*(?:done|ORDER_UNKNOWN)$/, where);
          }
        }
      }
      t.diagnostic(`${runs} deaths: ${[...endings].map(([kinds, count]) => `${count} × ${kinds}`).join('; ')}`);
      assert.ok(runs >= 20, `${runs} deaths`);
    });

    test(`${errand.name}: several deaths, anywhere`, async (t) => {
      const result = await runSeeds(errandScenario(errand), { count: 60, stopAfter: 3 });
      t.diagnostic(`${result.runs} runs, ${result.accidents} deaths`);
      assert.deepEqual(
        result.failures.map(({ origin, failure }) => `${origin}: ${failure.code} ${failure.message}`),
        [],
      );
      assert.ok(result.accidents > 20, `${result.accidents} deaths`);
    });
  }
});
