import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settled, VirtualClock } from '../ports/virtual-clock-testing.ts';
import { type Command, done, failed, type Outcome } from './command.ts';
import type { Executor } from './executor.ts';
import { Flights } from './flights.ts';

const command = (type: string): Command => ({ type, why: 'test' });

/** Runs long work that ends when told, or when it is aborted. */
function slowly(clock: VirtualClock) {
  const running = new Map<string, (outcome: Outcome) => void>();
  const executor: Executor = {
    async start({ type }, signal) {
      if (type === 'short') return done;
      if (type === 'broken') throw new Error('no');
      const { promise, resolve } = Promise.withResolvers<Outcome>();
      assert.ok(!running.has(type), `${type} is started once`);
      running.set(type, resolve);
      signal.addEventListener('abort', () => {
        void clock.sleep(100).then(() => resolve(failed('STOPPED', (signal.reason as Error).message)));
      });
      return { progress: () => ({ done: 1, total: 2, unit: 'x' }), settled: promise };
    },
  };
  return { running, executor };
}

test('commands are started once, polled, and collected once', async () => {
  const clock = new VirtualClock();
  const { running, executor } = slowly(clock);
  let news = 0;
  const flights = new Flights({ clock }, () => news++);
  for (const name of ['a', 'a', 'b']) flights.start(name, command(name), executor);
  flights.start('short', command('short'), executor);
  flights.start('broken', command('broken'), executor);
  await settled();
  assert.deepEqual(
    flights.inFlight().map(({ name, progress }) => [name, progress?.done]),
    [
      ['a', 1],
      ['b', 1],
    ],
  );
  running.get('a')?.(done);
  await settled();
  assert.equal(news, 3);
  assert.deepEqual(
    flights.collect().map(({ name, outcome }) => [name, outcome.status]),
    [
      ['a', 'done'],
      ['short', 'done'],
      ['broken', 'failed'],
    ],
  );
  assert.deepEqual(flights.collect(), []);
  assert.equal(flights.has('a'), false);
  assert.equal(flights.has('b'), true);
});

test('what is left when they are disposed is aborted with the reason and waited for', async () => {
  const clock = new VirtualClock();
  const { executor } = slowly(clock);
  const flights = new Flights({ clock });
  flights.start('a', command('a'), executor);
  await settled();
  flights.abort(new Error('enough'));
  let isOver = false;
  const over = flights[Symbol.asyncDispose]().then(() => {
    isOver = true;
  });
  await settled();
  assert.equal(isOver, false);
  await clock.advance(100);
  await over;
  flights.start('late', command('short'), executor);
  await settled();
  assert.deepEqual(
    flights.collect().map(({ outcome }) => outcome),
    [failed('STOPPED', 'enough')],
  );
});
