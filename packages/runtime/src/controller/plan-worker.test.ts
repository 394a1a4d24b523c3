import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Command, done, failed, type Handle, type Outcome, stale } from '../command/command.ts';
import { localExecutors } from '../command/executor.ts';
import { conditionOf } from '../conditions/conditions.ts';
import { rest, start, type Thing, things } from '../manager/manager-testing.ts';
import { known, valueOf } from '../plan/known.ts';
import { reached, refuse, waitFor } from '../plan/plan.ts';
import { type ControllerDescription, controller } from './controller.ts';
import type { PlanOptions } from './plan-worker.ts';

interface Resize extends Command {
  readonly type: 'Resize';
  readonly to: number;
}
const resize = (to: number): Resize => ({ type: 'Resize', to, why: `resize to ${to}` });

/** The real world: a number per key that commands change. */
function setUp(
  handle: (command: Resize, world: Map<string, number>, key: string, signal: AbortSignal) => Promise<Outcome | Handle>,
  options: Partial<PlanOptions<Thing, number, Resize>> = {},
  description: Partial<ControllerDescription<Thing, number, Resize>> = {},
) {
  const world = new Map<string, number>();
  const started: string[] = [];
  const it = start([
    controller<Thing, number, Resize>({
      name: 'things',
      kind: things,
      plan: {
        observe: async ({ key }) => known(world.get(key) ?? 0),
        plan: ({ spec }, observed) => {
          const size = valueOf(observed);
          if (size === undefined) return waitFor(0, { reason: 'Unknown', message: 'not read', subjects: [] });
          return size === spec?.size ? reached : { commands: [resize(spec?.size ?? 0)] };
        },
        types: ['Resize'],
        executors: localExecutors(
          [
            {
              type: 'Resize',
              run: (command: Resize, context: string, signal: AbortSignal) => {
                started.push(`${context} ${command.to}`);
                return handle(command, world, context, signal);
              },
            },
          ],
          ({ key }) => key,
        ),
        status: ({ observed }) => ({ size: valueOf(observed) ?? -1 }),
        ...options,
      },
      ...description,
    }),
  ]);
  const status = () => (it.api.object('things', 'ns/a') as Thing).status;
  const condition = (type: string) => {
    const one = conditionOf(status()?.conditions, type);
    return one && `${one.status} ${one.reason}${one.message ? `: ${one.message}` : ''}`;
  };
  return { ...it, world, started, status, condition };
}

const obey = async ({ to }: Resize, world: Map<string, number>, key: string): Promise<Outcome> => {
  world.set(key, to);
  return done;
};

test('observe, plan, execute, write the status: until the goal is reached, and then nothing', async () => {
  const it = setUp(obey);
  it.api.put('things', 'a', { size: 3 });
  await it.advance(2_000);
  assert.deepEqual(it.started, ['ns/a 3']);
  assert.equal(it.status()?.size, 3);
  assert.equal(it.condition('Ready'), 'True Reached');
  assert.equal(it.condition('Progressing'), 'False Reached');
  assert.equal(it.condition('Observed'), 'True Read');
  assert.equal(it.status()?.observedGeneration, 1);
  const writes = it.api.writes.length;
  await it.advance(300_000);
  assert.equal(it.api.writes.length, writes, 'nothing more to say');
  it.api.put('things', 'a', { size: 4 });
  await it.advance(2_000);
  assert.equal(it.status()?.observedGeneration, 2);
  assert.equal(it.status()?.size, 4);
  await it.end();
});

test('waiting is in the status, with what is waited for, and looked at again when the plan said', async () => {
  let isThere = false;
  const waiting = { reason: 'ReplicaSync', message: 'b syncs', subjects: ['b'] };
  const it = setUp(obey, {
    plan: (_object, _observed, now) => (isThere ? reached : waitFor(now + 5_000, waiting)),
  });
  it.api.put('things', 'a', { size: 1 });
  await it.advance(1_000);
  assert.deepEqual(it.status()?.waitingFor, [waiting]);
  assert.equal(it.condition('Ready'), 'False ReplicaSync: b syncs');
  isThere = true;
  await it.advance(3_000);
  assert.equal(it.condition('Ready'), 'False ReplicaSync: b syncs');
  await it.advance(1_500);
  assert.equal(it.condition('Ready'), 'True Reached');
  assert.deepEqual(it.status()?.waitingFor, []);
  await it.end();
});

test('a refusal is told and nothing is executed; what could not be observed is unknown', async () => {
  const it = setUp(obey, {
    observe: () => Promise.reject(new Error('no answer')),
    plan: (_object, observed) =>
      observed.known ? { commands: [resize(1)] } : refuse({ code: 'UNSEEN', message: 'not from here', subjects: [] }),
  });
  it.api.put('things', 'a', { size: 1 });
  await it.advance(1_000);
  assert.deepEqual(it.started, []);
  assert.equal(it.condition('Refused'), 'True PlanRefused: not from here (UNSEEN)');
  assert.equal(it.condition('Observed'), 'False Unknown: no answer');
  await it.end();
});

test('what failed or was stale stops the plan, is told, and comes back with backoff', async () => {
  const outcomes: Outcome[] = [failed('NO_ROOM', 'disk full'), stale('somebody else did'), done];
  const it = setUp(async (command, world, key) => {
    const outcome = outcomes.shift() ?? done;
    return outcome.status === 'done' ? obey(command, world, key) : outcome;
  });
  it.api.put('things', 'a', { size: 1 });
  await it.advance(1);
  assert.equal(it.condition('Ready'), 'False CommandFailed: resize to 1: disk full (NO_ROOM)');
  await it.advance(5_000);
  assert.equal(it.started.length, 3);
  assert.equal(it.condition('Ready'), 'True Reached');
  await it.end();
});

test('what was not done keeps what comes after it from being started', async () => {
  const it = setUp(async ({ to }) => (to === 1 ? failed('NO_ROOM', 'disk full') : done), {
    plan: () => ({ commands: [resize(1), resize(2)] }),
  });
  it.api.put('things', 'a', {});
  await it.advance(1);
  assert.deepEqual([...new Set(it.started)], ['ns/a 1']);
  await it.end();
});

test('a command without effect is repeated ever more slowly', async () => {
  const it = setUp(async () => done);
  it.api.put('things', 'a', { size: 1 });
  await it.advance(10_000);
  assert.ok(it.started.length >= 4 && it.started.length < 8, `${it.started.length}`);
  await it.end();
});

test('paused stops before the next command', async () => {
  const it = setUp(
    async (command, world, key) => {
      it.api.put('things', 'a', { size: 9, paused: true });
      await rest(); // the watch tells it while the command runs
      return obey(command, world, key);
    },
    { plan: () => ({ commands: [resize(1), resize(2)] }) },
    { cancelOn: false },
  );
  it.api.put('things', 'a', { size: 9 });
  await it.advance(5_000);
  assert.deepEqual(it.started, ['ns/a 1']);
  assert.equal(it.condition('Progressing'), 'False Paused: paused: nothing is executed');
  await it.end();
});

test('long work goes on between turns, is not started twice, and wakes the key when it ends', async () => {
  let finish: (outcome: Outcome) => void = () => undefined;
  const seen: number[] = [];
  const it = setUp(
    async () => ({
      progress: () => ({ done: 1, total: 2, unit: 'slots' }),
      settled: new Promise((resolve) => (finish = resolve)),
    }),
    {
      plan: ({ spec }, observed, _now, inFlight) => {
        seen.push(inFlight.length);
        return valueOf(observed) === spec?.size ? reached : { commands: [resize(spec?.size ?? 0)] };
      },
      patienceMs: 1_000,
    },
  );
  it.api.put('things', 'a', { size: 5 });
  await it.advance(3_500);
  assert.deepEqual(it.started, ['ns/a 5']);
  assert.equal(it.condition('Ready'), 'False Executing: resize to 5');
  assert.deepEqual([...new Set(seen.slice(1))], [1], 'the plan sees it');
  it.world.set('ns/a', 5);
  finish(done);
  await it.advance(100);
  assert.equal(it.condition('Ready'), 'True Reached');
  await it.end();
});

test('long work is aborted when its object goes, and when the manager ends', async () => {
  const aborted: string[] = [];
  const it = setUp(async (_command, _world, key, signal) => ({
    progress: () => undefined,
    settled: new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        aborted.push(`${key} ${(signal.reason as { reason: string }).reason}`);
        resolve(failed('CANCELLED', 'cancelled'));
      });
    }),
  }));
  it.api.put('things', 'a', { size: 1 });
  it.api.put('things', 'b', { size: 1 });
  await it.advance(1_000);
  it.api.delete('things', 'a');
  await it.advance(100);
  assert.deepEqual(aborted, ['ns/a deleted']);
  await it.end();
  assert.deepEqual(aborted, ['ns/a deleted', 'ns/b shutdown']);
});

test('with an observer: the plan sees what it saw, a change makes it look anew, and an old look does not count', async () => {
  let looks = 0;
  const observed: string[] = [];
  const it = setUp(
    obey,
    {
      observe: undefined as never,
      plan: ({ spec }, seen) => {
        observed.push(seen.known ? `${seen.value}` : 'unknown');
        if (!seen.known) return waitFor(0 + 2_000_000, { reason: 'Unobserved', message: 'not seen', subjects: [] });
        return seen.value === spec?.size ? reached : { commands: [resize(spec?.size ?? 0)] };
      },
    },
    {
      observe: {
        everyMs: 10_000,
        observe: async ({ metadata }) => {
          looks++;
          return it.world.get(`ns/${metadata.name}`) ?? 0;
        },
      },
    },
  );
  it.api.put('things', 'a', { size: 2 });
  await it.advance(1_000);
  assert.equal(it.world.get('ns/a'), 2);
  assert.equal(it.condition('Ready'), 'True Reached', 'it looked again at once');
  assert.ok(looks <= 3, `${looks}`);
  // The world changes by itself, and the observer brings it back to work.
  it.world.set('ns/a', 7);
  await it.advance(25_000);
  assert.equal(it.world.get('ns/a'), 2);
  assert.deepEqual(it.started, ['ns/a 2', 'ns/a 2']);
  await it.end();
});

test('with an observer: what was seen before the last change is unknown, also when it is seen no other way', async () => {
  const seen: string[] = [];
  let isSlow = false;
  const it = setUp(
    async (command, world, key) => {
      isSlow = true;
      return obey(command, world, key);
    },
    {
      observe: undefined as never,
      plan: ({ spec }, observed) => {
        seen.push(observed.known ? `${observed.value}` : 'unknown');
        if (!observed.known) return { commands: [], waitingFor: [{ reason: 'Unobserved', message: '', subjects: [] }] };
        return observed.value === spec?.size ? reached : { commands: [resize(spec?.size ?? 0)] };
      },
    },
    {
      observe: {
        everyMs: 60_000,
        observe: async ({ metadata }, signal) => {
          if (isSlow) await it.clock.sleep(3_000, signal);
          return it.world.get(`ns/${metadata.name}`) ?? 0;
        },
      },
    },
  );
  it.api.put('things', 'a', { size: 2 });
  await it.advance(1_000);
  assert.equal(it.world.get('ns/a'), 2);
  seen.length = 0;
  it.api.put('things', 'a', { size: 3 });
  await it.advance(500);
  assert.deepEqual(seen, ['unknown'], 'not 0, which is what it was before');
  await it.advance(10_000);
  assert.equal(it.world.get('ns/a'), 3);
  await it.end();
});

test('with an observer: a command without effect is repeated, ever more slowly, although nothing new is seen', async () => {
  const it = setUp(
    async () => done,
    { observe: undefined as never },
    { observe: { everyMs: 600_000, observe: async () => 0 } },
  );
  it.api.put('things', 'a', { size: 2 });
  await it.advance(60_000);
  assert.ok(it.started.length >= 4 && it.started.length < 10, `${it.started.length}`);
  await it.end();
});

test('how long work ended is told by the first turn that comes to its end, whatever the turns before it met', async () => {
  for (const trouble of ['the plan throws', 'the status is not written', 'superseded'] as const) {
    let finish: (outcome: Outcome) => void = () => undefined;
    let isTrouble = false;
    const told: string[] = [];
    const it = setUp(
      async (_command, _world, _key, signal) => {
        const ended = Promise.withResolvers<Outcome>();
        finish = ended.resolve;
        signal.addEventListener('abort', () => ended.resolve(failed('CANCELLED', 'cancelled')));
        return { progress: () => undefined, settled: ended.promise };
      },
      {
        observe: async ({ signal }) => {
          if (trouble !== 'superseded' || !isTrouble) return known(0);
          isTrouble = false;
          it.api.put('things', 'a', { size: 6 });
          await rest();
          assert.ok(signal.aborted);
          return known(0);
        },
        plan: (_object, _observed, _now, inFlight) => {
          if (isTrouble && trouble === 'the plan throws') {
            isTrouble = false;
            throw new Error('meant to');
          }
          return { commands: inFlight.length > 0 ? [] : [resize(5)] };
        },
        status: ({ outcomes }) => {
          told.push(...outcomes.map(({ outcome }) => outcome.status));
          return {};
        },
      },
    );
    it.api.put('things', 'a', { size: 5 });
    await it.advance(500);
    it.api.admit = (_request, what) => {
      if (trouble !== 'the status is not written' || !isTrouble || !what.endsWith('/status')) return;
      isTrouble = false;
      told.length = 0; // it was made up, and lost
      throw new Error('no answer');
    };
    isTrouble = true;
    finish(failed('NO_ROOM', 'disk full'));
    await it.advance(5_000);
    assert.equal(isTrouble, false, trouble);
    assert.deepEqual(told, ['failed'], trouble);
    assert.match(it.condition('Ready') ?? '', /disk full|Executing/, trouble);
    await it.end(/meant to|no answer/);
  }
});

test('long work whose handle throws has failed, and takes nothing else with it', async () => {
  let throwIt: (error: Error) => void = () => undefined;
  const told: string[] = [];
  const it = setUp(obey, {
    executors: {
      types: ['Resize'],
      of: () => ({
        start: async () => ({ progress: () => undefined, settled: new Promise((_, reject) => (throwIt = reject)) }),
      }),
    },
    status: ({ outcomes }) => {
      for (const { outcome } of outcomes) if (outcome.status === 'failed') told.push(outcome.message);
      return {};
    },
  });
  it.api.put('things', 'a', { size: 5 });
  await it.advance(500);
  throwIt(new Error('lost'));
  await it.advance(1);
  assert.deepEqual(told, ['lost']);
  it.stop.abort();
  throwIt(new Error('lost, too'));
  await it.end();
});

test('a type of command that has no handler, or two, is refused when the controller is taken in', () => {
  const handler = { type: 'Resize', run: async () => done };
  const taken = (types: readonly string[]) =>
    start([
      controller({
        name: 'things',
        kind: things,
        plan: { plan: () => reached, types, executors: localExecutors([handler], ({ key }: { key: string }) => key) },
      }),
    ]);
  assert.throws(() => taken(['Resize', 'Remove']), { code: 'HANDLER_MISSING', subjects: ['Remove'] });
  assert.throws(() => localExecutors([handler, handler], () => ''), { code: 'HANDLER_TWICE' });
});
