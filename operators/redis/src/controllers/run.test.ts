import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Clock,
  done,
  type Executor,
  failed,
  type Handle,
  type Outcome,
  type Plan,
  ReeveError,
  stale,
  systemClock,
} from '@reeve/runtime';
import type { BumpEpoch, RedisCommand } from '../api/commands.ts';
import type { Operation } from '../api/operation.ts';
import type { RedisPort } from '../api/port.ts';
import type { Environment, RunEvent } from './environment.ts';
import { type Approval, goalDigest, runOperation } from './run.ts';

/** A port to servers that are not there: these tests are about the loop, not about what it sees. */
const nobody: RedisPort = {
  call: async (endpoint) => {
    throw new ReeveError('REDIS_UNREACHABLE', `nobody at ${endpoint.host}`);
  },
  reads: async () => [],
  transaction: async () => [],
  migrateAuth: () => [],
  close: async () => undefined,
};

/** A clock whose sleeps take no real time. */
function quickClock(): Clock {
  let now = 0;
  return {
    now: () => now,
    sleep: async (ms, signal) => {
      await new Promise((resolve) => setImmediate(resolve));
      if (signal?.aborted) throw signal.reason;
      now += ms;
    },
  };
}

const bump = (name: string): BumpEpoch => ({
  type: 'bump-epoch',
  why: 'test',
  node: { id: name, endpoint: { host: '127.0.0.1', port: 1 } },
  epoch: 1,
});

interface Goal {
  readonly wanted: readonly string[];
}

/** An operation that wants each name bumped once; `world` is what has been done. */
function bumping(world: Set<string>, plan?: (goal: Goal) => Plan<RedisCommand> | undefined): Operation<Goal, Goal> {
  return {
    kind: 'bumping',
    needs: () => ({}),
    goalNeeds: () => ({}),
    decide: (request) => ({
      goal: request,
      steps: [],
      reasons: [],
      nothingToDo: request.wanted.every((name) => world.has(name)),
    }),
    plan: (goal, _view, _now, inFlight) => {
      const special = plan?.(goal);
      if (special) return special;
      const running = new Set(inFlight.map(({ command }) => (command as BumpEpoch).node.id));
      const open = goal.wanted.filter((name) => !world.has(name));
      const commands = open.filter((name) => !running.has(name)).map(bump);
      return commands.length === 0 && open.length > 0
        ? { commands, waitingFor: [{ reason: 'Running', message: 'work runs', subjects: open }] }
        : { commands };
    },
  };
}

function environmentWith(
  run: (command: BumpEpoch, signal: AbortSignal) => Promise<Outcome | Handle>,
  more: Partial<Environment> = {},
): Environment {
  const executor: Executor<RedisCommand> = { start: (command, signal) => run(command as BumpEpoch, signal) };
  return {
    redis: nobody,
    ports: {
      clock: quickClock(),
      random: { next: () => 0.5 },
      ids: { next: (prefix) => prefix },
      files: {
        read: async () => undefined,
        write: async () => undefined,
        append: async () => undefined,
        remove: async () => undefined,
      },
    },
    executor,
    seeds: [{ host: '127.0.0.1', port: 1 }],
    signal: new AbortController().signal,
    ...more,
  };
}

const yes: Approval<Goal> = { approve: async ({ digest }) => digest, begin: async () => undefined };

test('an operation runs its commands until the goal holds', async () => {
  const world = new Set<string>();
  const environment = environmentWith(async (command) => {
    world.add(command.node.id);
    return done;
  });
  const result = await runOperation(bumping(world), { wanted: ['a', 'b'] }, environment, yes);
  assert.equal(result.status, 'reached');
  assert.deepEqual([...world], ['a', 'b']);
});

test('nothing is run when there is nothing to do, or when the plan is declined', async () => {
  const environment = environmentWith(async () => assert.fail('nothing may be run'));
  assert.equal(
    (await runOperation(bumping(new Set(['a'])), { wanted: ['a'] }, environment, yes)).status,
    'nothing-to-do',
  );
  const no: Approval<Goal> = { ...yes, approve: async () => undefined };
  assert.equal((await runOperation(bumping(new Set()), { wanted: ['a'] }, environment, no)).status, 'declined');
});

test('a plan that went stale between approval and run is refused and nothing is changed', async () => {
  const environment = environmentWith(async () => assert.fail('nothing may be run'));
  const late: Approval<Goal> = { ...yes, approve: async () => 'v1-of-yesterday' };
  const result = await runOperation(bumping(new Set()), { wanted: ['a'] }, environment, late);
  assert.equal(result.status, 'refused');
  assert.deepEqual(result.status === 'refused' && result.refused.map(({ code }) => code), ['PLAN_STALE']);
});

test('with any plan approved beforehand, a plan that changes by itself every moment is run as it was found', async () => {
  const world = new Set<string>();
  const environment = environmentWith(async (command) => {
    world.add(command.node.id);
    return done;
  });
  let moment = 0;
  const restless: Operation<Goal, Goal> = {
    ...bumping(world),
    decide: ({ wanted }) => ({ goal: { wanted: [...wanted, `measured-${moment++}`] }, steps: [], reasons: [] }),
  };
  const asked = await runOperation(restless, { wanted: ['a'] }, environment, yes);
  assert.deepEqual(asked.status === 'refused' && asked.refused.map(({ code }) => code), ['PLAN_STALE']);
  const result = await runOperation(restless, { wanted: ['a'] }, environment, { ...yes, anyPlan: true });
  assert.equal(result.status, 'reached');
  assert.deepEqual([...world], ['a', 'measured-2']);
});

test('the first turn goes by the view of the decision, unless that is old or says too little', async () => {
  const looksBeforeTheFirstCommand = async (begin: Approval<Goal>['begin'], goalNeeds = {}, clock = quickClock()) => {
    const world = new Set<string>();
    let looks = 0;
    let before = 0;
    const environment = environmentWith(
      async (command) => {
        before ||= looks;
        world.add(command.node.id);
        return done;
      },
      { report: ({ event }) => void (looks += event === 'observed' ? 1 : 0) },
    );
    const timed = { ...environment, ports: { ...environment.ports, clock } };
    const operation = { ...bumping(world), goalNeeds: () => goalNeeds };
    const result = await runOperation(operation, { wanted: ['a'] }, timed, { ...yes, anyPlan: true, begin });
    assert.equal(result.status, 'reached');
    return before;
  };
  assert.equal(await looksBeforeTheFirstCommand(yes.begin), 1);
  assert.equal(await looksBeforeTheFirstCommand(yes.begin, { keysBeyondSlots: true }), 2);
  const clock = quickClock();
  const slowly: Approval<Goal>['begin'] = async () => {
    await clock.sleep(1_001);
    return undefined;
  };
  assert.equal(await looksBeforeTheFirstCommand(slowly, {}, clock), 2);
});

test('a failing command is tried again with pauses, a bounded number of times', async () => {
  let tries = 0;
  const environment = environmentWith(async () => {
    tries++;
    return failed('BROKEN', 'does not work');
  });
  const result = await runOperation(bumping(new Set()), { wanted: ['a'] }, environment, yes);
  assert.equal(tries, 5);
  assert.deepEqual(result.status === 'stopped' && [result.code, result.message], [
    'BROKEN',
    'bump-epoch failed 5 times: does not work',
  ]);
});

test('a stale command is planned anew and costs nothing', async () => {
  const world = new Set<string>();
  let tries = 0;
  const environment = environmentWith(async (command) => {
    if (++tries < 10) return stale('somebody else is at work');
    world.add(command.node.id);
    return done;
  });
  assert.equal((await runOperation(bumping(world), { wanted: ['a'] }, environment, yes)).status, 'reached');
});

test('a command that is always stale ends the run', async () => {
  const environment = environmentWith(async () => stale('never the same'));
  const result = await runOperation(bumping(new Set()), { wanted: ['a'] }, environment, yes);
  assert.equal(result.status === 'stopped' && result.code, 'ALWAYS_STALE');
});

test('a command that is done again and again without effect ends the run', async () => {
  const environment = environmentWith(async () => done);
  const result = await runOperation(bumping(new Set()), { wanted: ['a'] }, environment, yes);
  assert.equal(result.status === 'stopped' && result.code, 'NO_EFFECT');
});

test('a wait has a limit and says what was waited for', async () => {
  const environment = environmentWith(async () => done, { waitLimitMs: 10_000 });
  const waiting = bumping(new Set(), () => ({
    commands: [],
    waitingFor: [{ reason: 'Sync', message: 'b syncs', subjects: ['b'] }],
  }));
  const result = await runOperation(waiting, { wanted: ['a'] }, environment, yes);
  assert.equal(result.status === 'stopped' && result.code, 'WAIT_LIMIT');
  assert.match(result.status === 'stopped' ? result.message : '', /b syncs/);
});

test('long work runs on behind its handle, shows progress, and is not started twice', async () => {
  const world = new Set<string>();
  const events: RunEvent[] = [];
  let starts = 0;
  const environment: Environment = environmentWith(
    async (command) => {
      starts++;
      const settled = (async (): Promise<Outcome> => {
        await environment.ports.clock.sleep(5000);
        world.add(command.node.id);
        return done;
      })();
      return { progress: () => ({ done: 1, total: 2, unit: 'slots' }), settled };
    },
    { report: (event) => events.push(event) },
  );
  assert.equal((await runOperation(bumping(world), { wanted: ['a'] }, environment, yes)).status, 'reached');
  assert.equal(starts, 1);
  assert.ok(events.some((event) => event.event === 'progress'));
});

test('when all that is left to do runs, the end of one is no reason to look; of the last it is', async () => {
  const looks = async (complete: boolean) => {
    const world = new Set<string>();
    let count = 0;
    // Nobody is woken but by an end.
    const clock: Clock = {
      now: () => 0,
      sleep: (_ms, signal) =>
        new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error))),
    };
    const turns = async (count: number): Promise<void> => {
      for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
    };
    const environment = environmentWith(
      async (command) => {
        const name = command.node.id;
        const settled = turns(name === 'quick' ? 5 : 50).then((): Outcome => {
          world.add(name);
          return done;
        });
        return { progress: () => undefined, settled };
      },
      { report: ({ event }) => void (count += event === 'observed' ? 1 : 0) },
    );
    const operation = bumping(world);
    const plan: typeof operation.plan = (...args) => ({ ...operation.plan(...args), complete });
    const timed = { ...environment, ports: { ...environment.ports, clock } };
    const result = await runOperation({ ...operation, plan }, { wanted: ['quick', 'slow'] }, timed, {
      ...yes,
      anyPlan: true,
    });
    assert.equal(result.status, 'reached');
    return count;
  };
  assert.equal(await looks(false), 3);
  assert.equal(await looks(true), 2);
});

test('an interrupt aborts the running work and waits for its end', async () => {
  const stop = new AbortController();
  let ended = false;
  const environment: Environment = environmentWith(
    async (_command, signal) => ({
      progress: () => undefined,
      settled: (async (): Promise<Outcome> => {
        setImmediate(() => stop.abort(new Error('Ctrl-C')));
        await systemClock.sleep(60_000, signal).catch(() => undefined);
        await new Promise((resolve) => setImmediate(resolve));
        ended = true;
        return failed('INTERRUPTED', 'stopped');
      })(),
    }),
    { signal: stop.signal },
  );
  assert.deepEqual(await runOperation(bumping(new Set()), { wanted: ['a'] }, environment, yes), {
    status: 'interrupted',
  });
  assert.equal(ended, true);
});

test('the digest of a goal does not depend on when it was set', () => {
  assert.equal(
    goalDigest('create', { startedAt: 1, members: [] }),
    goalDigest('create', { startedAt: 2, members: [] }),
  );
  assert.notEqual(goalDigest('create', { members: [] }), goalDigest('create', { members: [1] }));
  assert.notEqual(goalDigest('create', {}), goalDigest('fix', {}));
});
