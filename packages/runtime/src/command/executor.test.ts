import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReeveError } from '../errors/errors.ts';
import { type Command, done } from './command.ts';
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
