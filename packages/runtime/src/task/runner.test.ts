import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failed, stale } from '../command/command.ts';
import { known, unknown } from '../plan/known.ts';
import { settled } from '../ports/virtual-clock-testing.ts';
import { compareNames } from './decide.ts';
import { Bench, FINALIZER } from './runner-testing.ts';

test('a task begins by freezing its members in one write, after it is held by a finalizer', async () => {
  const bench = await Bench.open();
  await bench.create('parallel');
  assert.equal((await bench.turn()).state, 'running');
  assert.deepEqual(
    bench.writes.map(({ verb }) => verb),
    ['create', 'update', 'status'],
  );
  assert.deepEqual(bench.task?.metadata.finalizers, [FINALIZER]);
  assert.deepEqual(bench.task?.status?.pods?.['pod-1'], { uid: 'pod-1-uid', phase: 'Waiting' });
  bench.pods = ['pod-1', 'pod-2', 'pod-10', 'pod-11'];
  await bench.turn();
  assert.deepEqual(Object.keys(bench.phases).sort(), ['pod-1', 'pod-10', 'pod-2'], 'who joins later has no part in it');
});

test('a parallel task runs on all members at once and writes its status at the end', async () => {
  const bench = await Bench.open();
  await bench.create('parallel');
  await bench.turn();
  assert.deepEqual(bench.place.started, ['pod-1#1', 'pod-2#1', 'pod-10#1']);
  await settled();
  assert.deepEqual(bench.runner.progress(bench.uid)['pod-2'], { done: 1, total: 4, unit: 'ranges' });
  for (const pod of ['pod-10', 'pod-1']) bench.place.end(pod);
  await settled();
  assert.equal((await bench.turn()).state, 'running');
  assert.equal(bench.statusWrites, 1, 'steps never write the status');
  bench.place.end('pod-2');
  await settled();
  assert.deepEqual(bench.woken, ['task', 'task', 'task']);
  assert.deepEqual(await bench.turn(), { state: 'ended', outcome: 'done' });
  assert.equal(bench.statusWrites, 2);
  assert.deepEqual(bench.phases, { 'pod-1': 'Done', 'pod-2': 'Done', 'pod-10': 'Done' });
  assert.equal(bench.task?.status?.phase, 'Succeeded');
  assert.equal(bench.task?.metadata.finalizers, undefined);
  assert.deepEqual(bench.place.released.sort(), ['pod-1', 'pod-10', 'pod-2']);
});

test('no more members at once than the width says', async () => {
  const bench = await Bench.open();
  bench.definition = { width: 2 };
  await bench.create('parallel');
  await bench.turn();
  assert.deepEqual(bench.place.started, ['pod-1#1', 'pod-2#1']);
  bench.place.end('pod-1');
  await settled();
  await bench.turn();
  assert.deepEqual(bench.place.started, ['pod-1#1', 'pod-2#1', 'pod-10#1']);
});

test('a sequential task goes from member to member and writes its status after each', async () => {
  const bench = await Bench.open();
  await bench.create('sequential');
  await bench.turn();
  for (const [index, pod] of ['pod-1', 'pod-2', 'pod-10'].entries()) {
    assert.equal(bench.place.started.length, index + 1);
    assert.equal(bench.statusWrites, index + 1);
    bench.place.end(pod);
    await settled();
    await bench.turn();
  }
  assert.deepEqual(bench.place.started, ['pod-1#1', 'pod-2#1', 'pod-10#1']);
  assert.equal(bench.statusWrites, 4, 'begin, two steps, and the end with the last');
  assert.equal(bench.task?.status?.phase, 'Succeeded');
});

test('a single step runs on one member', async () => {
  const bench = await Bench.open();
  await bench.create('single');
  await bench.turn();
  assert.deepEqual(bench.phases, { 'pod-2': 'Waiting' });
  bench.place.end('pod-2');
  await settled();
  assert.deepEqual(await bench.turn(), { state: 'ended', outcome: 'done' });
  assert.equal(bench.statusWrites, 2);
});

test('a failing step is tried again, not at once and not for ever; then the others are skipped', async () => {
  const bench = await Bench.open();
  bench.definition = { attempts: 2 };
  await bench.create('sequential');
  await bench.turn();
  bench.place.end('pod-1', failed('DISK_FULL', 'no room'));
  await settled();
  const waiting = await bench.turn();
  assert.ok(waiting.state === 'running' && waiting.wakeAt === bench.clock.now() + 200);
  assert.deepEqual(bench.place.started, ['pod-1#1']);
  await bench.clock.advance(200);
  await bench.turn();
  assert.deepEqual(bench.place.started, ['pod-1#1', 'pod-1#2']);
  bench.place.end('pod-1', failed('DISK_FULL', 'no room'));
  await settled();
  assert.deepEqual(await bench.turn(), { state: 'ended', outcome: 'failed', message: 'pod-1: no room' });
  assert.deepEqual(bench.phases, { 'pod-1': 'Failed', 'pod-2': 'Skipped', 'pod-10': 'Skipped' });
  assert.deepEqual(bench.place.withdrawn.sort(), ['pod-1', 'pod-10', 'pod-2'], 'failed does not say that nothing runs');
});

test('with onFailure continue the others are worked on all the same', async () => {
  const bench = await Bench.open();
  bench.definition = { attempts: 1, onFailure: 'continue' };
  await bench.create('sequential');
  await bench.turn();
  bench.place.end('pod-1', failed('DISK_FULL', 'no room'));
  for (const pod of ['pod-2', 'pod-10']) {
    await settled();
    await bench.turn();
    bench.place.end(pod);
  }
  await settled();
  await bench.turn();
  assert.deepEqual(bench.phases, { 'pod-1': 'Failed', 'pod-2': 'Done', 'pod-10': 'Done' });
  assert.equal(bench.task?.status?.phase, 'Failed');
});

test('a stale step is the same attempt again; what may be done already is not begun again', async () => {
  const bench = await Bench.open();
  await bench.create('single');
  await bench.turn();
  bench.place.end('pod-2', stale('another epoch'));
  await settled();
  await bench.turn();
  await bench.clock.advance(200);
  await bench.turn();
  assert.deepEqual(bench.place.started, ['pod-2#1', 'pod-2#1'], 'not the result of before read once more');
  const other = await Bench.open();
  await other.create('single');
  await other.turn();
  other.place.end('pod-2', failed('ORDER_UNKNOWN', 'who knows'));
  await settled();
  assert.deepEqual(await other.turn(), { state: 'ended', outcome: 'failed', message: 'pod-2: who knows' });
  assert.deepEqual(other.phases, { 'pod-2': 'Unknown' });
});

test('a step that is stale ten times has failed, and the next attempt may be as often', async () => {
  const bench = await Bench.open();
  bench.definition = { attempts: 2 };
  await bench.create('single');
  let turn = await bench.turn();
  for (let i = 0; turn.state !== 'ended' && i < 50; i++) {
    bench.place.end('pod-2', stale('another epoch'));
    await settled();
    turn = await bench.turn();
    await bench.clock.advance(20_000);
    if (turn.state !== 'ended') turn = await bench.turn();
  }
  const tries = [1, 2].map((attempt) => bench.place.started.filter((run) => run === `pod-2#${attempt}`).length);
  assert.deepEqual(tries, [10, 10]);
  assert.deepEqual(turn, { state: 'ended', outcome: 'failed', message: 'pod-2: another epoch' });
});

test('a restart collects what ended meanwhile and repeats nothing', async () => {
  for (const taskClass of ['parallel', 'sequential'] as const) {
    const bench = await Bench.open();
    await bench.create(taskClass);
    await bench.turn();
    const pods = taskClass === 'parallel' ? ['pod-1', 'pod-2', 'pod-10'] : ['pod-1'];
    for (const pod of pods) bench.place.end(pod);
    bench.restart(); // the old one is killed: it collected nothing
    await bench.turn();
    await settled();
    await bench.turn();
    if (taskClass === 'sequential') {
      bench.place.end('pod-2');
      await settled();
      await bench.turn();
      bench.place.end('pod-10');
      bench.restart();
      await bench.turn();
      await settled();
      await bench.turn();
    }
    assert.equal(bench.task?.status?.phase, 'Succeeded', taskClass);
    assert.deepEqual(bench.place.started, ['pod-1#1', 'pod-2#1', 'pod-10#1'], taskClass);
  }
});

test('deleting a task cancels it: steps are aborted and waited for, then what it holds is let go', async () => {
  const bench = await Bench.open();
  const told: string[] = [];
  bench.definition = {
    begin: (_task, held) => {
      held.defer(() => void told.push('second'));
      held.defer(() => void told.push('first'));
    },
    executor: () => ({
      start: async (_command, signal) => {
        const ended = Promise.withResolvers<ReturnType<typeof failed>>();
        signal.addEventListener('abort', () => {
          told.push(`aborted: ${(signal.reason as { reason: string }).reason}`);
          void bench.clock.sleep(10_000).then(() => ended.resolve(failed('STOPPED', 'stopped')));
        });
        return { progress: () => undefined, settled: ended.promise };
      },
    }),
  };
  await bench.create('single');
  await bench.turn();
  await settled();
  await bench.delete();
  const first = bench.turn();
  await bench.clock.advance(2_000);
  const stopping = await first;
  assert.deepEqual(
    stopping.waitingFor?.map(({ reason }) => reason),
    ['TaskStopping'],
  );
  assert.deepEqual(told, ['aborted: deleted']);
  assert.ok(bench.task, 'it stays until its steps have ended');
  await bench.clock.advance(8_000);
  assert.deepEqual(told, ['aborted: deleted', 'first', 'second']);
  assert.ok(bench.woken.length > 0);
  assert.deepEqual(await bench.turn(), { state: 'ended', outcome: 'cancelled' });
  assert.equal(bench.task, undefined);
});

test('a task that was deleted while the operator was down is cancelled all the same', async () => {
  const bench = await Bench.open();
  await bench.create('parallel');
  await bench.turn();
  await bench.delete();
  bench.restart();
  assert.deepEqual(await bench.turn(), { state: 'ended', outcome: 'cancelled' });
  assert.deepEqual(bench.place.withdrawn.sort(), ['pod-1', 'pod-10', 'pod-2']);
  assert.equal(bench.task, undefined);
  assert.deepEqual(bench.place.started.length, 3, 'nothing was begun again');
});

test('finalizer leak: a cancellation that fails is tried again, and the finalizer stays until it worked', async () => {
  const bench = await Bench.open();
  await bench.create('parallel');
  await bench.turn();
  await bench.delete();
  bench.restart();
  const { withdraw } = bench.place.executor;
  bench.place.executor.withdraw = async () => {
    throw new Error('no answer');
  };
  await assert.rejects(bench.turn(), /no answer/);
  assert.ok(bench.task);
  bench.place.executor.withdraw = withdraw as NonNullable<typeof withdraw>;
  assert.equal((await bench.turn()).state, 'ended');
  assert.equal(bench.task, undefined);
});

test('finalizer leak: a disposer that throws is told, and the next turn goes on with the end', async () => {
  for (const way of ['deleted', 'yielding'] as const) {
    const bench = await Bench.open();
    let calls = 0;
    bench.definition = {
      begin: (_task, held) =>
        held.defer(() => {
          calls++;
          throw new Error('still mounted');
        }),
    };
    await bench.create('sequential');
    await bench.turn();
    if (way === 'deleted') await bench.delete();
    bench.place.end('pod-1');
    await settled();
    await assert.rejects(bench.turn(bench.task, { mustYield: true }), /still mounted/);
    assert.ok(bench.task);
    assert.equal((await bench.turn()).state, way === 'deleted' ? 'ended' : 'yielded', way);
    assert.equal(bench.task === undefined, way === 'deleted');
    assert.equal(calls, 1);
  }
});

test('a task that nobody knows any more keeps its lock while its steps may run, unless somebody can stop them', async () => {
  const bench = await Bench.open();
  await bench.create('parallel');
  await bench.turn();
  bench.isKnown = false; // an older version took over
  bench.restart();
  for (const isDeleted of [false, true]) {
    if (isDeleted) await bench.delete();
    const { state, waitingFor = [] } = await bench.turn();
    assert.equal(state, 'running');
    assert.deepEqual(
      waitingFor.map(({ reason, subjects }) => [reason, ...[...subjects].sort()]),
      [['TaskUnknown', 'pod-1', 'pod-10', 'pod-2']],
    );
    assert.deepEqual(bench.task?.metadata.finalizers, [FINALIZER]);
    assert.equal(bench.task?.status?.phase, 'Running', 'a version that knows it can go on');
  }
  bench.hasLastResort = true;
  bench.restart();
  assert.deepEqual(await bench.turn(), { state: 'ended', outcome: 'cancelled' });
  assert.deepEqual(bench.place.withdrawn.sort(), ['pod-1', 'pod-10', 'pod-2']);
  assert.equal(bench.task, undefined);
});

test('of a task that nobody knows any more, what is known to be done is no reason to wait', async () => {
  const bench = await Bench.open();
  await bench.create('single');
  await bench.turn();
  bench.hasLastResort = true;
  bench.isKnown = false;
  bench.restart();
  assert.deepEqual(await bench.turn(), { state: 'ended', outcome: 'failed' });
  assert.deepEqual(bench.place.withdrawn, ['pod-2'], 'before the lock is given back');
  const done = await Bench.open();
  await done.create('sequential');
  await done.turn();
  for (const pod of ['pod-1', 'pod-2']) {
    done.place.end(pod);
    await settled();
    await done.turn();
  }
  done.isKnown = false;
  done.restart();
  assert.deepEqual((await done.turn()).waitingFor?.[0]?.subjects, ['pod-10']);
});

test('deleted before it began, a task is simply gone', async () => {
  const bench = await Bench.open();
  await bench.create('parallel');
  const cached = bench.task;
  await bench.delete();
  assert.deepEqual(await bench.turn(cached), { state: 'ended', outcome: 'cancelled', message: 'the task is gone' });
  assert.deepEqual(bench.place.started, []);
  assert.ok(bench.runner.isGone(cached ?? assert.fail()), 'a cache that still has it does not bring it back');
  bench.runner.forget(bench.uid);
  assert.ok(!bench.runner.isGone(cached ?? assert.fail()), 'and nothing is remembered once the cache knows');
});

test('stale read after own write: an old cache never makes a task begin again', async () => {
  const bench = await Bench.open();
  const fresh = await bench.create('parallel');
  await bench.turn();
  bench.pods = ['pod-9'];
  bench.restart(); // nothing is remembered, and the cache is from before the task began
  await bench.turn(fresh);
  assert.deepEqual(Object.keys(bench.phases).sort(), ['pod-1', 'pod-10', 'pod-2']);
  const running = bench.task;
  for (const pod of ['pod-1', 'pod-2', 'pod-10']) bench.place.end(pod);
  await settled();
  assert.equal((await bench.turn(fresh)).state, 'ended');
  for (const old of [fresh, running]) assert.equal((await bench.turn(old)).state, 'ended', 'and it stays ended');
  assert.equal(bench.place.started.length, 3);
});

test('a task gives way between two steps, and goes on where it was', async () => {
  const bench = await Bench.open();
  await bench.create('sequential');
  await bench.turn();
  const yielding = () => bench.turn(bench.task, { mustYield: true });
  assert.equal((await yielding()).state, 'running', 'not in the middle of a step');
  bench.place.end('pod-1');
  await settled();
  assert.deepEqual(await yielding(), { state: 'yielded' });
  assert.deepEqual(bench.place.withdrawn.sort(), ['pod-10', 'pod-2']);
  assert.deepEqual(bench.phases, { 'pod-1': 'Done', 'pod-2': 'Waiting', 'pod-10': 'Waiting' });
  assert.deepEqual(bench.place.started, ['pod-1#1']);
  await bench.turn();
  assert.deepEqual(bench.place.started, ['pod-1#1', 'pod-2#1']);
});

test('members that cannot be read are waited for; none at all, or a task that nobody knows, is a failure', async () => {
  const bench = await Bench.open();
  bench.definition = { members: async () => unknown('no view yet') };
  await bench.create('parallel');
  const waiting = await bench.turn();
  assert.deepEqual(waiting.waitingFor, [{ reason: 'MembersUnknown', message: 'no view yet', subjects: [] }]);
  bench.definition = { members: async () => known([]) };
  assert.equal((await bench.turn()).state, 'ended');
  assert.equal(bench.task?.status?.code, 'TASK_NO_MEMBERS');
  const other = await Bench.open();
  other.isKnown = false;
  await other.create('parallel');
  assert.equal((await other.turn()).state, 'ended');
  assert.equal(other.task?.status?.code, 'TASK_UNKNOWN');
});

test('shutdown stops what runs here and leaves the task as it is', async () => {
  const bench = await Bench.open();
  await bench.create('sequential');
  await bench.turn();
  const before = bench.writes.length;
  await bench.runner[Symbol.asyncDispose]();
  assert.equal(bench.writes.length, before);
  assert.equal(bench.task?.status?.phase, 'Running');
});

test('names are ordered with their numbers by value', () => {
  const names = ['b-1', 'a-10', 'a-9', 'a', 'a-9-x', 'a-09'];
  assert.deepEqual(names.sort(compareNames), ['a', 'a-09', 'a-9', 'a-9-x', 'a-10', 'b-1']);
});
