import assert from 'node:assert/strict';
import { test } from 'node:test';
import { constantRandom, settled, VirtualClock } from '../ports/virtual-clock-testing.ts';
import { type QueueOptions } from '../queue/options.ts';
import { WorkQueue } from '../queue/queue.ts';
import { requeueAfter, wakeAt } from '../queue/verdict.ts';
import type { Cancelled, CancelReason } from './cancelled.ts';
import { type Work, type WorkerOptions, Workers } from './workers.ts';

function setUp(
  options: Partial<WorkerOptions> & Pick<WorkerOptions, 'reconcile'>,
  queueOptions: Partial<QueueOptions> = {},
) {
  const clock = new VirtualClock();
  const queue = new WorkQueue({ clock, random: constantRandom(0) }, { name: 'test', ...queueOptions });
  const told: string[] = [];
  const workers = new Workers(
    { clock },
    {
      queues: [queue],
      failed: (key, error) => told.push(`failed ${key} ${(error as Error).message}`),
      cancelled: (key, reason) => told.push(`cancelled ${key} ${reason}`),
      stuck: (key) => told.push(`stuck ${key}`),
      ...options,
    },
  );
  workers.start();
  return { clock, queue, workers, told };
}

/** Ends when it is cancelled, by throwing the reason. */
function untilCancelled({ signal }: Work): Promise<undefined> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

test('a key is worked on, and what reconcile returns decides when it comes back', async () => {
  const runs: string[] = [];
  const { clock, queue, workers } = setUp({
    reconcile: async ({ key }) => {
      runs.push(`${key} ${clock.now() - 1_000_000}`);
      if (runs.length === 1) return requeueAfter(500);
      return runs.length === 2 ? wakeAt(1_002_000) : undefined;
    },
  });
  queue.add('ns/a');
  await clock.advance(10_000);
  assert.deepEqual(runs, ['ns/a 0', 'ns/a 500', 'ns/a 2000']);
  await workers.stop();
  assert.equal(clock.sleeping, 0);
});

test('throwing means backoff, also when it throws before it awaits', async () => {
  const runs: number[] = [];
  const { clock, queue, told } = setUp({
    reconcile: () => {
      runs.push(clock.now() - 1_000_000);
      if (runs.length < 4) throw new Error('no');
      return Promise.resolve(undefined);
    },
  });
  queue.add('ns/a');
  await clock.advance(1_000);
  assert.deepEqual(runs, [0, 5, 15, 35]);
  assert.equal(told.filter((line) => line === 'failed ns/a no').length, 3);
});

test('cancellation: each reason reaches the signal, and the key always comes back', async () => {
  const reasons: CancelReason[] = ['superseded', 'deleted', 'lost-lease', 'timeout'];
  for (const reason of reasons) {
    let runs = 0;
    const seen: string[] = [];
    const { clock, queue, workers, told } = setUp({
      timeoutMs: 1_000,
      reconcile: async (work) => {
        if (++runs > 1) return undefined;
        await untilCancelled(work).catch((why: Cancelled) => seen.push(why.reason));
        return undefined; // as if all were well: kustomize-controller#1625
      },
    });
    queue.add('ns/a');
    await settled();
    if (reason === 'timeout') await clock.advance(1_000);
    else assert.equal(workers.cancel('ns/a', reason), true);
    await clock.advance(100);
    assert.deepEqual(seen, [reason]);
    assert.deepEqual(told, [`cancelled ns/a ${reason}`]);
    assert.equal(runs, 2, reason);
    assert.equal(workers.cancel('ns/a', reason), false, 'nothing runs');
  }
});

test('shutdown: no more keys, signals aborted, what runs is waited for, what does not end is named', async () => {
  const { clock, queue, workers, told } = setUp({
    concurrency: 2,
    reconcile: async (work) => {
      if (work.key === 'ns/deaf') return new Promise(() => undefined);
      return untilCancelled(work);
    },
  });
  for (const key of ['ns/a', 'ns/deaf', 'ns/never']) queue.add(key);
  await settled();
  const patience = new AbortController();
  const stopped = workers.stop('shutdown', patience.signal);
  await settled();
  assert.deepEqual(told, ['cancelled ns/a shutdown']);
  patience.abort();
  assert.deepEqual(await stopped, ['ns/deaf']);
  await clock.advance(1_000);
  assert.equal(queue.stats().depth.default, 2, 'ns/never and the cancelled ns/a are for the next one');
});

test('a reconcile that never returns keeps its key and loses its place', async () => {
  const runs: string[] = [];
  const { clock, queue, told } = setUp({
    timeoutMs: 1_000,
    graceMs: 500,
    reconcile: ({ key }) => {
      runs.push(key);
      return key === 'ns/deaf' ? new Promise(() => undefined) : Promise.resolve(undefined);
    },
  });
  queue.add('ns/deaf');
  queue.add('ns/b');
  await clock.advance(1_499);
  assert.deepEqual(runs, ['ns/deaf']);
  await clock.advance(1);
  assert.deepEqual(runs, ['ns/deaf', 'ns/b']);
  assert.deepEqual(told, ['stuck ns/deaf']);
  queue.add('ns/deaf');
  await clock.advance(60_000);
  assert.deepEqual(runs, ['ns/deaf', 'ns/b'], 'never two workers on one key');
});

test('two types of worker on one queue, one type on two queues, and a worker that adds to a queue', async () => {
  const runs: string[] = [];
  const work = (name: string) => ({
    reconcile: async ({ key, queue }: Work) => {
      runs.push(`${name} ${key}`);
      if (key === 'ns/first') queue.add('ns/second!');
      return undefined;
    },
  });
  const { clock, queue } = setUp(
    { ...work('maker'), route: 'make' },
    { routes: ['make', 'break'], routeOf: (key) => (key.endsWith('!') ? 'break' : 'make') },
  );
  const other = new WorkQueue(
    { clock, random: constantRandom(0) },
    { name: 'other', routes: ['break'], routeOf: () => 'break' },
  );
  const breakers = new Workers({ clock }, { queues: [queue, other], route: 'break', ...work('breaker') });
  breakers.start();
  queue.add('ns/first');
  other.add('ns/third');
  await settled();
  assert.deepEqual(runs.sort(), ['breaker ns/second!', 'breaker ns/third', 'maker ns/first']);
  await breakers.stop();
});

test('queues of one worker take turns', async () => {
  const runs: string[] = [];
  const clock = new VirtualClock();
  const [busy, quiet] = ['busy', 'quiet'].map(
    (name) => new WorkQueue({ clock, random: constantRandom(0) }, { name }),
  ) as [WorkQueue, WorkQueue];
  for (let i = 0; i < 5; i++) busy.add(`ns/busy${i}`);
  quiet.add('ns/quiet');
  const reconcile = async ({ key }: Work) => {
    runs.push(key);
    return undefined;
  };
  const workers = new Workers({ clock }, { queues: [busy, quiet], reconcile });
  workers.start();
  await settled();
  assert.ok(runs.indexOf('ns/quiet') <= 1, runs.join());
  await workers.stop();
});
