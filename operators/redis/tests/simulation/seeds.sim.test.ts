/** 500 seeds on every `npm test`; `npm run bench -- simulation` runs 10,000. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type RecordedFailure, replay } from '@reeve/simulation';
import { runCrew, seedPieces } from './crew.ts';
import { requiredLabels } from './required.ts';
import { scenarioNamed } from './scenarios.ts';

const SEEDS = 500;
const PIECE = 23;
const regressions = new URL('./regressions/', import.meta.url);

test('500 seeds of every operation: nothing is lost, everything comes to rest', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-simulation-'));
  const { findings, runs, steps, accidents, coverage } = await runCrew(seedPieces(SEEDS, PIECE, folder));
  t.diagnostic(`${runs} runs, ${steps} steps, ${accidents} accidents`);
  // Each finding names the file with its choices, which replay it; what passed leaves nothing behind.
  assert.deepEqual(findings, []);
  await rm(folder, { recursive: true });
  assert.ok(runs >= SEEDS);
  // The seeds did reach what they are there for.
  for (const label of ['MIGRATE', 'CLUSTER SETSLOT NODE', 'CLUSTER MEET', 'CLUSTER FORGET', 'files.append']) {
    assert.ok(coverage.count(label) > 0, `no run came to ${label}`);
  }
  // All commands; only whether a replica is promoted by force is a race with the election of the servers themselves.
  const unreached = coverage.emptyCells(requiredLabels).filter(({ accident }) => accident === undefined);
  assert.deepEqual(
    unreached.filter(({ label }) => label !== 'command failover force'),
    [],
  );
  for (const accident of ['crash-before', 'crash-after', 'fail-after', 'delay', 'kill-server', 'failover']) {
    const hits = coverage.labels().reduce((sum, label) => sum + coverage.count(label, accident), 0);
    assert.ok(hits > 0, `no run had a ${accident}`);
  }
});

describe('runs that failed once', () => {
  const names = readdirSync(regressions).filter((name) => name.endsWith('.json'));
  for (const name of names) {
    const recorded = JSON.parse(readFileSync(new URL(name, regressions), 'utf8')) as RecordedFailure;
    test(`${name}: ${recorded.code} does not come again`, async () => {
      assert.equal((await replay(scenarioNamed(recorded.scenario), recorded)).failure, undefined);
    });
  }
});
