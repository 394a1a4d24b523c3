/** The sample operator by seeds: everything that can go wrong, in any order. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type CampaignResult, runSeeds } from '@reeve/simulation';
import { findings } from './findings.ts';
import { sampleScenario, type Through } from './scenario.ts';

function struck({ coverage }: CampaignResult, accident: string): number {
  return coverage.labels().reduce((sum, label) => sum + coverage.count(label, accident), 0);
}

export async function holdsForSeeds(t: TestContext, through: Through, count: number): Promise<void> {
  const result = await runSeeds(sampleScenario(through), { count, stopAfter: 3 });
  t.diagnostic(`${result.runs} runs, ${result.steps} steps, ${result.accidents} accidents`);
  assert.deepEqual(findings(result), []);
  // The seeds did reach what they are there for.
  const contacts = [
    'update status clusters',
    'update status tasks',
    'update tasks',
    'pod.resize',
    'pod.begin clean',
    'task done',
    'task failed',
    'task cancelled',
    'task yielded',
  ];
  if (through === 'members') contacts.push('update members', 'update status members', 'update leases');
  else contacts.push('pod.withdraw');
  if (through === 'managers') {
    contacts.push('patch status clusters', 'patch configmaps', 'stopped in order');
    contacts.push('refused: nobody leads', 'refused: another leads');
  }
  for (const label of contacts) assert.ok(result.coverage.count(label) > 0, `no run came to ${label}`);
  const accidents = ['delay', 'fail-before', 'fail-after', 'crash-before', 'crash-after'];
  accidents.push('compact', 'end-watches', 'break-watches', 'replay', 'throttle', 'touch', 'lose-pod');
  accidents.push('cancel-t1', 'cancel-t3', 'cancel-unseen');
  if (through === 'managers') accidents.push('shut-down', 'take-lease', 'late-write');
  for (const accident of accidents) assert.ok(struck(result, accident) > 0, `no run had a ${accident}`);
}
