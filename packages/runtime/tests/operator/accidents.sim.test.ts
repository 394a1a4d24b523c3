/**
 * The sample operator, one accident at a time: a crash around contacts, a cancel between them. Here some of them; all of them are
 * `npm run proof -- operator-accidents`. And bugs that must be found.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { enumerateCrashes, oneAccident, type RunOptions, simulate } from '@reeve/simulation';
import { findings } from './findings.ts';
import { plantedBugs } from './planted.ts';
import { sampleScenario } from './scenario.ts';

describe('the sample operator', () => {
  test('a crash before and after every second contact; of those through members every tenth', async (t) => {
    for (const through of ['process', 'members'] as const) {
      // With agents there are many more contacts; whoever makes one crashes at it.
      const share = { index: 0, of: through === 'members' ? 10 : 2 };
      const result = await enumerateCrashes(sampleScenario(through, { quiet: true }), { share, stopAfter: 3 });
      t.diagnostic(`${result.runs} runs through ${through}`);
      assert.deepEqual(findings(result), []);
      assert.ok(result.runs > 60, `${result.runs} crashes`);
    }
  });

  test('each task is cancelled at every fourth contact; of those through members at every twentieth', async (t) => {
    for (const through of ['process', 'members'] as const) {
      const accidents = ['cancel-t1', 'cancel-t2', 'cancel-t3', 'cancel-unseen'];
      const share = { index: 0, of: through === 'members' ? 20 : 4 };
      const result = await enumerateCrashes(sampleScenario(through, { quiet: true }), {
        accidents,
        share,
        stopAfter: 3,
      });
      t.diagnostic(`${result.runs} runs through ${through}`);
      assert.deepEqual(findings(result), []);
      assert.ok(result.runs > 40, `${result.runs} cancels`);
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
      assert.deepEqual(phases, ['odd Failed', 't1 Succeeded', 't2 Succeeded', 't3 Succeeded']);
    }
  });
});

interface Hunt {
  readonly quiet: boolean;
  run(): RunOptions;
}

/** Some seeds, then a task that is deleted unseen, or watches that break, here and there. */
function* hunts(): Generator<Hunt> {
  for (let seed = 0; seed < 20; seed++) yield { quiet: false, run: () => ({ seed }) };
  for (let nth = 1; nth < 200; nth += 9) {
    yield { quiet: true, run: () => ({ source: oneAccident('cancel-unseen', nth) }) };
    yield { quiet: false, run: () => ({ source: oneAccident('break-watches', nth) }) };
  }
}

describe('planted bugs are found', () => {
  for (const { name, through, parts } of plantedBugs) {
    test(name, async () => {
      for (const { quiet, run } of hunts()) {
        const { failure } = await simulate(sampleScenario(through, { parts, quiet }), run());
        if (!failure) continue;
        const sound = await simulate(sampleScenario(through, { quiet }), run());
        assert.equal(sound.failure, undefined);
        return;
      }
      assert.fail('nothing found it');
    });
  }
});
