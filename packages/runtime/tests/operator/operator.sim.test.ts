/** The sample operator, simulated: seeds, a crash around every contact, a cancel at every step, planted bugs. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type CampaignResult,
  enumerateCrashes,
  oneAccident,
  type RunOptions,
  runSeeds,
  simulate,
} from '@reeve/simulation';
import { plantedBugs } from './planted.ts';
import { sampleScenario, type Through } from './scenario.ts';

const SEEDS: Readonly<Record<Through, number>> = { process: 200, members: 100 };

/** What failed, with the choices that replay it. */
function findings({ failures }: CampaignResult): readonly string[] {
  return failures.map(
    ({ origin, failure, smallest }) =>
      `${origin}: ${failure.code} ${failure.message.split('\n')[0]} [${smallest.choices.join()}]`,
  );
}

function struck({ coverage }: CampaignResult, accident: string): number {
  return coverage.labels().reduce((sum, label) => sum + coverage.count(label, accident), 0);
}

describe('the sample operator', () => {
  for (const through of ['process', 'members'] as const) {
    test(`${SEEDS[through]} seeds, steps run through ${through}`, async (t) => {
      const result = await runSeeds(sampleScenario(through), { count: SEEDS[through], stopAfter: 3 });
      t.diagnostic(`${result.runs} runs, ${result.steps} steps, ${result.accidents} accidents`);
      assert.deepEqual(findings(result), []);
      // The seeds did reach what they are there for.
      const contacts = [
        'update status clusters',
        'update status tasks',
        'update tasks',
        'pod.resize',
        'pod.begin clean',
      ];
      if (through === 'members') contacts.push('update members', 'update status members', 'update leases');
      else contacts.push('pod.withdraw');
      for (const label of contacts) assert.ok(result.coverage.count(label) > 0, `no run came to ${label}`);
      const accidents = ['delay', 'fail-before', 'fail-after', 'crash-before', 'crash-after'];
      accidents.push('compact', 'cut-watches', 'replay', 'throttle', 'touch', 'lose-pod');
      accidents.push('cancel-t1', 'cancel-t3', 'cancel-unseen');
      for (const accident of accidents) assert.ok(struck(result, accident) > 0, `no run had a ${accident}`);
    });
  }

  test('a crash before and after every single contact', async (t) => {
    const result = await enumerateCrashes(sampleScenario('process', { quiet: true }), { stopAfter: 3 });
    t.diagnostic(`${result.runs} runs`);
    assert.deepEqual(findings(result), []);
    assert.ok(result.runs > 150, `${result.runs} crashes`);
  });

  test('each task is cancelled at every step', async (t) => {
    for (const through of ['process', 'members'] as const) {
      const accidents = ['cancel-t1', 'cancel-t2', 'cancel-t3', 'cancel-unseen'];
      const share = { index: 0, of: through === 'members' ? 10 : 2 };
      const result = await enumerateCrashes(sampleScenario(through, { quiet: true }), {
        accidents,
        share,
        stopAfter: 3,
      });
      t.diagnostic(`${result.runs} runs through ${through}`);
      assert.deepEqual(findings(result), []);
      assert.ok(result.runs > 80, `${result.runs} cancels`);
    }
  });

  test('without accidents every task is done, in the order in which they were asked for', async () => {
    for (const through of ['process', 'members'] as const) {
      let taken: readonly string[] = [];
      let phases: readonly (string | undefined)[] = [];
      const scenario = sampleScenario(through, {
        quiet: true,
        onEnd: (checks) => {
          taken = checks.taken;
          phases = checks.tasks.map(({ metadata, status }) => `${metadata.name} ${status?.phase}`);
        },
      });
      const { failure } = await simulate(scenario, { choices: [] });
      assert.equal(failure, undefined);
      assert.deepEqual(taken, ['resize c', 'clean t1', 'snapshot t2', 'clean t3']);
      assert.deepEqual(phases, ['t1 Succeeded', 't2 Succeeded', 'odd Failed', 't3 Succeeded']);
    }
  });
});

/** Some seeds, then a task that is deleted unseen, here and there. */
function* hunts(): Generator<() => RunOptions> {
  for (let seed = 0; seed < 20; seed++) yield () => ({ seed });
  for (let nth = 1; nth < 200; nth += 9) yield () => ({ source: oneAccident('cancel-unseen', nth) });
}

describe('planted bugs are found', () => {
  for (const { name, through, parts } of plantedBugs) {
    test(name, async () => {
      for (const hunt of hunts()) {
        const { failure } = await simulate(
          sampleScenario(through, { parts, quiet: hunt().seed === undefined }),
          hunt(),
        );
        if (!failure) continue;
        const sound = await simulate(sampleScenario(through, { quiet: hunt().seed === undefined }), hunt());
        assert.equal(sound.failure, undefined);
        return;
      }
      assert.fail('nothing found it');
    });
  }
});
