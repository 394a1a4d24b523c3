/** Random histories of a queue against a model that any reader can check by eye. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { seededRandom, VirtualClock } from '../ports/virtual-clock-testing.ts';
import { WorkQueue } from './queue.ts';
import { again, finished, requeueAfter, retry, type Verdict } from './verdict.ts';

const keys = ['a/1', 'a/2', 'a/3', 'b/1', 'b/2', 'c/1'] as const;
const key = fc.constantFrom(...keys);
const verdict = fc.constantFrom<Verdict>(finished, again, retry, requeueAfter(7), requeueAfter(50));

const action = fc.oneof(
  fc.record({ do: fc.constant('add' as const), key, lane: fc.constantFrom('urgent', 'normal') }),
  fc.record({ do: fc.constant('later' as const), key, ms: fc.integer({ min: 1, max: 60 }) }),
  fc.record({ do: fc.constant('take' as const), route: fc.constantFrom(undefined, 'x', 'y') }),
  fc.record({ do: fc.constant('done' as const), which: fc.nat(5), verdict }),
  fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 40 }) }),
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/**
 * What is owed to a key: a run after each add; a run at the earliest time that somebody asked for; a run at the time
 * that its last run asked for, which the next run makes void.
 */
class Model {
  readonly added = new Set<string>();
  readonly asked = new Map<string, number>();
  readonly own = new Map<string, number>();
  readonly running = new Set<string>();

  ask(name: string, time: number): void {
    this.asked.set(name, Math.min(time, this.asked.get(name) ?? time));
  }

  start(name: string, now: number): void {
    assert.ok(!this.running.has(name), `${name} is with two workers`);
    this.running.add(name);
    this.tick(now);
    assert.ok(this.added.delete(name), `${name} runs though nobody asked for it by now`);
    this.own.delete(name);
  }

  /** What is due is as good as added now. */
  tick(now: number): void {
    for (const times of [this.asked, this.own]) {
      for (const [name, time] of times) {
        if (time > now) continue;
        times.delete(name);
        this.added.add(name);
      }
    }
  }

  /** Keys that were never run though they had to. */
  get owed(): readonly string[] {
    return [...this.added, ...this.asked.keys(), ...this.own.keys()];
  }
}

async function play(actions: readonly Action[], seed: number): Promise<void> {
  const clock = new VirtualClock();
  const queue = new WorkQueue(
    { clock, random: seededRandom(seed) },
    {
      name: 'model',
      lanes: [
        { name: 'urgent', weight: 3 },
        { name: 'normal', weight: 1 },
      ],
      routes: ['x', 'y'],
      routeOf: (name) => (name.endsWith('1') ? 'x' : 'y'),
    },
  );
  const model = new Model();
  const give = (name: string, said: Verdict) => {
    model.running.delete(name);
    queue.done(name, said);
    const now = clock.now();
    if (said.next === 'again') model.added.add(name);
    if (said.next === 'after') model.own.set(name, now + said.ms);
    if (said.next === 'retry') model.own.set(name, now);
  };
  const take = (route: string | undefined): string | undefined => {
    const name = queue.takeNow(route);
    if (name !== undefined) model.start(name, clock.now());
    return name;
  };
  for (const one of actions) {
    if (one.do === 'add') {
      queue.add(one.key, { lane: one.lane });
      model.added.add(one.key);
    } else if (one.do === 'later') {
      queue.addAfter(one.key, one.ms);
      model.ask(one.key, clock.now() + one.ms);
    } else if (one.do === 'take') {
      const name = take(one.route);
      if (name !== undefined && one.route !== undefined) assert.equal(name.endsWith('1') ? 'x' : 'y', one.route);
    } else if (one.do === 'done') {
      const name = [...model.running][one.which];
      if (name !== undefined) give(name, one.verdict);
    } else {
      await clock.advance(one.ms);
      model.tick(clock.now());
    }
  }
  // From now on everything succeeds: whatever was owed must be paid, whoever waits must be served.
  for (const name of model.running) give(name, finished);
  for (let turn = 0; turn < 40; turn++) {
    for (let name = take(undefined); name !== undefined; name = take(undefined)) give(name, finished);
    await clock.advance(10_000);
  }
  assert.deepEqual(model.owed, [], 'keys were lost');
  assert.equal(clock.sleeping, 0);
  assert.equal(queue.stats().delayed, 0);
}

test('no key is lost, none is with two workers, each add is followed by a run, whatever the history', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 60, size: 'max' }), fc.nat(), (actions, seed) =>
      play(actions, seed),
    ),
    { numRuns: 60 },
  );
});

test('no starvation: in any flood a key is taken within a bound that its weights give', () => {
  const flood = fc.array(fc.tuple(fc.constantFrom('urgent', 'normal'), fc.integer({ min: 0, max: 4 })), {
    minLength: 300,
    maxLength: 300,
  });
  fc.assert(
    fc.property(flood, fc.constantFrom('urgent', 'normal'), (adds, lane) => {
      const queue = new WorkQueue(
        { clock: new VirtualClock(), random: seededRandom(1) },
        {
          name: 'flood',
          lanes: [
            { name: 'urgent', weight: 3 },
            { name: 'normal', weight: 1 },
          ],
        },
      );
      let added = 0;
      for (let i = 0; i < 50; i++) queue.add(`g${i % 5}/${added++}`, { lane: i % 2 ? 'urgent' : 'normal' });
      queue.add('quiet/one', { lane });
      let turns = 0;
      for (const [to, group] of adds) {
        queue.add(`g${group}/${added++}`, { lane: to });
        queue.add(`g${group}/${added++}`, { lane: to });
        turns++;
        const name = queue.takeNow() as string;
        queue.done(name, finished);
        if (name === 'quiet/one') break;
      }
      // Five other groups before it in its lane, and its lane gets at least one turn in four.
      assert.ok(turns <= 6 * 4, `${turns} turns`);
    }),
    { numRuns: 50 },
  );
});
