import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSeeds } from './campaign.ts';
import type { Incarnation } from './incarnation.ts';
import { simulate } from './run.ts';
import { type Scenario, Violation, type World } from './world.ts';

const nap = (life: Incarnation) => life.ports.clock.sleep(10);
const work = (life: Incarnation) => life.effect('work', { apply: () => undefined });

function worldOf(run: (life: Incarnation) => Promise<void>, rest: Partial<World> = {}): Scenario {
  return { name: 'run', build: () => ({ processes: [{ name: 'tool', run }], ...rest }) };
}

async function failureOf(scenario: Scenario) {
  const { failure, ok } = await simulate(scenario, { choices: [] });
  assert.equal(ok, failure === undefined);
  return failure;
}

test('the same seed gives the same trace, choices and steps; seeds differ', async () => {
  const busy = worldOf(async (life) => {
    for (let i = 0; i < 20; i++) {
      await Promise.allSettled([work(life), nap(life), work(life)]);
      if (life.ports.random.next() < 0.5) await work(life).catch(() => undefined);
    }
  });
  const hashes = new Set<string>();
  for (let seed = 0; seed < 30; seed++) {
    const first = await simulate(busy, { seed });
    const second = await simulate(busy, { seed });
    assert.equal(second.hash, first.hash);
    assert.deepEqual(second.choices, first.choices);
    assert.deepEqual((await simulate(busy, { choices: first.choices })).hash, first.hash);
    hashes.add(first.hash);
  }
  assert.equal(hashes.size, 30);
});

test('a program that waits for what never comes is stuck, and the report says who waits for what', async () => {
  const failure = await failureOf(
    worldOf((life) => life.effect('lock', { detail: 'shard 7', when: () => false, apply: () => undefined })),
  );
  assert.equal(failure?.code, 'STUCK');
  assert.match(failure.message, /tool did not end; tool#1 waits for lock \(shard 7\) since \+0 ms/);
  const silent = await failureOf(worldOf(() => new Promise(() => undefined)));
  assert.match(silent?.message ?? '', /nobody waits for an effect/);
});

test('a program that never ends reaches the limit of steps', async () => {
  const forever = async (life: Incarnation) => {
    for (;;) await work(life);
  };
  const failure = await failureOf(worldOf(forever, { maxSteps: 500 }));
  assert.equal(failure?.code, 'STEP_LIMIT');
  assert.equal(failure.atStep, 500);
});

test('a world that does not come to rest after the last accident fails by liveness', async () => {
  const never = worldOf(nap, { unrest: () => 'never', convergeMs: 5_000 });
  assert.equal((await failureOf(never))?.code, 'STUCK');
  const ticking: Scenario = {
    name: 'ticking',
    build(simulation) {
      const tick = async () => {
        for (;;) await simulation.environment.ports.clock.sleep(1_000);
      };
      void tick();
      return {
        processes: [{ name: 'tool', run: nap }],
        unrest: () => (simulation.elapsed > 3_600_000 ? undefined : 'the hour is not over'),
        faults: { horizonMs: 30_000 },
        convergeMs: 60_000,
      };
    },
  };
  const failure = await failureOf(ticking);
  assert.equal(failure?.code, 'LIVENESS');
  assert.match(failure.message, /61000 ms after the last accident: .* the hour is not over/);
});

test('no accident comes after the horizon, nor more than the limit', async () => {
  let lastEventAt = 0;
  let events = 0;
  let most = 0;
  const scenario: Scenario = {
    name: 'horizon',
    build(simulation) {
      events = 0;
      const happen = () => {
        events++;
        lastEventAt = Math.max(lastEventAt, simulation.elapsed);
      };
      return {
        processes: [
          {
            name: 'tool',
            async run(life) {
              for (let i = 0; i < 100; i++) await nap(life);
            },
          },
        ],
        events: () => [{ kind: 'shake', apply: happen }],
        faults: { kinds: ['delay'], horizonMs: 500, most: 3 },
        atEnd: () => {
          most = Math.max(most, events);
        },
      };
    },
  };
  const { failures, coverage } = await runSeeds(scenario, { count: 100 });
  assert.deepEqual(failures, []);
  assert.ok(coverage.count('sleep', 'shake') > 0);
  assert.equal(most, 3);
  assert.ok(lastEventAt < 500 && lastEventAt > 100, String(lastEventAt));
});

test('what the rules throw, and what the program throws, fails the run by name', async () => {
  const always = worldOf(work, {
    always: () => {
      throw new Violation('TWO_OWNERS', 'slot 5');
    },
  });
  assert.deepEqual([(await failureOf(always))?.code, (await failureOf(always))?.atStep], ['TWO_OWNERS', 1]);
  assert.equal((await failureOf(worldOf(work, { atEnd: () => assert.equal(1, 2) })))?.code, 'INVARIANT');
  const crashed = await failureOf(worldOf(() => Promise.reject(new Error('bug in the tool'))));
  assert.equal(crashed?.code, 'PROGRAM');
  assert.match(crashed.message, /bug in the tool/);
  const reported: Scenario = {
    name: 'reported',
    build: (simulation) => ({
      processes: [
        { name: 'tool', run: (life) => life.effect('x', { apply: () => simulation.fail('FLUSHED', 'all') }) },
      ],
    }),
  };
  assert.equal((await failureOf(reported))?.code, 'FLUSHED');
});

test('a background process does not keep the run going; a world event can kill a process', async () => {
  const lives: number[] = [];
  const scenario: Scenario = {
    name: 'background',
    build(simulation) {
      lives.length = 0;
      const writer = async (life: Incarnation) => {
        lives.push(life.life);
        for (;;) await nap(life);
      };
      return {
        processes: [
          { name: 'writer', run: writer, background: true, faults: [], restartAfterMs: 5 },
          {
            name: 'tool',
            async run(life) {
              await life.effect('kill', { apply: () => simulation.crash('writer') });
              await life.ports.clock.sleep(100);
            },
          },
        ],
      };
    },
  };
  assert.equal(await failureOf(scenario), undefined);
  assert.deepEqual(lives, [1, 2]);
});

test('a real timer opened during the run is found', async (t) => {
  let opened: NodeJS.Timeout | undefined;
  t.after(() => clearTimeout(opened));
  const leaky = worldOf(async (life) => {
    await work(life);
    opened = setTimeout(() => undefined, 60_000);
  });
  const failure = await failureOf(leaky);
  assert.equal(failure?.code, 'LEAK');
  assert.match(failure.message, /Timeout/);
});

test('a program that waits for real time is named as such, not only as stuck', async (t) => {
  let timer: NodeJS.Timeout | undefined;
  t.after(() => clearTimeout(timer));
  const failure = await failureOf(
    worldOf(
      () =>
        new Promise((resolve) => {
          timer = setTimeout(resolve, 60_000);
        }),
    ),
  );
  assert.equal(failure?.code, 'LEAK');
});
