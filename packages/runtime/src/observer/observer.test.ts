import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { constantRandom, seededRandom, settled, VirtualClock } from '../ports/virtual-clock-testing.ts';
import { Changes, type Look } from './changes.ts';
import { Observer } from './observer.ts';
import { Observers } from './observers.ts';

/** No lock and no stamp: what the test is worth shows when these are used instead. */
class NoChanges extends Changes {
  override change<T>(_key: string, work: () => Promise<T>): Promise<T> {
    return work();
  }
  override isCurrent(): boolean {
    return true;
  }
  override async deliver(look: Look, deliver: () => Promise<void>): Promise<Look> {
    await deliver();
    return look;
  }
}

interface Delays {
  /** How long the worker takes to change the world and to write, the observer to look and to write. */
  readonly change: number;
  readonly status: number;
  readonly look: number;
  readonly write: number;
  readonly every: number;
}

/**
 * Seed 003's case. The spec is updated; the worker changes the world and then writes the status. The observer compares the world
 * with the status, and where they differ takes the world for the wish: it resets spec and status to what it saw.
 */
async function updates(changes: Changes, delays: Delays): Promise<{ readonly undone: number }> {
  const clock = new VirtualClock();
  const api = { spec: 0, status: 0 };
  let world = 0;
  let undone = 0;
  let wanted = 0;
  const observer = new Observer({ clock, random: seededRandom(7) }, changes, 'ns/a', {
    everyMs: delays.every,
    async observe() {
      const seen = world;
      await clock.sleep(delays.look); // the answer was true when it was given and is late
      return seen;
    },
    async update(_key, seen) {
      if (seen === api.status) return;
      await clock.sleep(delays.write);
      api.spec = seen;
      api.status = seen;
      if (seen !== wanted) undone++;
    },
  });
  observer.start();
  const reconcile = () =>
    changes.change('ns/a', async () => {
      const goal = api.spec;
      await clock.sleep(delays.change / 2);
      world = goal;
      await clock.sleep(delays.change / 2);
      await clock.sleep(delays.status);
      api.status = goal;
    });
  for (wanted = 1; wanted <= 6; wanted++) {
    api.spec = wanted;
    const run = reconcile();
    await clock.advance(delays.change + delays.status + delays.write + 1);
    await run;
    await clock.advance(delays.every / 3);
  }
  const stopped = observer[Symbol.asyncDispose]();
  await clock.advance(10_000);
  await stopped;
  return { undone };
}

const ms = (most: number) => fc.integer({ min: 1, max: most });
const anyDelays = fc.record({ change: ms(60), status: ms(60), look: ms(90), write: ms(20), every: ms(50) });

test('observer never undoes an update between the change of the world and the status write', async () => {
  await fc.assert(
    fc.asyncProperty(anyDelays, async (delays) => {
      const { undone } = await updates(new Changes(), delays);
      assert.equal(undone, 0);
    }),
    { numRuns: 60 },
  );
});

test('without lock and stamp the observer undoes updates: the test above can fail', async () => {
  const { failed } = await fc.check(
    fc.asyncProperty(anyDelays, async (delays) => {
      const { undone } = await updates(new NoChanges(), delays);
      assert.equal(undone, 0);
    }),
    { numRuns: 60 },
  );
  assert.equal(failed, true);
});

test('an observation that began before the last change is thrown away, also when the change has ended meanwhile', async () => {
  const changes = new Changes();
  const look = changes.look('ns/a');
  assert.equal(changes.isCurrent(look), true);
  await changes.change('ns/a', async () => undefined);
  assert.equal(changes.isCurrent(look), false);
  const during: Look[] = [];
  await changes.change('ns/a', async () => {
    during.push(changes.look('ns/a'));
  });
  assert.equal(changes.isCurrent(during[0] as Look), false, 'begun while it ran');
  assert.equal(changes.isCurrent(changes.look('ns/a')), true);
  assert.equal(changes.isCurrent(changes.look('ns/b')), true, 'other keys are not concerned');
  const old = changes.look('ns/b');
  changes.forget('ns/b');
  assert.equal(changes.isCurrent(old), false, 'a namesake is somebody else');
  assert.equal(await changes.deliver(old, async () => undefined), undefined);
});

test('changes of one key are alone, also after one that threw', async () => {
  const changes = new Changes();
  const order: string[] = [];
  const one = (name: string, fails = false) =>
    changes.change('ns/a', async () => {
      order.push(`${name} begins`);
      await settled();
      order.push(`${name} ends`);
      if (fails) throw new Error(name);
    });
  const results = await Promise.allSettled([one('first', true), one('second')]);
  assert.deepEqual(order, ['first begins', 'first ends', 'second begins', 'second ends']);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'fulfilled'],
  );
});

test('an observer polls with jitter, survives what throws or hangs, and leaves nothing behind', async () => {
  const clock = new VirtualClock(0);
  const looks: number[] = [];
  const failures: unknown[] = [];
  const reports: number[] = [];
  const observer = new Observer({ clock, random: seededRandom(3) }, new Changes(), 'ns/a', {
    everyMs: 1_000,
    timeoutMs: 5_000,
    observe: async () => {
      looks.push(clock.now());
      if (looks.length === 2) throw new Error('unreachable');
      if (looks.length === 3) await new Promise(() => undefined);
      return looks.length;
    },
    report: (_key, seen) => reports.push(seen),
    failed: (_key, error) => failures.push((error as { code?: string }).code ?? 'threw'),
  });
  observer.start();
  await clock.advance(12_000);
  assert.deepEqual(reports.slice(0, 2), [1, 4]);
  assert.deepEqual(failures, ['threw', 'OBSERVER_TIMEOUT']);
  const pauses = looks.slice(4).map((at, i) => at - (looks[i + 3] as number));
  assert.ok(pauses.every((pause) => pause >= 800 && pause <= 1_200) && new Set(pauses).size > 1, pauses.join());
  await observer[Symbol.asyncDispose]();
  assert.equal(clock.sleeping, 0);
});

test('observers are started and stopped with their resources, by uid', async () => {
  const clock = new VirtualClock(0);
  const seen: string[] = [];
  const observers = new Observers({ clock, random: constantRandom(0.5) }, new Changes(), {
    everyMs: 1_000,
    observe: async (key) => key,
    report: (key) => seen.push(key),
  });
  observers.follow({ change: 'added', key: 'ns/a', uid: '1' });
  observers.follow({ change: 'changed', key: 'ns/a', uid: '1' });
  observers.follow({ change: 'added', key: 'ns/b', uid: '2' });
  assert.equal(observers.size, 2);
  await clock.advance(100);
  assert.deepEqual(seen, ['ns/a', 'ns/b']);
  observers.follow({ change: 'removed', key: 'ns/a', uid: 'older' });
  assert.equal(observers.size, 2);
  observers.follow({ change: 'removed', key: 'ns/a', uid: '1' });
  observers.nudge('ns/b');
  await clock.advance(10);
  assert.deepEqual(seen, ['ns/a', 'ns/b', 'ns/b']);
  await observers[Symbol.asyncDispose]();
  assert.equal(clock.sleeping, 0);
});

test('what an observer saw counts also after its own update, and not after anybody else’s', async () => {
  const clock = new VirtualClock(0);
  const changes = new Changes();
  const looks: Look[] = [];
  const observer = new Observer({ clock, random: constantRandom(0.5) }, changes, 'ns/a', {
    everyMs: 1_000,
    observe: async () => 'seen',
    update: async () => undefined,
    report: (_key, _seen, look) => looks.push(look),
  });
  const early = changes.look('ns/a');
  assert.equal(await observer.once(), true);
  const [look] = looks;
  assert.ok(look && changes.isCurrent(look));
  assert.equal(changes.isCurrent(early), false, 'who looked before the update saw what it wrote over');
  await changes.change('ns/a', async () => undefined);
  assert.equal(changes.isCurrent(look), false);
});

test('an update that does not end gives its lock back with its time, is never joined by another, and is named at the end', async () => {
  const clock = new VirtualClock(0);
  const changes = new Changes();
  const failures: unknown[] = [];
  let updates = 0;
  const hanging = Promise.withResolvers<void>();
  const observers = new Observers({ clock, random: constantRandom(0.5) }, changes, {
    everyMs: 1_000,
    timeoutMs: 5_000,
    observe: async () => 'seen',
    update: () => {
      updates++;
      return hanging.promise;
    },
    failed: (_key, error) => failures.push((error as { code?: string }).code),
  });
  observers.follow({ change: 'added', key: 'ns/a', uid: '1' });
  await clock.advance(1_000);
  let isChanged = false;
  const changed = changes.change('ns/a', async () => {
    isChanged = true;
  });
  await settled();
  assert.equal(isChanged, false, 'one at a time');
  await clock.advance(5_000);
  await changed;
  await clock.advance(20_000);
  assert.equal(updates, 1);
  assert.ok(failures.length > 1 && failures.every((code) => code === 'OBSERVER_TIMEOUT'), failures.join());
  const patience = new AbortController();
  const stopping = observers.stop(patience.signal);
  await settled();
  patience.abort();
  assert.deepEqual(await stopping, ['ns/a']);
  hanging.resolve();
  await settled();
  assert.deepEqual(await observers.stop(new AbortController().signal), []);
  assert.equal(clock.sleeping, 0);
});
