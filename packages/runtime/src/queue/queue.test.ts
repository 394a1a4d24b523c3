import assert from 'node:assert/strict';
import { test } from 'node:test';
import { constantRandom, settled, VirtualClock } from '../ports/virtual-clock-testing.ts';
import type { QueueOptions } from './options.ts';
import { takeFrom, WorkQueue } from './queue.ts';
import { again, finished, requeueAfter, retry, wakeAt } from './verdict.ts';

function setUp(options: Partial<QueueOptions> = {}) {
  const clock = new VirtualClock();
  const queue = new WorkQueue({ clock, random: constantRandom(0) }, { name: 'test', ...options });
  return { clock, queue };
}

/** Takes and finishes everything that is ready. */
function drainNow(queue: WorkQueue, route?: string): string[] {
  const keys: string[] = [];
  for (let key = queue.takeNow(route); key !== undefined; key = queue.takeNow(route)) {
    keys.push(key);
    queue.done(key, finished);
  }
  return keys;
}

test('a key is in the queue once, however often it was added', () => {
  const { queue } = setUp();
  for (const key of ['ns/a', 'ns/b', 'ns/a']) queue.add(key);
  assert.deepEqual(drainNow(queue), ['ns/a', 'ns/b']);
});

test('a key that a worker has is given to no other, and runs once more if it was added meanwhile', () => {
  const { queue } = setUp();
  queue.add('ns/a');
  assert.equal(queue.takeNow(), 'ns/a');
  queue.add('ns/a');
  queue.add('ns/a');
  assert.equal(queue.isDirty('ns/a'), true);
  assert.equal(queue.takeNow(), undefined);
  queue.done('ns/a', finished);
  assert.deepEqual(drainNow(queue), ['ns/a']);
});

test('done by somebody who does not have the key is refused', () => {
  const { queue } = setUp();
  queue.add('ns/a');
  assert.throws(() => queue.done('ns/a', finished), { code: 'QUEUE_NOT_TAKEN' });
});

test('of several times to wake the earlier wins, and what others asked for outlives a run', async () => {
  const { clock, queue } = setUp();
  queue.addAfter('ns/a', 10_000);
  queue.addAfter('ns/a', 3_000);
  queue.addAfter('ns/a', 20_000);
  await clock.advance(2_999);
  assert.equal(queue.takeNow(), undefined);
  await clock.advance(1);
  assert.deepEqual(drainNow(queue), ['ns/a']);
  queue.addAfter('ns/a', 5_000);
  queue.add('ns/a');
  assert.deepEqual(drainNow(queue), ['ns/a']);
  await clock.advance(5_000);
  assert.deepEqual(drainNow(queue), ['ns/a']);
  assert.equal(clock.sleeping, 0);
});

test('what a run asked for is replaced by the next run', async () => {
  const { clock, queue } = setUp();
  queue.add('ns/a');
  queue.done(queue.takeNow() as string, requeueAfter(60_000));
  queue.add('ns/a');
  queue.done(queue.takeNow() as string, wakeAt(clock.now() + 90_000));
  await clock.advance(60_000);
  assert.equal(queue.takeNow(), undefined);
  await clock.advance(30_000);
  assert.deepEqual(drainNow(queue), ['ns/a']);
  await clock.advance(3_600_000);
  assert.equal(queue.takeNow(), undefined);
});

test('a time that is no number wakes at once instead of never', async () => {
  const { clock, queue } = setUp();
  queue.add('ns/a');
  queue.done(queue.takeNow() as string, requeueAfter(Number.NaN));
  await clock.advance(1);
  assert.deepEqual(drainNow(queue), ['ns/a']);
});

test('hot loop: a failing key waits 5 ms, twice as long each time, 1000 s at most, and starts afresh after a success', async () => {
  const waits: number[] = [];
  const { clock, queue } = setUp({ metrics: { retried: (_key, _failures, ms) => waits.push(ms) } });
  queue.add('ns/a');
  for (let i = 0; i < 22; i++) {
    queue.done(queue.takeNow() as string, retry);
    await clock.advance((waits.at(-1) as number) - 1);
    assert.equal(queue.takeNow(), undefined);
    await clock.advance(1);
  }
  assert.deepEqual(waits.slice(0, 6), [5, 10, 20, 40, 80, 160]);
  assert.deepEqual(waits.slice(-3), [1_000_000, 1_000_000, 1_000_000]);
  assert.deepEqual(drainNow(queue), ['ns/a']);
  assert.equal(queue.failures('ns/a'), 0);
});

test('hot loop: a failing key that causes its own events runs once a second at most', async () => {
  const { clock, queue } = setUp();
  queue.add('ns/a');
  let runs = 0;
  const end = clock.now() + 60_000; // steps of 20 ms
  while (clock.now() < end) {
    const key = queue.takeNow();
    if (key !== undefined) {
      runs++;
      queue.add(key); // its own status write
      queue.done(key, retry);
    }
    queue.add('ns/a'); // and somebody who adds it all the time
    await clock.advance(20);
  }
  assert.ok(runs > 50 && runs < 75, `${runs} runs in a minute`);
});

test('a queue without backoff or jitter is refused, and so are lanes that cannot work', () => {
  const backoff = { baseMs: 5, factor: 2, capMs: 1_000, jitter: 0 };
  assert.throws(() => setUp({ backoff }), { code: 'QUEUE_OPTIONS' });
  assert.throws(() => setUp({ lanes: [] }), { code: 'QUEUE_OPTIONS' });
  assert.throws(() => setUp({ lanes: [{ name: 'x', weight: 0 }] }), { code: 'QUEUE_OPTIONS' });
  assert.throws(() => setUp().queue.add('ns/a', { lane: 'x' }), { code: 'QUEUE_LANE_UNKNOWN' });
});

test('starvation by priority: a flooded urgent lane leaves the other its share', () => {
  const { queue } = setUp({
    lanes: [
      { name: 'urgent', weight: 3 },
      { name: 'initial', weight: 1 },
    ],
  });
  for (let i = 0; i < 10; i++) queue.add(`ns/old${i}`, { lane: 'initial' });
  let fresh = 0;
  const order: string[] = [];
  for (let i = 0; i < 40; i++) {
    while (queue.stats().depth.urgent !== 5) queue.add(`ns/new${fresh++}`, { lane: 'urgent' });
    const key = queue.takeNow() as string;
    order.push(key.slice(3, 6));
    queue.done(key, finished);
  }
  assert.equal(order.filter((kind) => kind === 'old').length, 10);
});

test('a waiting key that is added more urgently moves up', () => {
  const { queue } = setUp({
    lanes: [
      { name: 'urgent', weight: 100 },
      { name: 'normal', weight: 1 },
    ],
  });
  for (const key of ['ns/a', 'ns/b', 'ns/c', 'ns/d']) queue.add(key);
  queue.add('ns/d', { lane: 'urgent' });
  assert.equal(queue.takeNow(), 'ns/d');
  assert.deepEqual(queue.stats().depth, { urgent: 0, normal: 3 });
});

test('one namespace with many keys delays another by its turn only; weights give more', () => {
  const { queue } = setUp({ weightOf: (group) => (group === 'paid' ? 3 : 1) });
  for (let i = 0; i < 1_000; i++) queue.add(`noisy/${i}`);
  for (let i = 0; i < 6; i++) queue.add(`paid/${i}`);
  queue.add('quiet/a');
  queue.add('quiet/b');
  const groups = Array.from({ length: 12 }, () => queue.takeNow()?.split('/')[0]);
  assert.deepEqual(groups.slice(0, 10), [
    ...['noisy', 'paid', 'paid', 'paid', 'quiet'],
    ...['noisy', 'paid', 'paid', 'paid', 'quiet'],
  ]);
});

test('one queue, two types of worker: each gets the keys of its route, a worker for everything gets both', async () => {
  const { queue } = setUp({
    routes: ['create', 'delete'],
    routeOf: (key) => (key.endsWith('!') ? 'delete' : 'create'),
  });
  const deleted = queue.take(undefined, 'delete');
  queue.add('ns/a');
  queue.add('ns/b!');
  assert.equal(await deleted, 'ns/b!');
  assert.equal(queue.takeNow('delete'), undefined);
  assert.equal(queue.takeNow('create'), 'ns/a');
  queue.add('ns/c');
  queue.add('ns/d!');
  assert.deepEqual([queue.takeNow(), queue.takeNow()].sort(), ['ns/c', 'ns/d!']);
  assert.throws(() => queue.takeNow('other'), { code: 'QUEUE_ROUTE_UNKNOWN' });
});

test('a key with a route that nobody serves is told of and asked about again, not lost', async () => {
  let route = 'nowhere';
  const told: string[] = [];
  const misrouted = (key: string, to: string) => told.push(`${key} ${to}`);
  const { clock, queue } = setUp({ routes: ['here'], routeOf: () => route, metrics: { misrouted } });
  queue.add('ns/a');
  await clock.advance(10);
  assert.deepEqual(told.slice(0, 2), ['ns/a nowhere', 'ns/a nowhere']);
  route = 'here';
  await clock.advance(100);
  assert.equal(queue.takeNow('here'), 'ns/a');
});

test('a worker waits until a key comes, and leaves with the reason of its signal without taking one along', async () => {
  const { queue } = setUp();
  const controller = new AbortController();
  const gone = queue.take(controller.signal);
  const stays = queue.take();
  controller.abort(new Error('enough'));
  await assert.rejects(gone, { message: 'enough' });
  queue.add('ns/a');
  assert.equal(await stays, 'ns/a');
});

test('a worker may wait at several queues and is answered by one', async () => {
  const { clock, queue: first } = setUp();
  const second = new WorkQueue({ clock, random: constantRandom(0) }, { name: 'second' });
  const taken = takeFrom([first, second]);
  second.add('ns/b');
  first.add('ns/a');
  const got = await taken;
  assert.equal(got?.key, 'ns/b');
  assert.equal(got.queue, second);
  assert.equal(first.takeNow(), 'ns/a');
  const last = takeFrom([first, second]);
  first.done('ns/a', finished);
  second.done('ns/b', finished);
  await first.close();
  await second.close();
  assert.equal(await last, undefined);
});

test('shutdown: nothing is taken in or handed out any more, what runs is waited for', async () => {
  const { clock, queue } = setUp();
  queue.add('ns/a');
  queue.add('ns/b');
  queue.addAfter('ns/c', 1_000);
  const key = queue.takeNow() as string;
  const idle = queue.close();
  assert.equal(queue.add('ns/d'), false);
  assert.equal(await queue.take(), undefined);
  queue.done(key, retry);
  assert.deepEqual(await idle, []);
  assert.equal(clock.sleeping, 0);
});

test('shutdown with drain: what is ready is still handed out, then the workers are told to go', async () => {
  const { queue } = setUp();
  for (const key of ['ns/a', 'ns/b']) queue.add(key);
  const idle = queue.close({ finish: 'ready' });
  const seen: string[] = [];
  const worker = async () => {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      seen.push(key);
      await settled();
      queue.done(key, finished);
    }
  };
  await Promise.all([worker(), worker(), worker()]);
  assert.deepEqual(seen, ['ns/a', 'ns/b']);
  assert.deepEqual(await idle, []);
});

test('shutdown: the wait ends with its signal and names what still runs', async () => {
  const { queue } = setUp();
  queue.add('ns/a');
  queue.takeNow();
  const patience = new AbortController();
  const idle = queue.close({ signal: patience.signal });
  patience.abort();
  assert.deepEqual(await idle, ['ns/a']);
});

test('metrics: adds, waits, work, retries as they happen; depth, unfinished and longest running when asked', async () => {
  const told: string[] = [];
  const { clock, queue } = setUp({
    metrics: {
      added: (key, lane) => told.push(`added ${key} ${lane}`),
      started: (key, ms) => told.push(`started ${key} ${ms}`),
      finished: (key, ms) => told.push(`finished ${key} ${ms}`),
      retried: (key, failures, ms) => told.push(`retried ${key} ${failures} ${ms}`),
    },
  });
  queue.add('ns/a');
  queue.add('ns/a');
  queue.add('ns/b');
  await clock.advance(30);
  queue.takeNow();
  await clock.advance(70);
  queue.takeNow();
  await clock.advance(5);
  assert.deepEqual(queue.stats(), {
    depth: { default: 0 },
    routes: { '': 0 },
    delayed: 0,
    running: 2,
    unfinishedMs: 80,
    longestRunningMs: 75,
  });
  queue.done('ns/a', retry);
  queue.done('ns/b', again);
  assert.deepEqual(told, [
    ...['added ns/a default', 'added ns/b default', 'started ns/a 30', 'started ns/b 100'],
    ...['finished ns/a 75', 'retried ns/a 1 5', 'finished ns/b 5', 'added ns/b default'],
  ]);
});

test('100,000 keys are drained in a moment', () => {
  const { queue } = setUp();
  for (let i = 0; i < 100_000; i++) queue.add(`ns${i % 7}/${i}`);
  assert.equal(drainNow(queue).length, 100_000);
});
