import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { done, type Outcome, stale } from '../command/command.ts';
import { isHandle, localExecutor } from '../command/executor.ts';
import { executorScenarios, type Stage } from '../command/scenarios-testing.ts';
import { settled, VirtualClock } from '../ports/virtual-clock-testing.ts';
import { Cancelled } from '../worker/cancelled.ts';
import { Field, order } from './agent-testing.ts';
import { MOST_ORDERS } from './member.ts';

const here: Stage = async (handlers, world) => {
  const clock = new VirtualClock();
  world.clock = clock;
  return { executor: localExecutor(handlers, world), clock, close: async () => undefined };
};

const there: Stage = async (handlers, world) => {
  const field = await Field.open();
  world.clock = field.clock;
  await field.follow();
  await field.agent(handlers, world);
  const executor = field.orders.executor({ namespace: 'ns', name: 'pod-0', podUid: 'pod-uid' });
  return { executor, clock: field.clock, close: () => field.close() };
};

for (const [place, stage] of Object.entries({ 'in this process': here, 'through a member': there })) {
  describe(`an executor ${place}`, () => {
    for (const { name, run } of executorScenarios) test(name, () => run(stage));
  });
}

const command = { type: 'say', why: 'test', word: 'hello' };
const never = new AbortController().signal;
const run = { id: 'task.pod-0', attempt: 1 };
const ref = { namespace: 'ns', name: 'pod-0', podUid: 'pod-uid' };

test('a run that an earlier manager started is found again, and not repeated', async () => {
  const field = await Field.open();
  await field.follow();
  let runs = 0;
  await field.agent([{ type: 'say', run: async () => (runs++, done) }], undefined);
  const first = await field.orders.executor(ref).start(command, never, run);
  assert.ok(isHandle<Outcome>(first));
  await field.clock.advance(1_000);
  assert.deepEqual(await first.settled, done);
  field.manager(); // the next one knows nothing but the API
  const next = await field.orders.executor(ref).start(command, never, run);
  assert.ok(isHandle<Outcome>(next));
  assert.deepEqual(await next.settled, done);
  assert.equal(runs, 1);
  await field.orders.executor(ref).release?.(run.id, never);
  await field.clock.advance(2_000);
  assert.deepEqual(field.member.spec.orders, []);
  assert.deepEqual(field.results, []);
  await field.close();
});

test('a run that was stale is run again under its name, also by the next manager, once its agent has forgotten it', async () => {
  const field = await Field.open();
  await field.follow();
  const answers: Outcome[] = [stale('another epoch'), stale('still another'), stale('and another')];
  let runs = 0;
  const say = { type: 'say', run: async () => (runs++, answers.shift() ?? done) };
  const { kill } = await field.agent([say], undefined);
  const again = async () => {
    const starting = field.orders.executor(ref).start(command, never, run);
    await field.clock.advance(3_000);
    const started = await starting;
    return isHandle<Outcome>(started) ? started.settled : started;
  };
  assert.deepEqual(await again(), stale('another epoch'));
  assert.deepEqual(await again(), stale('still another'));
  assert.equal(runs, 2);
  field.manager();
  assert.deepEqual(await again(), stale('and another'));
  // While nobody is there to forget it, it is not ordered: the order would be taken for the one of before.
  kill();
  const stop = new AbortController();
  const waiting = field.orders.executor(ref).start(command, stop.signal, run);
  await field.clock.advance(3_000);
  assert.deepEqual(field.member.spec.orders, []);
  stop.abort(new Cancelled('shutdown', 'ns/c'));
  await assert.rejects(waiting);
  await field.clock.advance(60_000);
  await field.agent([say], undefined);
  await field.clock.advance(60_000);
  assert.deepEqual(await again(), done);
  assert.equal(runs, 4);
  await field.close();
});

test('a later attempt that was stale is the one that is run again, whatever the next manager has counted', async () => {
  const field = await Field.open();
  await field.follow();
  await field.write({ orders: [order(run.id, { attempt: 3 })] });
  await field.agent([{ type: 'say', run: async () => stale('another epoch') }], undefined);
  await field.clock.advance(3_000);
  const before = field.member.metadata.generation;
  const starting = field.orders.executor(ref).start(command, never, run);
  await field.clock.advance(3_000);
  const started = await starting;
  assert.ok(isHandle<Outcome>(started));
  assert.deepEqual(await started.settled, stale('another epoch'));
  assert.equal(field.member.spec.orders?.[0]?.attempt, 3);
  assert.equal(field.member.metadata.generation, (before ?? 0) + 2, 'taken away, and ordered anew');
  await field.close();
});

test('a manager that ends leaves its orders alone', async () => {
  const field = await Field.open();
  const stop = new AbortController();
  const handle = await field.orders.executor(ref).start(command, stop.signal, run);
  stop.abort(new Cancelled('shutdown', 'ns/c'));
  assert.ok(isHandle<Outcome>(handle) && (await handle.settled).status === 'failed');
  assert.equal(field.member.spec.orders?.[0]?.cancel, undefined);
});

test('orders of an agent that never answers are taken back once it is surely gone, and no later life of it begins them', async () => {
  const field = await Field.open();
  await field.follow();
  let runs = 0;
  await field.write({ orders: [order('begun'), order('waiting')] });
  await field.writeStatus({ results: [{ id: 'begun', attempt: 1, phase: 'Started', by: 'agent-of-before' }] });
  const isLeft = (isGone: () => Promise<boolean>) => field.orders.abandon(ref, isGone, never);
  let seen: unknown;
  const lives = async () => {
    seen = field.member.spec.orders?.map(({ cancel }) => cancel);
    return false;
  };
  assert.equal(await isLeft(lives), false);
  assert.deepEqual(seen, [true, true], 'cancelled before it is asked');
  assert.equal(field.member.spec.orders?.length, 2, 'who may live must answer');
  const { kill } = await field.agent([{ type: 'say', run: async () => (runs++, done) }], undefined);
  await field.clock.advance(3_000);
  assert.equal(runs, 0);
  kill();
  assert.equal(await isLeft(async () => true), true);
  assert.deepEqual(field.member.spec.orders, []);
  const nobody = () => assert.fail('that pod is gone');
  assert.equal(await field.orders.abandon({ ...ref, podUid: 'another' }, nobody, never), true);
  await field.close();
});

test('no more than eight orders are open; the ninth is told to come back', async () => {
  const field = await Field.open();
  const orders = Array.from({ length: MOST_ORDERS }, (_, i) => order(`o${i}`));
  await field.write({ orders });
  const result = await field.orders.executor(ref).start(command, never, run);
  assert.ok(!isHandle<Outcome>(result) && result.status === 'stale');
  assert.equal(field.member.spec.orders?.length, MOST_ORDERS);
});

test('an order for a pod is void for its successor, and for a member that is not there', async () => {
  const field = await Field.open();
  await field.follow();
  const handle = await field.orders.executor(ref).start(command, never, run);
  assert.ok(isHandle<Outcome>(handle));
  await field.write({ pod: { name: 'pod-0', uid: 'successor' } });
  await settled();
  const replaced = { status: 'failed', code: 'ORDER_POD_REPLACED', message: 'member pod-0 is another pod now' };
  assert.deepEqual(await handle.settled, replaced);
  assert.deepEqual(await field.orders.executor(ref).start(command, never, { id: 'x', attempt: 1 }), replaced);
  const nobody = await field.orders.executor({ ...ref, name: 'pod-7' }).start(command, never, run);
  assert.ok(!isHandle<Outcome>(nobody) && nobody.status === 'stale');
  await field.close();
});

test('uid reuse by name: late news of a member that has a successor is no news', async () => {
  const field = await Field.open();
  const old = field.member;
  await field.objects.delete('pod-0');
  await field.objects.create({ metadata: { name: 'pod-0' }, spec: old.spec } as never);
  const handle = await field.orders.executor(ref).start(command, never, run);
  assert.ok(isHandle<Outcome>(handle));
  const ended: string[] = [];
  void handle.settled.then(({ status }) => ended.push(status));
  field.orders.told(old);
  field.orders.gone(old);
  await settled();
  assert.deepEqual(ended, []);
  field.orders.gone(field.member);
  await settled();
  assert.deepEqual(ended, ['stale']);
});

test('withdrawing waits until the order is still, and makes one that is on its way too late', async () => {
  const field = await Field.open();
  await field.follow();
  await field.write({ orders: [order('done')] });
  await field.writeStatus({ results: [{ id: 'done', attempt: 1, phase: 'Done', by: 'agent' }] });
  const before = field.member;
  await field.orders.executor(ref).withdraw?.('done', never);
  assert.equal(field.member.metadata.resourceVersion, before.metadata.resourceVersion, 'it is still: nothing to write');
  await field.orders.executor(ref).withdraw?.('not-there-yet', never);
  const late = { ...before, spec: { ...before.spec, orders: [order('not-there-yet')] } };
  await assert.rejects(field.objects.update(late as never), /modified/);
  // An earlier manager's order, carried out by an agent that takes two seconds to stop.
  await field.write({ orders: [order('old')] });
  const stopped: string[] = [];
  await field.agent(
    [
      {
        type: 'say',
        run: async (_command: never, _context: unknown, signal: AbortSignal) => {
          const ended = Promise.withResolvers<Outcome>();
          signal.addEventListener('abort', () => {
            void field.clock.sleep(2_000).then(() => {
              stopped.push('still');
              ended.resolve({ status: 'failed', code: 'STOPPED', message: '' });
            });
          });
          return { progress: () => undefined, settled: ended.promise };
        },
      },
    ],
    undefined,
  );
  assert.deepEqual(field.phases, ['old Started']);
  let isOver = false;
  const withdrawing = field.orders
    .executor(ref)
    .withdraw?.('old', never)
    .then(() => {
      isOver = true;
    });
  await field.clock.advance(1_500);
  assert.equal(isOver, false);
  await field.clock.advance(3_000);
  await withdrawing;
  assert.deepEqual(stopped, ['still']);
  assert.deepEqual(field.phases, ['old Cancelled']);
  await field.close();
});

test('orders that nobody wants any more are swept, and the others stay', async () => {
  const field = await Field.open();
  await field.follow();
  let runs = 0;
  await field.agent([{ type: 'say', run: async () => (runs++, done) }], undefined);
  await field.write({ orders: [order('wanted'), order('left-over')] });
  await field.clock.advance(2_000);
  await field.orders.sweep(ref, (id) => id === 'wanted', never);
  assert.deepEqual(
    field.member.spec.orders?.map(({ id }) => id),
    ['wanted'],
  );
  await field.clock.advance(2_000);
  assert.deepEqual(field.phases, ['wanted Done']);
  assert.equal(runs, 2);
  await field.close();
});
