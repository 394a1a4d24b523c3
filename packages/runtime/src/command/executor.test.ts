import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReeveError } from '../errors/errors.ts';
import { VirtualClock } from '../ports/virtual-clock-testing.ts';
import { type Command, done, doneThen, failed, type HandlerOutcome, type Outcome } from './command.ts';
import { type Handler, isHandle, localExecutor } from './executor.ts';

interface Greet extends Command {
  readonly type: 'greet';
  readonly name: string;
}

const greet = (name: string): Greet => ({ type: 'greet', why: 'politeness', name });
const signal = new AbortController().signal;

function handler(run: Handler<Greet, string[]>['run']): Handler<Greet, string[]> {
  return { type: 'greet', run };
}

test('a command reaches the one handler of its type with the context', async () => {
  const said: string[] = [];
  const executor = localExecutor<Greet, string[]>(
    [
      handler(async (command, context) => {
        context.push(command.name);
        return done;
      }),
    ],
    said,
  );
  assert.deepEqual(await executor.start(greet('Ada'), signal), done);
  assert.deepEqual(said, ['Ada']);
});

test('two handlers for one type are refused at start', () => {
  const one = handler(async () => done);
  assert.throws(() => localExecutor([one, one], []), { code: 'HANDLER_TWICE' });
});

test('a command without handler fails and says so', async () => {
  const outcome = await localExecutor<Greet, string[]>([], []).start(greet('Ada'), signal);
  assert.ok(!isHandle(outcome));
  assert.deepEqual(outcome, {
    status: 'failed',
    code: 'HANDLER_MISSING',
    message: 'no handler for command type greet',
  });
});

test('a handler that throws fails its command with the code of the error', async () => {
  const executor = localExecutor<Greet, string[]>(
    [
      handler(async () => {
        throw new ReeveError('BROKEN', 'no voice');
      }),
    ],
    [],
  );
  assert.deepEqual(await executor.start(greet('Ada'), signal), {
    status: 'failed',
    code: 'BROKEN',
    message: 'no voice',
  });
});

test('long work comes back as a handle', async () => {
  const executor = localExecutor<Greet, string[]>(
    [handler(async () => ({ progress: () => undefined, settled: Promise.resolve(done) }))],
    [],
  );
  const result = await executor.start(greet('Ada'), signal);
  assert.ok(isHandle(result));
  assert.deepEqual(await result.settled, done);
});

test('a type without a handler is refused at start, when the types are said', () => {
  const one = handler(async () => done);
  assert.doesNotThrow(() => localExecutor([one], [], { types: ['greet'] }));
  assert.throws(() => localExecutor([one], [], { types: ['greet', 'leave'] }), {
    code: 'HANDLER_MISSING',
    subjects: ['leave'],
  });
});

/** `step n` follows from `step n-1`, down to 0. */
function steps(said: string[], answer: (name: string) => HandlerOutcome | undefined = () => undefined) {
  return handler(async ({ name }) => {
    said.push(name);
    const number = Number(name);
    return answer(name) ?? (number > 0 ? doneThen(greet(String(number - 1))) : done);
  });
}

async function outcomeOf(executor: ReturnType<typeof localExecutor<Greet, string[]>>, name: string): Promise<Outcome> {
  const result = await executor.start(greet(name), signal);
  return isHandle<Outcome>(result) ? result.settled : result;
}

test('follow-ups run in order, to a fixed depth and no further', async () => {
  const said: string[] = [];
  const executor = localExecutor<Greet, string[]>([steps(said)], []);
  assert.deepEqual(await outcomeOf(executor, '3'), done);
  assert.deepEqual(said.splice(0), ['3', '2', '1', '0']);
  const tooDeep = await outcomeOf(executor, '4');
  assert.equal(tooDeep.status === 'failed' && tooDeep.code, 'FOLLOW_UP_DEPTH');
  assert.deepEqual(said, ['4', '3', '2', '1']);
});

test('a follow-up that is not done is the outcome of the whole, and those after it are not begun', async () => {
  const said: string[] = [];
  const no = failed('BROKEN', 'no voice');
  const executor = localExecutor<Greet, string[]>(
    [
      steps(said, (name) => {
        if (name === 'first') return doneThen(greet('second'), greet('third'));
        return name === 'second' ? no : undefined;
      }),
    ],
    [],
  );
  assert.deepEqual(await outcomeOf(executor, 'first'), no);
  assert.deepEqual(said, ['first', 'second']);
});

test('follow-ups of long work run when it has ended, and may be long work themselves', async () => {
  const said: string[] = [];
  const { promise, resolve } = Promise.withResolvers<HandlerOutcome>();
  const executor = localExecutor<Greet, string[]>(
    [
      handler(async ({ name }) => {
        said.push(name);
        if (name === 'long') return { progress: () => undefined, settled: promise };
        if (name === 'next') return { progress: () => undefined, settled: Promise.resolve(done) };
        return done;
      }),
    ],
    [],
  );
  const started = await executor.start(greet('long'), signal);
  assert.ok(isHandle<Outcome>(started));
  assert.deepEqual(said, ['long']);
  resolve(doneThen(greet('next'), greet('last')));
  assert.deepEqual(await started.settled, done);
  assert.deepEqual(said, ['long', 'next', 'last']);
});

test('the done-check answers done, not done or unknown; who has none or cannot read does not know', async () => {
  const check = (isDone?: Handler<Greet, string[]>['isDone']) =>
    localExecutor<Greet, string[]>([{ ...handler(async () => done), ...(isDone && { isDone }) }], []).isDone(
      greet('Ada'),
      signal,
    );
  assert.equal(await check(async () => 'done'), 'done');
  assert.equal(await check(async () => 'not-done'), 'not-done');
  assert.equal(await check(), 'unknown');
  assert.equal(
    await check(async () => {
      throw new Error('no answer');
    }),
    'unknown',
  );
});

test('a handler that never returns is given up, and told so', async () => {
  const clock = new VirtualClock();
  let told: unknown;
  const executor = localExecutor<Greet, string[]>(
    [
      handler((_command, _context, stop) => {
        stop.addEventListener('abort', () => {
          told = stop.reason;
        });
        return new Promise(() => undefined);
      }),
    ],
    [],
    { startLimit: { clock, ms: 10_000 } },
  );
  const started = executor.start(greet('Ada'), signal);
  await clock.advance(10_000);
  const outcome = await started;
  assert.ok(!isHandle<Outcome>(outcome) && outcome.status === 'failed');
  assert.equal(outcome.code, 'HANDLER_TIMEOUT');
  assert.equal((told as ReeveError).code, 'HANDLER_TIMEOUT');
});
