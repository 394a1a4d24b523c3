import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Files } from '@reeve/runtime';
import { enumerateCrashes, type RecordedFailure, replay, runEach, runSeeds } from './campaign.ts';
import { oneAccident, weightOf } from './choices.ts';
import { Coverage, type CoverageData } from './coverage.ts';
import { simulate } from './run.ts';
import { shrink } from './shrink.ts';
import { type Scenario, Violation } from './world.ts';

/** A transfer between two accounts, without a journal: a crash, or an error that it takes for "did not happen", loses money. */
const transfer: Scenario = {
  name: 'transfer',
  effects: 33,
  build() {
    const accounts = { from: 10, to: 0 };
    return {
      processes: [
        {
          name: 'bank',
          async run(life) {
            for (let i = 0; i < 30; i++) await life.effect('idle', { apply: () => undefined }).catch(() => undefined);
            const paid = await life.effect('look', { apply: () => accounts.to > 0 }).catch(() => true);
            if (paid) return;
            await life.effect('take', { apply: () => accounts.from-- }).catch(() => undefined);
            await life.effect('give', { apply: () => accounts.to++ }).catch(() => undefined);
          },
        },
      ],
      atEnd() {
        if (accounts.from + accounts.to !== 10) throw new Violation('MONEY', JSON.stringify(accounts));
      },
    };
  },
};

test('a failing seed shrinks to the one choice that matters', async () => {
  const { failures } = await runSeeds(transfer, { count: 600, stopAfter: 3 });
  assert.equal(failures.length, 3);
  for (const { smallest } of failures) {
    assert.equal(smallest.failure?.code, 'MONEY');
    assert.equal(weightOf(smallest.choices), 1);
    assert.match(smallest.trace.join('\n'), /(take|give) → (fail|crash)-(before|after)/);
  }
});

test('shrinking keeps within its runs and never gives back something that passes', async () => {
  let failing = await simulate(transfer, { seed: 0 });
  for (let seed = 1; !failing.failure; seed++) failing = await simulate(transfer, { seed });
  const untouched = await shrink(transfer, failing, { maxRuns: 0 });
  assert.equal(untouched, failing);
  const smaller = await shrink(transfer, failing, { maxRuns: 5 });
  assert.equal(smaller.failure?.code, 'MONEY');
});

test('failing runs are recorded as files that replay the same failure', async () => {
  const written = new Map<string, string>();
  const files: Files = {
    read: async (path) => written.get(path),
    write: async (path, text) => void written.set(path, text),
    append: () => Promise.reject(new Error('not used')),
    remove: () => Promise.reject(new Error('not used')),
  };
  const { failures } = await runSeeds(transfer, {
    count: 300,
    stopAfter: 1,
    record: { files, folder: 'simulation-failures' },
  });
  const [file] = written.keys();
  assert.equal(failures[0]?.file, file);
  assert.match(file ?? '', /^simulation-failures\/transfer-seed-\d+\.json$/);
  const recorded = JSON.parse(written.get(file ?? '') ?? '') as RecordedFailure;
  assert.equal(recorded.code, 'MONEY');
  const again = await replay(transfer, recorded);
  assert.equal(again.failure?.code, 'MONEY');
  assert.equal(again.hash, failures[0]?.smallest.hash);
});

test('a source of decisions outside the ports is found by running seeds twice, with the step at which runs part', async () => {
  let calls = 0;
  const planted: Scenario = {
    name: 'planted',
    build: () => ({
      processes: [
        {
          name: 'tool',
          async run(life) {
            await life.effect('first', { apply: () => undefined });
            // As a hash map with an address for a seed would: the order depends on what ran before.
            await life.effect(calls++ % 2 === 0 ? 'even' : 'odd', { apply: () => undefined });
          },
        },
      ],
      faults: { kinds: [] },
    }),
  };
  const { failures } = await runSeeds(planted, { count: 1 });
  assert.equal(failures[0]?.failure.code, 'NONDETERMINISM');
  assert.match(failures[0].failure.message, /first at step 3: .*even.* \| .*odd/);
});

test('a failure that its own list of choices does not bring back is reported as such', async () => {
  let runs = 0;
  const flaky: Scenario = {
    name: 'flaky',
    build: () => ({
      processes: [],
      atEnd() {
        if (runs++ === 2) throw new Violation('ONCE', 'only once');
      },
    }),
  };
  const { failures } = await runSeeds(flaky, { count: 5 });
  assert.deepEqual(
    failures.map(({ origin, failure }) => [origin, failure.code]),
    [['seed 1', 'NONDETERMINISM']],
  );
});

test('coverage counts every fault at every effect and names the empty cells', async () => {
  const { coverage, runs } = await runSeeds(transfer, { count: 30, stopAfter: 1_000, maxRuns: 0 });
  assert.equal(runs, 30);
  const cells = coverage.emptyCells().map(({ label, accident }) => `${label} ${accident}`);
  assert.ok(cells.includes('give crash-after') || coverage.count('give', 'crash-after') > 0);
  assert.equal(Coverage.from(JSON.parse(JSON.stringify(coverage)) as CoverageData).table(), coverage.table());
  const table = coverage.table().split('\n');
  assert.match(table[0] ?? '', /^effect +count +crash-after +crash-before +delay +fail-after +fail-before$/);
  assert.match(table.find((row) => row.startsWith('restart')) ?? '', /^restart +\d+( +·){5}$/);
  assert.match(table.find((row) => row.startsWith('idle')) ?? '', /^idle +\d+( +\d+){5}$/);
});

test('what must be reached and never was is an empty cell, without an accident', async () => {
  const { coverage } = await runEach(transfer, [{ origin: 'calm', options: { choices: [] } }]);
  assert.deepEqual(
    coverage.emptyCells(['give', 'give back']).filter(({ accident }) => accident === undefined),
    [{ label: 'give back' }],
  );
});

test('runs chosen one by one end when enough was seen, and are named when they fail', async () => {
  const runs = Array.from({ length: 9 }, (_, index) => ({
    origin: `number ${index}`,
    options: { source: oneAccident('crash-after', index === 2 ? 1 : 0, { label: 'take' }) },
  }));
  const enough = (coverage: Coverage) => coverage.count('take', 'crash-after') > 0;
  const { failures, runs: done } = await runEach(transfer, runs, { enough });
  assert.equal(done, 3);
  assert.deepEqual(
    failures.map(({ origin, failure }) => [origin, failure.code]),
    [['number 2', 'MONEY']],
  );
});

test('an event of the world is brought to every effect in turn', async () => {
  const struckAt: number[] = [];
  const scenario: Scenario = {
    name: 'quake',
    build(simulation) {
      let done = 0;
      return {
        processes: [
          {
            name: 'tool',
            faults: ['delay'],
            async run(life) {
              for (; done < 5; done++) await life.effect('work', { apply: () => undefined });
            },
          },
        ],
        events: () => [{ kind: 'quake', apply: () => void struckAt.push(done) }],
        atEnd: () => assert.equal(simulation.elapsed, 0),
      };
    },
  };
  const { runs, failures, accidents } = await enumerateCrashes(scenario, { accidents: ['quake'] });
  assert.deepEqual(failures, []);
  assert.deepEqual(struckAt, [0, 1, 2, 3, 4]);
  assert.deepEqual([runs, accidents], [6, 5]);
});
