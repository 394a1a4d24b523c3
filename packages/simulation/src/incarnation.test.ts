import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enumerateCrashes } from './campaign.ts';
import { oneAccident, seededChoices } from './choices.ts';
import type { Incarnation } from './incarnation.ts';
import { simulate } from './run.ts';
import type { Scenario } from './world.ts';

test('the finally block of a crashed life writes nothing, neither does anything it left behind', async () => {
  const writes: string[] = [];
  let zombie: Promise<unknown> | undefined;
  let zombieSettled = false;
  const scenario: Scenario = {
    name: 'finally',
    build: () => ({
      processes: [
        {
          name: 'tool',
          async run(life) {
            if (life.life === 2) return life.effect('rest', { apply: () => undefined });
            const write = (text: string) => life.effect('write', { apply: () => void writes.push(text) });
            const abort = new AbortController();
            const nap = life.ports.clock.sleep(60_000, abort.signal);
            try {
              await write('working');
              await life.effect('step', { apply: () => undefined });
            } finally {
              // Reached only if a port of a dead life answers.
              writes.push('finally reached');
              await write('cleanup');
            }
            await nap;
          },
        },
      ],
    }),
  };
  const result = await simulate(scenario, { source: oneAccident('crash-before', 2) });
  assert.equal(result.failure, undefined);
  assert.deepEqual(writes, ['working']);

  const calls: Scenario = {
    name: 'zombie',
    build: () => ({
      processes: [
        {
          name: 'tool',
          async run(life: Incarnation) {
            if (life.life > 1) return;
            // A continuation that does not hang on a port of its own life: the worst kind.
            zombie = Promise.resolve(life);
            await life.effect('die', { apply: () => undefined });
          },
        },
      ],
      atEnd() {},
    }),
  };
  await simulate(calls, { source: oneAccident('crash-after', 1) });
  const dead = (await zombie) as Incarnation;
  assert.equal(dead.alive, false);
  const settled = () => {
    zombieSettled = true;
  };
  dead.effect('write', { apply: () => writes.push('zombie') }).then(settled, settled);
  dead.ports.clock.sleep(1, AbortSignal.abort()).then(settled, settled);
  dead.ports.files.write('f', 'x').then(settled, settled);
  assert.equal(dead.ports.random.next(), 0);
  await simulate(calls, { choices: [] });
  assert.equal(zombieSettled, false);
  assert.deepEqual(writes, ['working']);
});

/** Sends three requests on one connection without waiting, then dies. */
function pipeline(arrived: number[]): Scenario {
  return {
    name: 'pipeline',
    build() {
      arrived.length = 0;
      return {
        processes: [
          {
            name: 'tool',
            async run(life) {
              if (life.life > 1) return;
              const send = (n: number) =>
                life.effect('send', { channel: 'c', latencyMs: 5, faults: [], apply: () => void arrived.push(n) });
              await Promise.all([send(1), send(2), send(3), life.effect('die', { apply: () => undefined })]);
            },
          },
        ],
      };
    },
  };
}

test('of what a dying process had sent, any first part of each connection may still arrive', async () => {
  const arrived: number[] = [];
  const seen = new Set<string>();
  for (let seed = 0; seed < 60; seed++) {
    const order = seededChoices(seed, { calm: true });
    const crash = oneAccident('crash-before', 1);
    const source = { ...order, strike: crash.strike };
    assert.equal((await simulate(pipeline(arrived), { source })).failure, undefined);
    seen.add(arrived.join(''));
  }
  assert.deepEqual([...seen].sort(), ['', '1', '12', '123']);
});

/** Writes a journal line, then does the work; after a crash it reads the journal and finishes. */
function journaled(records: boolean): Scenario {
  return {
    name: 'journaled',
    build(simulation) {
      let done = 0;
      return {
        processes: [
          {
            name: 'tool',
            async run(life) {
              const { files } = life.ports;
              const lines = ((await files.read('journal')) ?? '').split('\n').slice(0, -1);
              if (lines.includes('did')) return;
              const isDone = await life.effect('look', { apply: () => done > 0 });
              if (!isDone || !records) await life.effect('work', { apply: () => void done++ });
              await files.append('journal', 'did\n');
            },
          },
        ],
        atEnd() {
          assert.equal(done, 1);
          assert.match(simulation.disk('tool').get('journal') ?? '', /did\n$/);
        },
      };
    },
  };
}

test('a crash before and after every effect is enumerated, and finds the program that does not look first', async () => {
  const good = await enumerateCrashes(journaled(true));
  assert.deepEqual(good.failures, []);
  assert.equal(good.runs, 2 + 4 + 4);
  assert.equal(good.coverage.count('work', 'crash-after'), 1);
  const bad = await enumerateCrashes(journaled(false));
  assert.deepEqual(
    bad.failures.map((failure) => failure.origin),
    ['crash-before 4', 'crash-after 3'],
  );
});

test('a life that has returned is gone, but what it sent still arrives', async () => {
  let count = 0;
  const scenario: Scenario = {
    name: 'exit',
    build: () => ({
      processes: [
        {
          name: 'tool',
          async run(life) {
            life.effect('last words', { latencyMs: 10, apply: () => count++ }).catch(() => undefined);
            life.ports.clock.sleep(10).then(
              () => count++,
              () => undefined,
            );
          },
        },
        { name: 'other', run: (life) => life.ports.clock.sleep(100) },
      ],
    }),
  };
  await simulate(scenario, { choices: [] });
  assert.equal(count, 1);
});
