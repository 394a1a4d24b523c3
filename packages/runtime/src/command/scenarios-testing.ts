/** What every executor must do, wherever its handlers run: the same scenarios for this process and for a member. */
import assert from 'node:assert/strict';
import { ReeveError } from '../errors/errors.ts';
import type { VirtualClock } from '../ports/virtual-clock-testing.ts';
import { Cancelled } from '../worker/cancelled.ts';
import { type Command, done, doneThen, failed, type HandlerOutcome, type Outcome, stale } from './command.ts';
import { type AnyHandler, type Executor, type Handler, isHandle } from './executor.ts';

export interface Scene {
  readonly executor: Executor;
  readonly clock: VirtualClock;
  close(): Promise<void>;
}

/** Brings handlers to where they run. */
export type Stage = (handlers: readonly AnyHandler<World>[], world: World) => Promise<Scene>;

export interface World {
  readonly seen: string[];
  clock: VirtualClock | undefined;
}

interface Say extends Command {
  readonly type: 'say';
  readonly word: string;
}

export interface Scenario {
  readonly name: string;
  run(stage: Stage): Promise<void>;
}

const say = (word: string): Say => ({ type: 'say', word, why: 'test' });
const never = new AbortController().signal;

function handlers(run: Handler<Say, World>['run']): readonly AnyHandler<World>[] {
  return [{ type: 'say', run } satisfies Handler<Say, World>];
}

/** The end of a command, however long it takes. */
async function finish(scene: Scene, started: ReturnType<Executor['start']>): Promise<Outcome> {
  let outcome: Outcome | undefined;
  void started.then(async (result) => {
    outcome = isHandle<Outcome>(result) ? await result.settled : result;
  });
  for (let second = 0; second < 60 && !outcome; second++) await scene.clock.advance(1_000);
  assert.ok(outcome, 'it ended within a minute');
  return outcome;
}

function answers(name: string, answer: () => HandlerOutcome, expected: Outcome): Scenario {
  return {
    name,
    async run(stage) {
      const world: World = { seen: [], clock: undefined };
      const scene = await stage(
        handlers(async ({ word }, { seen }) => {
          seen.push(word);
          return answer();
        }),
        world,
      );
      assert.deepEqual(await finish(scene, scene.executor.start(say('hello'), never)), expected);
      assert.deepEqual(world.seen, ['hello']);
      await scene.close();
    },
  };
}

/** Long work of ten seconds that tells its progress and stops when told. */
function slowly(world: World, signal: AbortSignal) {
  let seconds = 0;
  const clock = world.clock as VirtualClock;
  const work = async (): Promise<Outcome> => {
    for (; seconds < 10; seconds++) {
      try {
        await clock.sleep(1_000, signal);
      } catch {
        world.seen.push('stopped');
        return failed('STOPPED', 'as told');
      }
    }
    world.seen.push('finished');
    return done;
  };
  return { progress: () => ({ done: seconds, total: 10, unit: 's' }), settled: work() };
}

export const executorScenarios: readonly Scenario[] = [
  answers('done', () => done, done),
  answers('done with a note', () => ({ status: 'done', note: 'it was there' }), {
    status: 'done',
    note: 'it was there',
  }),
  answers('stale', () => stale('another epoch'), stale('another epoch')),
  answers('failed', () => failed('DISK_FULL', 'no room'), failed('DISK_FULL', 'no room')),
  answers(
    'a handler that throws',
    () => {
      throw new ReeveError('BROKEN', 'no voice');
    },
    failed('BROKEN', 'no voice'),
  ),
  {
    name: 'follow-ups',
    async run(stage) {
      const world: World = { seen: [], clock: undefined };
      const scene = await stage(
        handlers(async ({ word }, { seen }) => {
          seen.push(word);
          return word === 'first' ? doneThen(say('second')) : done;
        }),
        world,
      );
      assert.deepEqual(await finish(scene, scene.executor.start(say('first'), never)), done);
      assert.deepEqual(world.seen, ['first', 'second']);
      await scene.close();
    },
  },
  {
    name: 'long work shows its progress and ends',
    async run(stage) {
      const world: World = { seen: [], clock: undefined };
      const scene = await stage(
        handlers(async (_say, context, signal) => slowly(context, signal)),
        world,
      );
      const started = await scene.executor.start(say('hello'), never);
      assert.ok(isHandle<Outcome>(started));
      await scene.clock.advance(9_000);
      assert.ok((started.progress()?.done ?? 0) > 0, 'some progress is seen');
      assert.deepEqual(await finish(scene, Promise.resolve(started)), done);
      assert.deepEqual(world.seen, ['finished']);
      await scene.close();
    },
  },
  {
    name: 'aborted work is stopped, and has stopped when its end is told',
    async run(stage) {
      const world: World = { seen: [], clock: undefined };
      const scene = await stage(
        handlers(async (_say, context, signal) => slowly(context, signal)),
        world,
      );
      const stop = new AbortController();
      const started = await scene.executor.start(say('hello'), stop.signal);
      await scene.clock.advance(3_000);
      stop.abort(new Cancelled('deleted', 'ns/task'));
      const outcome = await finish(scene, Promise.resolve(started));
      assert.equal(outcome.status, 'failed');
      assert.deepEqual(world.seen, ['stopped']);
      await scene.close();
    },
  },
  {
    name: 'a command that nobody there can carry out fails',
    async run(stage) {
      const scene = await stage([], { seen: [], clock: undefined });
      const outcome = await finish(scene, scene.executor.start(say('hello'), never));
      assert.ok(outcome.status === 'failed');
      assert.match(outcome.code, /^(?:HANDLER_MISSING|ORDER_VERB_UNKNOWN)$/);
      await scene.close();
    },
  },
];
