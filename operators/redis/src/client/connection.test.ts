import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimpleError } from '@redis/client';
import type { Clock } from '@reeve/runtime';
import type { Arg } from '../api/port.ts';
import { Connection } from './connection.ts';
import { redactor } from './errors.ts';

/** A clock that stands still until it is told to move. */
function manualClock() {
  let now = 1000;
  const sleepers = new Set<{ at: number; wake: () => void }>();
  const clock: Clock = {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const sleeper = { at: now + ms, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper);
          reject(signal.reason);
        });
      }),
  };
  async function advance(ms: number): Promise<void> {
    now += ms;
    for (const sleeper of sleepers) {
      if (sleeper.at > now) continue;
      sleepers.delete(sleeper);
      sleeper.wake();
    }
    await settled();
  }
  return { clock, advance, sleeping: () => sleepers.size };
}

/** Lets everything happen that does not wait for time. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A client whose server is the test. */
function scriptedWire(greeting: Error | undefined) {
  const connecting = Promise.withResolvers<void>();
  let greeted = false;
  const sent: { args: readonly Arg[]; reply: (value: unknown) => void; fail: (error: Error) => void }[] = [];
  let onError: (error: Error) => void = () => undefined;
  let destroyed = 0;
  return {
    client: {
      on(_event: 'error', listener: (error: Error) => void) {
        onError = listener;
      },
      connect: () => connecting.promise,
      sendCommand(args: readonly Arg[]) {
        if (!greeted) {
          greeted = true;
          assert.deepEqual(args, ['PING']);
          return greeting ? Promise.reject(greeting) : Promise.resolve('PONG');
        }
        const { promise, resolve, reject } = Promise.withResolvers<unknown>();
        sent.push({ args, reply: resolve, fail: reject });
        return promise;
      },
      destroy() {
        destroyed++;
      },
    },
    connecting,
    sent,
    breakWith: (error: Error) => onError(error),
    destroyed: () => destroyed,
  };
}

function setUp(options: { password?: string; usesTls?: boolean; greeting?: Error } = {}) {
  const wire = scriptedWire(options.greeting);
  const time = manualClock();
  const events: string[] = [];
  const connection = new Connection(wire.client, {
    endpointText: '10.0.0.1:7000',
    usesTls: options.usesTls ?? false,
    redact: redactor(options.password),
    clock: time.clock,
    binaryMapping: {},
    onRetired: () => events.push('retired'),
    onOver: () => events.push('over'),
  });
  return { wire, time, events, connection };
}

function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'fulfilled',
    (error: { code?: string }) => error.code ?? 'no code',
  );
}

test('calls made before the connection stands go out in their order when it does', async () => {
  const { wire, connection } = setUp();
  const replies = ['A', 'B', 'C'].map((name) => connection.call([name], 100, false));
  assert.equal(wire.sent.length, 0);
  wire.connecting.resolve();
  await settled();
  assert.deepEqual(
    wire.sent.map(({ args }) => args[0]),
    ['A', 'B', 'C'],
  );
  for (const [index, call] of wire.sent.entries()) call.reply(index);
  assert.deepEqual(await Promise.all(replies), [0, 1, 2]);
});

test('one sleep serves any number of calls', async () => {
  const { wire, time, connection } = setUp();
  wire.connecting.resolve();
  await settled();
  for (let n = 0; n < 1000; n++) connection.call(['PING'], 5000, false).catch(() => undefined);
  assert.equal(time.sleeping(), 1);
});

test('a call that was sent and not answered in time ends unknown; the connection takes no further call', async () => {
  const { wire, time, events, connection } = setUp();
  wire.connecting.resolve();
  await settled();
  const short = codeOf(connection.call(['PING'], 100, false));
  const long = connection.call(['GET', 'x'], 1000, false);
  await time.advance(99);
  assert.deepEqual(events, []);
  await time.advance(1);
  assert.equal(await short, 'REDIS_TIMEOUT');
  assert.deepEqual(events, ['retired']);
  // The longer call may still be answered; only then the connection is over.
  wire.sent[0]?.reply('PONG');
  wire.sent[1]?.reply('value');
  assert.equal(await long, 'value');
  await settled();
  assert.deepEqual(events, ['retired', 'retired', 'over']);
  assert.equal(wire.destroyed(), 1);
  assert.equal(time.sleeping(), 0);
});

test('a call that waited for a connection in vain was certainly not sent', async () => {
  const { wire, time, events, connection } = setUp();
  const waiting = codeOf(connection.call(['SET', 'a', 'b'], 100, false));
  await time.advance(100);
  assert.equal(await waiting, 'REDIS_UNREACHABLE');
  assert.ok(events.includes('over'));
  wire.connecting.resolve();
  await settled();
  assert.equal(wire.sent.length, 0);
});

test('a broken connection fails everything that is pending as lost, once', async () => {
  const { wire, events, connection } = setUp();
  wire.connecting.resolve();
  await settled();
  const calls = [codeOf(connection.call(['A'], 100, false)), codeOf(connection.call(['B'], 100, false))];
  wire.breakWith(new Error('read ECONNRESET'));
  assert.deepEqual(await Promise.all(calls), ['REDIS_CONNECTION_LOST', 'REDIS_CONNECTION_LOST']);
  assert.deepEqual(events, ['retired', 'over']);
});

test('an error reply concerns its call only', async () => {
  const { wire, events, connection } = setUp();
  wire.connecting.resolve();
  await settled();
  const failing = connection.call(['GET', 'a'], 100, false);
  const fine = connection.call(['GET', 'b'], 100, false);
  wire.sent[0]?.fail(new SimpleError('MOVED 15495 10.0.0.2:7000'));
  wire.sent[1]?.reply('b');
  await assert.rejects(failing, { code: 'REDIS_REPLY', reply: 'MOVED', subjects: ['10.0.0.1:7000'] });
  assert.equal(await fine, 'b');
  assert.deepEqual(events, []);
});

test('closing tells apart what was sent and what was not', async () => {
  const early = setUp();
  const unsent = codeOf(early.connection.call(['A'], 100, false));
  early.connection.close();
  assert.equal(await unsent, 'REDIS_UNREACHABLE');

  const late = setUp();
  late.wire.connecting.resolve();
  await settled();
  const sent = codeOf(late.connection.call(['A'], 100, false));
  late.connection.close();
  assert.equal(await sent, 'REDIS_CONNECTION_LOST');
  assert.equal(await codeOf(late.connection.call(['B'], 100, false)), 'REDIS_UNREACHABLE');
});

const FAILURES: readonly [what: string, error: Error, usesTls: boolean, code: string][] = [
  ['refused', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }), false, 'REDIS_UNREACHABLE'],
  [
    'no such host',
    Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }),
    false,
    'REDIS_UNREACHABLE',
  ],
  ['wrong password', new SimpleError('WRONGPASS invalid username-password pair'), false, 'REDIS_AUTH'],
  ['no password set', new SimpleError('ERR AUTH <password> called without any password'), false, 'REDIS_AUTH'],
  ['self-signed', Object.assign(new Error('self-signed'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }), true, 'REDIS_TLS'],
  ['other name', Object.assign(new Error('altnames'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }), true, 'REDIS_TLS'],
  ['not TLS at all', Object.assign(new Error('reset'), { code: 'ECONNRESET' }), true, 'REDIS_TLS'],
  ['several addresses', new AggregateError([new Error('connect ECONNREFUSED ::1:1')]), false, 'REDIS_UNREACHABLE'],
];

for (const [what, error, usesTls, code] of FAILURES) {
  test(`a connection that fails (${what}) ends with ${code}`, async () => {
    const { wire, connection } = setUp({ usesTls });
    const call = connection.call(['PING'], 100, false);
    wire.connecting.reject(error);
    await assert.rejects(call, (reason: Error & { code: string }) => {
      assert.equal(reason.code, code);
      assert.match(reason.message, /10\.0\.0\.1:7000.*: .+/);
      return true;
    });
  });
}

test('whoever is not let in at the greeting sends nothing; any other error is an answer', async () => {
  const outside = setUp({ greeting: new SimpleError('NOAUTH Authentication required.') });
  const refused = codeOf(outside.connection.call(['GET', 'a'], 100, false));
  outside.wire.connecting.resolve();
  assert.equal(await refused, 'REDIS_AUTH');
  assert.equal(outside.wire.sent.length, 0);

  for (const text of ['LOADING the dataset', "NOPERM no permissions to run the 'ping' command"]) {
    const inside = setUp({ greeting: new SimpleError(text) });
    const call = inside.connection.call(['GET', 'a'], 100, false);
    inside.wire.connecting.resolve();
    await settled();
    inside.wire.sent[0]?.reply('a');
    assert.equal(await call, 'a');
  }
});

test('a password never gets into an error, whoever put it into the text', async () => {
  const { wire, connection } = setUp({ password: 'hunter2' });
  const call = connection.call(['AUTH', 'hunter2'], 100, false);
  wire.connecting.resolve();
  await settled();
  wire.sent[0]?.fail(new SimpleError("ERR unknown command 'AUTH', with args beginning with: 'hunter2'"));
  await assert.rejects(call, (reason: Error) => !JSON.stringify([reason.message, reason.stack]).includes('hunter2'));
});

test('a denied command is named, its arguments are not', async () => {
  const { wire, connection } = setUp();
  wire.connecting.resolve();
  await settled();
  const config = connection.call(['config', 'get', 'masterauth'], 100, false);
  const set = connection.call(['SET', 'secretkey', 'secretvalue'], 100, false);
  wire.sent[0]?.fail(new SimpleError('NOPERM this user has no permissions'));
  wire.sent[1]?.fail(new SimpleError('NOPERM this user has no permissions'));
  await assert.rejects(config, { code: 'REDIS_AUTH', message: /does not permit CONFIG GET: NOPERM/ });
  await assert.rejects(set, (reason: Error) => /permit SET:/.test(reason.message) && !/secret/.test(reason.message));
});
