import assert from 'node:assert/strict';
import { test } from 'node:test';
import { done, type Executor, type Handle, isHandle, type Outcome } from '@reeve/runtime';
import { settled, VirtualClock } from '@reeve/runtime/testing';
import type { RedisCommand } from '../api/commands.ts';
import { CarefulExecutor, type CarefulOptions } from './careful-executor.ts';

const never = new AbortController().signal;
const at = { host: 'h', port: 1 };
const bump: RedisCommand = { type: 'bump-epoch', node: { id: 'a', endpoint: at }, epoch: 1, why: 'test' };
const migrate = { type: 'migrate-slots', source: { id: 'a', endpoint: at } } as unknown as RedisCommand;

function scene(options: Partial<CarefulOptions> = {}) {
  const clock = new VirtualClock();
  const told: string[] = [];
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const orders: Executor<RedisCommand> = {
    start: async ({ type }): Promise<Handle> => {
      told.push(type);
      return { progress: () => undefined, settled: promise };
    },
  };
  const sweep = async () => void told.push('sweep');
  const executor = new CarefulExecutor({ clock }, orders, { sweep, hasAgent: () => true, ...options });
  return { clock, told, executor, end: () => resolve(done) };
}

test('what was ordered before is taken back first, once; nothing is ordered meanwhile', async () => {
  const { promise: swept, resolve } = Promise.withResolvers<void>();
  let sweeps = 0;
  const { executor, told } = scene({
    sweep: () => {
      sweeps++;
      return swept;
    },
  });
  const both = [executor.start(migrate, never), executor.start(migrate, never)];
  await settled();
  assert.deepEqual([told, sweeps], [[], 1]);
  resolve();
  await Promise.all(both);
  await executor.start(migrate, never);
  assert.deepEqual([told.length, sweeps], [3, 1]);
});

test('a sweep that fails fails the command, and is tried again with the next', async () => {
  let sweeps = 0;
  const { executor, told } = scene({
    sweep: async () => {
      if (++sweeps === 1) throw new Error('no answer');
    },
  });
  assert.equal(((await executor.start(migrate, never)) as Outcome).status, 'failed');
  assert.deepEqual(told, []);
  await executor.start(migrate, never);
  assert.deepEqual([told, sweeps], [['migrate-slots'], 2]);
});

test('what no agent can carry out is done elsewhere, if there is somewhere', async () => {
  const elsewhere: string[] = [];
  const otherwise: Executor<RedisCommand> = {
    start: async ({ type }) => {
      elsewhere.push(type);
      return done;
    },
  };
  let hasAgent = false;
  const { executor, told } = scene({ otherwise, hasAgent: () => hasAgent });
  assert.deepEqual(await executor.start(bump, never), done);
  hasAgent = true;
  await executor.start(migrate, never);
  assert.deepEqual([elsewhere, told], [['bump-epoch'], ['sweep', 'migrate-slots']]);
});

test('short commands are waited for, long ones are handles', async () => {
  const { executor, end } = scene();
  assert.ok(isHandle(await executor.start(migrate, never)));
  let outcome: unknown;
  void executor.start(bump, never).then((one) => (outcome = one));
  await settled();
  assert.equal(outcome, undefined);
  end();
  await settled();
  assert.deepEqual(outcome, done);
});

test('after a start of the manager it takes a renewal until an agent is known to live: it is waited for, not for ever', async () => {
  let isProved = false;
  const { executor, clock, told } = scene({ hasAgent: () => isProved });
  void executor.start(migrate, never);
  await clock.advance(10_000);
  assert.deepEqual(told, ['sweep']);
  isProved = true;
  await clock.advance(1_000);
  assert.deepEqual(told, ['sweep', 'migrate-slots']);
  isProved = false;
  void executor.start(migrate, never);
  await clock.advance(16_000);
  assert.equal(told.length, 3, 'whoever gives the order says that there is no agent');
  const stop = new AbortController();
  const stopped = assert.rejects(executor.start(migrate, stop.signal), /enough/);
  await settled();
  stop.abort(new Error('enough'));
  await stopped;
});
