import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '@reeve/runtime';
import { freePort, makeCertificates, type Product, type Server, startServer, until } from '@reeve/rig';
import { type RedisPort, RedisReplyError } from '../api/port.ts';
import { type ConnectOptions, connectRedis } from './client.ts';

const PRODUCTS: readonly Product[] = ['valkey', 'redis'];
const USERS = [
  'user default on >letmein ~* &* +@all',
  'user reeve on >s3cret ~* &* +@all -config',
  'user off off >s3cret ~* &* +@all',
];

async function withPort<T>(options: ConnectOptions, use: (port: RedisPort) => Promise<T>): Promise<T> {
  const port = connectRedis(options, { clock: systemClock });
  try {
    return await use(port);
  } finally {
    await port.close();
  }
}

for (const product of PRODUCTS) {
  describe(`the port to ${product}`, () => {
    let server: Server;
    let port: RedisPort;
    before(async () => {
      server = await startServer({ product, clusterEnabled: false });
      port = connectRedis({}, { clock: systemClock });
    });
    after(async () => {
      await port.close();
      await server.stop();
    });

    test('calls of one tick travel together and their replies come in their order', async () => {
      const { endpoint } = server;
      await port.call(endpoint, ['CONFIG', 'RESETSTAT']);
      const sums = Array.from({ length: 2000 }, () => port.call(endpoint, ['INCR', 'counter'], { lane: 'bulk' }));
      assert.deepEqual(
        await Promise.all(sums),
        sums.map((_, index) => index + 1),
      );
      // 2,000 commands of 30 bytes in far fewer reads of the server than commands.
      const stats = String(await port.call(endpoint, ['INFO', 'stats']));
      const reads = Number(/total_reads_processed:(\d+)/.exec(stats)?.[1]);
      assert.ok(reads < 200, `${reads} reads`);
    });

    test('keys and values of any bytes come back as they are', async () => {
      const { endpoint } = server;
      const key = Buffer.from([0x00, 0xff, 0x0d, 0x0a, 0xc3, 0x28]);
      const value = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
      assert.equal(await port.call(endpoint, ['SET', key, value]), 'OK');
      assert.deepEqual(await port.call(endpoint, ['GET', key], { binary: true }), value);
      assert.deepEqual(await port.call(endpoint, ['MGET', key, 'none'], { binary: true }), [value, null]);
      const payload = await port.call(endpoint, ['DUMP', key], { binary: true });
      assert.ok(Buffer.isBuffer(payload));
      assert.equal(await port.call(endpoint, ['RESTORE', 'copy', '0', payload]), 'OK');
      assert.deepEqual(await port.call(endpoint, ['GET', 'copy'], { binary: true }), value);
    });

    test('text and binary calls mix in one pipeline', async () => {
      const { endpoint } = server;
      const replies = await Promise.all([
        port.call(endpoint, ['ECHO', 'ü']),
        port.call(endpoint, ['ECHO', 'ü'], { binary: true }),
        port.call(endpoint, ['ECHO', 'ü']),
      ]);
      assert.deepEqual(replies, ['ü', Buffer.from('ü'), 'ü']);
    });

    test('a transaction is whole: replies of all, or the error of the first that failed and where it stood', async () => {
      const { endpoint } = server;
      const commands = [
        ['SET', 'n', '1'],
        ['INCR', 'n'],
        ['GET', 'n'],
      ];
      assert.deepEqual(await port.transaction(endpoint, commands), ['OK', 2, '2']);
      await assert.rejects(
        port.transaction(endpoint, [
          ['SET', 'n', 'x'],
          ['INCR', 'n'],
          ['LPUSH', 'n', 'y'],
        ]),
        { code: 'REDIS_REPLY', reply: 'ERR', message: /not an integer.*\(command 2 of 3 in a transaction: INCR\)/ },
      );
      await assert.rejects(port.transaction(endpoint, [['SET', 'n', '7'], ['NOSUCHCOMMAND']]), {
        code: 'REDIS_REPLY',
        message: /unknown command.*\(command 2 of 2/,
      });
      assert.equal(await port.call(endpoint, ['GET', 'n']), 'x', 'the second transaction was not carried out at all');
    });

    test('nothing comes between the commands of a transaction', async () => {
      const { endpoint } = server;
      const results = await Promise.all([
        port.call(endpoint, ['SET', 'between', '0']),
        port.transaction(
          endpoint,
          Array.from({ length: 200 }, () => ['INCR', 'between']),
        ),
        port.call(endpoint, ['INCR', 'between']),
      ]);
      assert.equal(results[1].at(-1), 200);
      assert.equal(results[2], 201);
    });

    test('an error reply rejects its own call only', async () => {
      const { endpoint } = server;
      await port.call(endpoint, ['SET', 'word', 'x']);
      const [wrong, right] = await Promise.allSettled([
        port.call(endpoint, ['LPUSH', 'word', 'y']),
        port.call(endpoint, ['GET', 'word']),
      ]);
      assert.ok(wrong.status === 'rejected' && wrong.reason instanceof RedisReplyError);
      assert.equal(wrong.reason.reply, 'WRONGTYPE');
      assert.equal(right.status === 'fulfilled' && right.value, 'x');
    });

    test('a server that does not answer in time: unknown; the next call has a connection of its own', async () => {
      const { endpoint } = server;
      await port.call(endpoint, ['PING']);
      server.pause();
      try {
        await assert.rejects(port.call(endpoint, ['SET', 'late', '1'], { timeoutMs: 150 }), { code: 'REDIS_TIMEOUT' });
        await assert.rejects(port.call(endpoint, ['SET', 'later', '1'], { timeoutMs: 150 }), {
          code: 'REDIS_UNREACHABLE',
        });
      } finally {
        server.resume();
      }
      assert.equal(await port.call(endpoint, ['EXISTS', 'later']), 0);
    });

    test('the lanes do not wait for each other', async () => {
      const { endpoint } = server;
      const blocked = port.call(endpoint, ['BLPOP', 'nolist', '0'], { lane: 'bulk', timeoutMs: 60_000 });
      assert.equal(await port.call(endpoint, ['PING'], { lane: 'control' }), 'PONG');
      await until('the blocked client is seen', async () =>
        /blocked_clients:1/.test(String(await port.call(endpoint, ['INFO', 'clients']))),
      );
      await port.call(endpoint, ['LPUSH', 'nolist', 'x']);
      assert.deepEqual(await blocked, ['nolist', 'x']);
    });

    test('a server killed in the middle of a call: lost, then unreachable, then there again', async () => {
      const { endpoint } = server;
      const waiting = port.call(endpoint, ['BLPOP', 'never', '0'], { timeoutMs: 60_000 });
      waiting.catch(() => undefined);
      await until('the server has the call', async () =>
        /blocked_clients:1/.test(String(await server.call('INFO', 'clients'))),
      );
      await server.kill9();
      await assert.rejects(waiting, { code: 'REDIS_CONNECTION_LOST' });
      await assert.rejects(port.call(endpoint, ['PING']), { code: 'REDIS_UNREACHABLE' });
      await server.restart();
      assert.equal(await port.call(endpoint, ['PING']), 'PONG');
    });
  });

  describe(`users and passwords of ${product}`, () => {
    let server: Server;
    before(async () => {
      server = await startServer({
        product,
        clusterEnabled: false,
        users: USERS,
        username: 'default',
        password: 'letmein',
      });
    });
    after(() => server.stop());

    test('the right ones are let in', async () => {
      const ping = (port: RedisPort) => port.call(server.endpoint, ['PING']);
      assert.equal(await withPort({ password: 'letmein' }, ping), 'PONG');
      const whoami = (port: RedisPort) => port.call(server.endpoint, ['ACL', 'WHOAMI']);
      assert.equal(await withPort({ username: 'reeve', password: 's3cret' }, whoami), 'reeve');
    });

    test('none, wrong ones and those of a disabled user are told apart from a dead server, without the password', async () => {
      const refused: readonly ConnectOptions[] = [
        {},
        { password: 'not-it-at-all' },
        { username: 'reeve', password: 'not-it-at-all' },
        { username: 'off', password: 's3cret' },
      ];
      for (const options of refused) {
        await withPort(options, (port) =>
          assert.rejects(port.call(server.endpoint, ['PING']), (error: Error & { code: string }) => {
            assert.equal(error.code, 'REDIS_AUTH');
            assert.ok(options.password === undefined || !`${error.message}${error.stack}`.includes(options.password));
            return true;
          }),
        );
      }
    });

    test('what a user may not do is named', async () => {
      await withPort({ username: 'reeve', password: 's3cret' }, async (port) => {
        await assert.rejects(port.call(server.endpoint, ['CONFIG', 'GET', 'port']), {
          code: 'REDIS_AUTH',
          message: /does not permit CONFIG GET/,
        });
        await assert.rejects(port.transaction(server.endpoint, [['PING'], ['CONFIG', 'GET', 'port']]), {
          code: 'REDIS_AUTH',
          message: /CONFIG GET.*\(command 2 of 2/,
        });
        assert.equal(await port.call(server.endpoint, ['PING']), 'PONG');
      });
    });

    test('what MIGRATE must pass on', async () => {
      await withPort({ username: 'u', password: 'p' }, async (port) =>
        assert.deepEqual(port.migrateAuth(), ['AUTH2', 'u', 'p']),
      );
      await withPort({ password: 'p' }, async (port) => assert.deepEqual(port.migrateAuth(), ['AUTH', 'p']));
      await withPort({}, async (port) => assert.deepEqual(port.migrateAuth(), []));
    });
  });

  describe(`TLS of ${product}`, () => {
    let server: Server;
    let tls: { ca: string; cert: string; key: string };
    let plain: Server;
    before(async () => {
      const certificates = await makeCertificates();
      tls = { ca: certificates.ca, cert: certificates.cert, key: certificates.key };
      server = await startServer({ product, clusterEnabled: false, tls: certificates });
      plain = await startServer({ product, clusterEnabled: false });
    });
    after(async () => {
      await server.stop();
      await plain.stop();
    });

    const codeWith = (options: ConnectOptions, to: () => Server): Promise<string> =>
      withPort({ ...options, connectTimeoutMs: 15_000 }, (port) =>
        port.call(to().endpoint, ['PING']).then(String, (error: { code: string }) => error.code),
      );

    test('with the right authority and certificate', async () => {
      assert.equal(await codeWith({ tls }, () => server), 'PONG');
    });

    test('with another name in the certificate, unless it is given or nothing is verified', async () => {
      const named = { ...tls, servername: 'localhost' };
      assert.equal(await codeWith({ tls: named }, () => server), 'PONG');
      const other = { ...tls, servername: 'elsewhere.example' };
      assert.equal(await codeWith({ tls: other }, () => server), 'REDIS_TLS');
      assert.equal(await codeWith({ tls: { ...other, insecure: true } }, () => server), 'PONG');
    });

    test('with an authority that is not ours', async () => {
      assert.equal(await codeWith({ tls: { cert: tls.cert, key: tls.key } }, () => server), 'REDIS_TLS');
    });

    test('without the certificate that the server asks for', async () => {
      assert.equal(await codeWith({ tls: { ca: tls.ca } }, () => server), 'REDIS_TLS');
    });

    test('to a server that does not speak it, and the other way round', async () => {
      // A plain server takes the handshake for the beginning of a command and waits for the rest.
      await withPort({ tls, connectTimeoutMs: 500 }, (port) =>
        assert.rejects(port.call(plain.endpoint, ['SET', 'a', 'b']), {
          code: 'REDIS_UNREACHABLE',
          message: /does it speak TLS\?/,
        }),
      );
      await withPort({}, (port) =>
        assert.rejects(port.call(server.endpoint, ['SET', 'a', 'b']), {
          code: 'REDIS_UNREACHABLE',
          message: /does it expect TLS\?/,
        }),
      );
    });
  });
}

test('a port where nobody listens: unreachable at once', async () => {
  await withPort({}, async (port) => {
    const endpoint = { host: '127.0.0.1', port: await freePort() };
    await assert.rejects(port.call(endpoint, ['PING']), { code: 'REDIS_UNREACHABLE', message: /ECONNREFUSED/ });
  });
});

test('a listener that never says anything: nothing was sent to it', async () => {
  const mute = createServer(() => undefined);
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  const address = mute.address();
  assert.ok(address !== null && typeof address === 'object');
  const endpoint = { host: '127.0.0.1', port: address.port };
  try {
    const call = (port: RedisPort) => port.call(endpoint, ['SET', 'a', 'b'], { timeoutMs: 200 });
    await withPort({ password: 'x' }, (port) => assert.rejects(call(port), { code: 'REDIS_UNREACHABLE' }));
    await withPort({}, (port) => assert.rejects(call(port), { code: 'REDIS_UNREACHABLE' }));
  } finally {
    mute.close();
  }
});

test('a closed port sends nothing any more', async () => {
  const port = connectRedis({}, { clock: systemClock });
  await port.close();
  await assert.rejects(port.call({ host: '127.0.0.1', port: 1 }, ['PING']), { code: 'REDIS_UNREACHABLE' });
  await assert.rejects(port.transaction({ host: '127.0.0.1', port: 1 }, [['PING']]), { code: 'REDIS_UNREACHABLE' });
});
