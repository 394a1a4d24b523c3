import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Clock, ReeveError } from '@reeve/runtime';
import type { Needs } from '../api/operation.ts';
import type { Reply } from '../api/port.ts';
import { observeNode } from './node.ts';
import { REDIS_NODES, REDIS_REPLICA_INFO, VALKEY_INFO, VALKEY_NODES } from './samples.ts';
import { type ScriptedServer, scriptedPort, serverWith, valkeyAnswers } from './scripted.ts';

const ENDPOINT = { host: '127.0.0.1', port: 13615 };
const clock: Clock = { now: () => 0, sleep: async () => undefined };

function observe(server: ScriptedServer, needs: Needs = {}) {
  return observeNode(scriptedPort({ '127.0.0.1:13615': server }), { clock }, ENDPOINT, needs);
}

test('what a Valkey 9 primary tells of itself', async () => {
  const report = await observe(serverWith(valkeyAnswers(VALKEY_NODES)));
  assert.equal(report.self.id, '7a5d01460bc56bd75a5fc2cc204ed2af5edbaa15');
  assert.equal(report.others.length, 4);
  assert.deepEqual(report.server, {
    product: 'valkey',
    version: '9.1.2',
    capabilities: {
      atomicMigration: true,
      redisAtomicMigration: false,
      slotStats: true,
      functions: true,
    },
    nodeTimeoutMs: { known: true, value: 15000 },
  });
  assert.deepEqual(report.keyspace, { 0: 1, 2: 20 });
  assert.deepEqual(report.functionLibraries, { known: true, value: 1 });
  assert.deepEqual(report.keysBeyondSlots, { known: false, why: 'not asked' });
  assert.deepEqual(report.slotMeasures, {});
});

test('everything goes out in one write: no question waits for an answer', async () => {
  const asked: string[] = [];
  const pending = scriptedPort({});
  const report = observeNode(
    {
      ...pending,
      call: (_endpoint, args) => {
        asked.push(args.slice(0, 2).join(' '));
        return new Promise(() => undefined);
      },
    },
    { clock },
    ENDPOINT,
    {},
  );
  report.catch(() => undefined);
  assert.deepEqual(asked.sort(), [
    'CLUSTER GETSLOTMIGRATIONS',
    'CLUSTER INFO',
    'CLUSTER NODES',
    'COMMAND INFO',
    'CONFIG GET',
    'FUNCTION LIST',
    'INFO',
  ]);
});

test('what a Redis 7 replica tells: commands it does not have are no failure', async () => {
  const report = await observe(
    serverWith({
      INFO: REDIS_REPLICA_INFO,
      'CLUSTER NODES': REDIS_NODES.replace('myself,master', 'myself,slave'),
      'CLUSTER INFO': 'cluster_state:fail\r\n',
      'COMMAND INFO': [null, null, null, ['function|list']],
      'CONFIG GET': ['cluster-node-timeout', '5000'],
      'FUNCTION LIST': [],
    }),
    { keysBeyondSlots: true, measureSlots: 'bytes' },
  );
  assert.equal(report.server.product, 'redis');
  assert.equal(report.server.version, '7.0.15');
  assert.equal(report.server.capabilities.atomicMigration, false);
  assert.equal(report.info.state, 'fail');
  assert.deepEqual(report.atomicJobs, { known: true, value: [] });
  assert.deepEqual(report.slotMeasures, {});
  assert.equal(report.keysBeyondSlots.known, false);
});

describe('what is denied is unknown with the reason', () => {
  const denied = (what: string) => new ReeveError('REDIS_AUTH', `10.0.0.1:1 does not permit ${what}`);

  test('CONFIG, FUNCTION and COMMAND', async () => {
    const report = await observe(
      serverWith({
        ...valkeyAnswers(VALKEY_NODES),
        'CONFIG GET': denied('CONFIG GET'),
        'FUNCTION LIST': denied('FUNCTION LIST'),
        'COMMAND INFO': denied('COMMAND INFO'),
      }),
    );
    assert.deepEqual(report.server.nodeTimeoutMs, { known: false, why: '10.0.0.1:1 does not permit CONFIG GET' });
    assert.deepEqual(report.functionLibraries, { known: false, why: '10.0.0.1:1 does not permit FUNCTION LIST' });
    // GETSLOTMIGRATIONS was answered, so there is atomic migration; FUNCTION was not.
    assert.deepEqual(report.server.capabilities, {
      atomicMigration: true,
      redisAtomicMigration: false,
      slotStats: false,
      functions: false,
    });
  });

  test('migrations of a server that can have them are unknown, not absent', async () => {
    const what = 'CLUSTER GETSLOTMIGRATIONS';
    const report = await observe(serverWith({ ...valkeyAnswers(VALKEY_NODES), [what]: denied(what) }));
    assert.deepEqual(report.atomicJobs, { known: false, why: `10.0.0.1:1 does not permit ${what}` });
    const redis = { ...valkeyAnswers(VALKEY_NODES), [what]: new Error("ERR unknown subcommand 'GETSLOTMIGRATIONS'") };
    const status = 'CLUSTER MIGRATION STATUS';
    const abilities = [null, ['cluster|migration'], null, null];
    const other = await observe(serverWith({ ...redis, 'COMMAND INFO': abilities, [status]: denied(status) }));
    assert.deepEqual(other.atomicJobs, { known: false, why: `10.0.0.1:1 does not permit ${status}` });
  });

  test('without INFO or CLUSTER NODES there is no report', async () => {
    for (const what of ['INFO', 'CLUSTER NODES', 'CLUSTER INFO']) {
      const answers = { ...valkeyAnswers(VALKEY_NODES), [what]: denied(what) };
      await assert.rejects(observe(serverWith(answers)), { code: 'REDIS_AUTH', message: new RegExp(what) });
    }
  });
});

test('a server that is not in cluster mode is told apart', async () => {
  const off = new Error('ERR This instance has cluster support disabled');
  const answers = { ...valkeyAnswers(''), 'CLUSTER NODES': off, 'CLUSTER INFO': off };
  await assert.rejects(observe(serverWith(answers)), { code: 'CLUSTER_DISABLED' });
});

test('a table without a line about itself is no table', async () => {
  const text = VALKEY_NODES.replace('myself,', '');
  await assert.rejects(observe(serverWith(valkeyAnswers(text))), { code: 'REDIS_NO_IDENTITY' });
});

test('only jobs that have not ended, of Valkey and of Redis', async () => {
  const job = (name: string, state: string): Reply => [
    ...['name', name, 'operation', 'EXPORT', 'slot_ranges', '0-10 20-30', 'target_node', 'b'.repeat(40)],
    ...['source_node', 'a'.repeat(40), 'create_time', 1794781028, 'state', state, 'message', '', 'cow_size', 0],
  ];
  const valkey = await observe(
    serverWith({
      ...valkeyAnswers(VALKEY_NODES),
      'CLUSTER GETSLOTMIGRATIONS': [job('one', 'success'), job('two', 'snapshotting'), job('three', 'failed')],
    }),
  );
  assert.deepEqual(valkey.atomicJobs, {
    known: true,
    value: [
      {
        name: 'two',
        operation: 'export',
        slots: [
          [0, 10],
          [20, 30],
        ],
        sourceId: 'a'.repeat(40),
        targetId: 'b'.repeat(40),
        state: 'snapshotting',
        message: '',
      },
    ],
  });
  const redis = await observe(
    serverWith({
      ...valkeyAnswers(VALKEY_NODES),
      'COMMAND INFO': [null, ['cluster|migration'], null, ['function|list']],
      'CLUSTER GETSLOTMIGRATIONS': new Error('ERR unknown subcommand'),
      'CLUSTER MIGRATION STATUS ALL': [
        ['id', 'x', 'slots', '5', 'source', 's', 'dest', 'd', 'operation', 'import', 'state', 'completed'],
        ['id', 'y', 'slots', '7-9', 'source', 's', 'dest', 'd', 'operation', 'import', 'state', 'stream-apply'],
      ],
    }),
  );
  assert.ok(redis.atomicJobs.known);
  assert.deepEqual(
    redis.atomicJobs.value.map(({ name, operation, slots, sourceId, targetId }) => [
      name,
      operation,
      slots,
      sourceId,
      targetId,
    ]),
    [['y', 'import', [[7, 9]], 's', 'd']],
  );
});

describe('slots', () => {
  const oneDatabase = VALKEY_INFO.replace(/db2:.*\r\n/, '');
  const withoutStats = [['cluster|migrateslots'], null, null, ['function|list']];
  const base = { ...valkeyAnswers(VALKEY_NODES), INFO: oneDatabase };

  test('keys of the asked slots, owned or not, in every database that has keys', async () => {
    let database = '0';
    const server = serverWith({
      ...valkeyAnswers(VALKEY_NODES),
      SELECT: (args) => {
        database = String(args[1]);
        return 'OK';
      },
      // COUNTKEYSINSLOT looks at the selected database only.
      'CLUSTER COUNTKEYSINSLOT': (args) => Number(args[2]) * (database === '0' ? 1 : 1000),
    });
    const port = scriptedPort({ '127.0.0.1:13615': server });
    const report = await observeNode(port, { clock }, ENDPOINT, { countKeysIn: [[7, 8]] });
    assert.deepEqual(report.slotMeasures, { 7: { keys: 7007 }, 8: { keys: 8008 } });
    assert.equal(database, '0', 'the connection is back in database 0');
    assert.ok(!port.log.some((line) => line.endsWith('SELECT 1')), 'a database without keys is not asked');
  });

  test('a slot that could not be counted is missing, not empty', async () => {
    const server = serverWith({
      ...base,
      'CLUSTER COUNTKEYSINSLOT': (args) => (args[2] === '8' ? new Error('ERR no') : 3),
    });
    const report = await observe(server, { countKeysIn: [[7, 9]] });
    assert.deepEqual(report.slotMeasures, { 7: { keys: 3 }, 9: { keys: 3 } });
  });

  test('all own slots by SLOT-STATS, with what the server measures', async () => {
    const stats = ['key-count', 3, 'cpu-usec', 60, 'network-bytes-in', 111, 'network-bytes-out', 15];
    const server = serverWith({
      ...base,
      'CLUSTER SLOT-STATS SLOTSRANGE': (args) =>
        Array.from({ length: Number(args[4]) - Number(args[3]) + 1 }, (_, n) => [Number(args[3]) + n, stats]),
    });
    const report = await observe(server, { measureSlots: 'load' });
    assert.equal(Object.keys(report.slotMeasures).length, 203);
    assert.deepEqual(report.slotMeasures[5000], {
      keys: 3,
      cpuUsec: 60,
      networkBytesIn: 111,
      networkBytesOut: 15,
    });
  });

  test('without SLOT-STATS each own slot is counted', async () => {
    const server = serverWith({ ...base, 'COMMAND INFO': withoutStats, 'CLUSTER COUNTKEYSINSLOT': 2 });
    const report = await observe(server, { measureSlots: 'keys' });
    assert.equal(Object.keys(report.slotMeasures).length, 203);
    assert.deepEqual(report.slotMeasures[0], { keys: 2 });
  });

  test('bytes are those of the server, or estimated from a few keys of each slot', async () => {
    const range: ScriptedServer = (args) => [[Number(args[3]), ['key-count', 100, 'memory-bytes', 4242]]];
    const told = await observe(serverWith({ ...base, 'CLUSTER SLOT-STATS SLOTSRANGE': range }), {
      measureSlots: 'bytes',
    });
    assert.deepEqual(told.slotMeasures[5000], { keys: 100, bytes: 4242 });

    const estimated = await observe(
      serverWith({
        ...base,
        'COMMAND INFO': withoutStats,
        'CLUSTER COUNTKEYSINSLOT': (args) => (args[2] === '5000' ? 100 : 0),
        'CLUSTER GETKEYSINSLOT 5000': [Buffer.from('a'), Buffer.from('b'), Buffer.from('gone')],
        'MEMORY USAGE a': 50,
        'MEMORY USAGE b': 150,
        'MEMORY USAGE gone': null,
      }),
      { measureSlots: 'bytes' },
    );
    assert.deepEqual(estimated.slotMeasures[5000], { keys: 100, bytes: 10_000 });
    assert.deepEqual(estimated.slotMeasures[0], { keys: 0, bytes: 0 });
  });
});

describe('keys outside their slots', () => {
  // The node of REDIS_NODES owns 301-400 and imports 5000; it has a second database.
  const counts = { 301: 3, 400: 2, 5000: 4 } as Readonly<Record<string, number>>;
  const answers = {
    ...valkeyAnswers(REDIS_NODES),
    SELECT: 'OK',
    DBSIZE: 10,
    'CLUSTER COUNTKEYSINSLOT': ([, , slot = '']: readonly string[]) => counts[slot] ?? 0,
  };

  test('are all keys less those of the slots served, in every database; imported slots count as served', async () => {
    const report = await observe(serverWith(answers), { keysBeyondSlots: true });
    assert.deepEqual(report.keysBeyondSlots, { known: true, value: 2 });
  });

  test('are unknown when they cannot be counted at one moment', async () => {
    const report = await observe(serverWith({ ...answers, DBSIZE: new Error('ERR no') }), { keysBeyondSlots: true });
    assert.equal(report.keysBeyondSlots.known, false);
  });
});
