import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { countSlots, formatSlots, rangesOf } from '../api/slots.ts';
import {
  clusterInfoOf,
  keyspaceOf,
  memoryOf,
  parseClusterNodes,
  parseInfo,
  parseSpacedSlots,
  replicationOf,
} from './parse.ts';
import {
  FILE_LINE,
  NO_ADDRESS_NODES,
  REDIS_NODES,
  REDIS_REPLICA_INFO,
  VALKEY_CLUSTER_INFO,
  VALKEY_INFO,
  VALKEY_NODES,
} from './samples.ts';

const A = '7a5d01460bc56bd75a5fc2cc204ed2af5edbaa15';
const B = '660050d26b81333a9a62421719b51ec1cf4e5d59';

describe('CLUSTER NODES', () => {
  test('a table of Valkey 9', () => {
    const lines = parseClusterNodes(VALKEY_NODES);
    assert.equal(lines.length, 5);
    assert.deepEqual(
      lines.find(({ id }) => id === A),
      {
        id: A,
        host: '127.0.0.1',
        port: 13615,
        busPort: 23615,
        flags: ['myself', 'master'],
        role: 'primary',
        configEpoch: 0,
        linkUp: true,
        slots: [
          [0, 100],
          [200, 300],
          [5000, 5000],
        ],
        migrating: [
          { slot: 200, peer: B },
          { slot: 5000, peer: B },
        ],
        importing: [],
      },
    );
  });

  test('addresses of IPv6 have colons of their own', () => {
    const line = parseClusterNodes(VALKEY_NODES).at(-1);
    assert.deepEqual([line?.host, line?.port, line?.busPort], ['::1', 13055, 23055]);
  });

  test('handshakes keep their flag: their ids are made up', () => {
    const flags = parseClusterNodes(VALKEY_NODES).map((line) => line.flags.join());
    assert.deepEqual(flags, ['handshake', 'handshake', 'myself,master', 'master', 'master']);
  });

  test('a table of Redis 7: importing, failing, replicas', () => {
    const [self, other, replica] = parseClusterNodes(REDIS_NODES);
    assert.deepEqual(self?.importing, [{ slot: 5000, peer: other?.id }]);
    assert.deepEqual(self?.migrating, []);
    assert.deepEqual([other?.flags, other?.linkUp, other?.configEpoch], [['master', 'fail?'], false, 1]);
    assert.deepEqual([replica?.role, replica?.primaryId, replica?.slots], ['replica', self?.id, []]);
  });

  test('an unknown address is empty, not a guess', () => {
    const [self, lost] = parseClusterNodes(NO_ADDRESS_NODES);
    assert.deepEqual([self?.host, self?.port], ['', 31815]);
    assert.deepEqual([lost?.host, lost?.port, lost?.busPort], ['', 0, 0]);
    assert.deepEqual(lost?.flags, ['slave', 'fail', 'noaddr']);
  });

  test('further fields of the address are left alone', () => {
    const [line] = parseClusterNodes(FILE_LINE);
    assert.deepEqual([line?.host, line?.port, line?.busPort], ['127.0.0.1', 31820, 41820]);
    assert.equal(formatSlots(line?.slots ?? []), '11-19,31-5460');
  });

  test('an address without a bus port, as before Redis 4', () => {
    const [line] = parseClusterNodes(`${A} 10.0.0.1:6379 master - 0 0 1 connected`);
    assert.deepEqual([line?.port, line?.busPort], [6379, 0]);
  });

  test('what is no line of a node is left out', () => {
    const noise = `vars currentEpoch 7 lastVoteEpoch 0\n\nshort ${A}\n${A} nowhere master - 0 0 1 connected\n`;
    assert.deepEqual(parseClusterNodes(noise), []);
    assert.deepEqual(parseClusterNodes(''), []);
  });

  test('slots are always sorted and apart, whatever order they are sent in', () => {
    const ranges = fc.array(fc.tuple(fc.nat(16383), fc.nat(40)), { maxLength: 30 });
    fc.assert(
      fc.property(ranges, (drawn) => {
        const pairs = drawn.map(([first, more]) => [first, Math.min(16383, first + more)] as const);
        const text = pairs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(' ');
        const [line] = parseClusterNodes(`${A} 10.0.0.1:1@2 master - 0 0 1 connected ${text}`);
        const all = pairs.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, n) => first + n));
        assert.deepEqual(line?.slots, rangesOf(all));
      }),
      { numRuns: 200 },
    );
  });
});

describe('INFO and CLUSTER INFO', () => {
  test('fields without section titles, with colons in values', () => {
    const fields = parseInfo(REDIS_REPLICA_INFO);
    assert.equal(fields.master_host, '::1');
    assert.equal(fields['# Server'], undefined);
    assert.equal(Object.keys(parseInfo('')).length, 0);
    assert.equal(parseInfo('toString:1\n').toString, '1');
  });

  test('cluster', () => {
    assert.deepEqual(clusterInfoOf(parseInfo(VALKEY_CLUSTER_INFO)), {
      state: 'ok',
      size: 3,
      currentEpoch: 7,
    });
    assert.equal(clusterInfoOf(parseInfo('cluster_state:fail\r\n')).state, 'fail');
  });

  test('a primary', () => {
    assert.deepEqual(replicationOf(parseInfo(VALKEY_INFO)), { role: 'primary', offset: 532 });
  });

  test('a replica: its own offset, not the one it would have as a primary', () => {
    assert.deepEqual(replicationOf(parseInfo(REDIS_REPLICA_INFO)), {
      role: 'replica',
      linkUp: false,
      syncInProgress: true,
      offset: 17,
    });
  });

  test('memory', () => {
    assert.deepEqual(memoryOf(parseInfo(VALKEY_INFO)), {
      usedBytes: 2852416,
      maxBytes: 1073741824,
      systemBytes: 25274793984,
    });
  });

  test('keys of all databases; none is an empty object', () => {
    assert.deepEqual(keyspaceOf(parseInfo(VALKEY_INFO)), { 0: 1, 2: 20 });
    assert.deepEqual(keyspaceOf(parseInfo(REDIS_REPLICA_INFO)), {});
  });
});

test('slots of atomic migrations', () => {
  assert.equal(formatSlots(parseSpacedSlots('0-10 20-30')), '0-10,20-30');
  assert.equal(countSlots(parseSpacedSlots('')), 0);
});
