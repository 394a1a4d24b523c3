import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import {
  type Cluster,
  connect,
  freePort,
  makeCertificates,
  nodeId,
  type Product,
  type Server,
  startCluster,
  startServer,
  tagForSlot,
  until,
} from '@reeve/rig';
import { systemClock } from '@reeve/runtime';
import { slotOfKey } from '../api/crc16.ts';
import type { RedisPort } from '../api/port.ts';
import { countSlots, rangesOf } from '../api/slots.ts';
import type { ClusterView, NodeReport } from '../api/view.ts';
import { connectRedis } from '../client/client.ts';
import { type ObserveOptions, observeCluster } from './observe.ts';

const PRODUCTS: readonly Product[] = ['valkey', 'redis'];
const ports = { clock: systemClock };

/** Each key of a batch goes to the server that owns its slot. */
async function fill(cluster: Cluster, port: RedisPort, keys: readonly string[], value: string): Promise<void> {
  const view = await observeCluster(port, ports, [cluster.endpoints[0] as { host: string; port: number }], {});
  for (const key of keys) {
    const owner = view.nodes.find(
      ({ report }) =>
        report.known && report.value.self.slots.some(([a, b]) => slotOfKey(key) >= a && slotOfKey(key) <= b),
    );
    assert.ok(owner);
    await port.call(owner.endpoint, ['SET', key, value]);
  }
}

function reports(view: ClusterView): readonly NodeReport[] {
  return view.nodes.map(({ id, report }) => {
    assert.ok(report.known, `${id}: ${report.known ? '' : report.why}`);
    return report.value;
  });
}

for (const product of PRODUCTS) {
  describe(`a 3+3 cluster of ${product}`, () => {
    let cluster: Cluster;
    let port: RedisPort;
    const observe = (options: ObserveOptions = {}, from = 0) =>
      observeCluster(port, ports, [cluster.endpoints[from] as { host: string; port: number }], options);

    before(async () => {
      cluster = await startCluster({ product, primaries: 3, replicas: 1 });
      port = connectRedis({}, ports);
    });
    after(async () => {
      await port.close();
      await cluster.stop();
    });

    test('is found from any of its nodes, and all views agree with what the servers were told', async () => {
      const ids = (await Promise.all(cluster.servers.map(nodeId))).sort();
      for (const from of cluster.servers.keys()) {
        const view = await observe({}, from);
        assert.deepEqual(
          view.nodes.map((node) => node.id),
          ids,
        );
        assert.deepEqual(view.silent, []);
        for (const node of view.nodes) {
          assert.equal(node.heard.flatMap(({ by }) => by).length, 5);
          assert.ok(node.heard.every(({ line }) => line.port === node.endpoint.port));
        }
      }
    });

    test('tells product, version, abilities and settings by asking', async () => {
      for (const { server } of reports(await observe())) {
        assert.equal(server.product, product);
        assert.match(server.version, product === 'valkey' ? /^9\./ : /^7\./);
        assert.equal(server.capabilities.atomicMigration, product === 'valkey');
        assert.equal(server.capabilities.slotStats, product === 'valkey');
        assert.equal(server.capabilities.redisAtomicMigration, false);
        assert.deepEqual(server.nodeTimeoutMs, { known: true, value: 5000 });
      }
    });

    test('tells roles, slots, epochs and replication', async () => {
      const all = reports(await observe());
      const primaries = all.filter(({ self }) => self.role === 'primary');
      const replicas = all.filter(({ self }) => self.role === 'replica');
      assert.equal(primaries.length, 3);
      assert.equal(
        primaries.reduce((sum, { self }) => sum + countSlots(self.slots), 0),
        16384,
      );
      assert.equal(new Set(primaries.map(({ self }) => self.configEpoch)).size, 3);
      for (const { replication, self } of replicas) {
        assert.equal(replication.linkUp, true);
        assert.ok(primaries.some((primary) => primary.self.id === self.primaryId));
      }
      for (const { info, functionLibraries, memory } of all) {
        assert.deepEqual([info.state, info.size], ['ok', 3]);
        assert.deepEqual(functionLibraries, { known: true, value: 0 });
        assert.ok(memory.usedBytes > 0);
      }
    });

    test('counts keys of slots on every primary, owner or not', async () => {
      await fill(cluster, port, ['{a}1', '{a}2', '{a}3', 'b'], 'x');
      const slotA = slotOfKey('a');
      const view = await observe({ countKeysIn: rangesOf([slotA, 0]) });
      const counts = reports(view)
        .filter(({ self }) => self.role === 'primary')
        .map(({ slotMeasures }) => slotMeasures[slotA]?.keys);
      assert.deepEqual(counts.sort(), [0, 0, 3]);
    });

    test('measures keys and bytes of all slots', async () => {
      await fill(cluster, port, ['{big}1', '{big}2'], 'y'.repeat(10_000));
      const all = reports(await observe({ measureSlots: 'bytes' })).filter(({ self }) => self.role === 'primary');
      const slot = slotOfKey('big');
      const measures = all.flatMap(({ slotMeasures }) => slotMeasures[slot] ?? []);
      assert.equal(measures.length, 1);
      assert.equal(measures[0]?.keys, 2);
      const bytes = measures[0]?.bytes ?? 0;
      assert.ok(bytes > 20_000 && bytes < 40_000, `${bytes} bytes`);
      const measured = all.reduce((sum, { slotMeasures }) => sum + Object.keys(slotMeasures).length, 0);
      assert.equal(measured, 16384);
    });

    test('finds keys outside their slots, and none where there are none', async () => {
      const strays = async () =>
        reports(await observe({ keysBeyondSlots: true }))
          .filter(({ self }) => self.role === 'primary')
          .map(({ keysBeyondSlots: beyond }) => (beyond.known ? beyond.value : beyond.why));
      assert.deepEqual(await strays(), [0, 0, 0]);
      // Keys of a slot of primary 0 on primary 1, which had it opened for them and closed again.
      const [owner, other] = cluster.primaries as [Server, Server];
      await other.call('CLUSTER', 'SETSLOT', 17, 'IMPORTING', await nodeId(owner));
      const connection = await connect(other.endpoint, other.access);
      for (const name of ['a', 'b']) {
        await connection.call('ASKING');
        await connection.call('SET', `${name}{${tagForSlot(17)}}`, 'x');
      }
      assert.deepEqual(await strays(), [0, 0, 0], 'while it is open they are in their place');
      await other.call('CLUSTER', 'SETSLOT', 17, 'STABLE');
      assert.deepEqual((await strays()).sort(), [0, 0, 2]);
      await other.call('CLUSTER', 'SETSLOT', 17, 'IMPORTING', await nodeId(owner));
      for (const name of ['a', 'b']) {
        await connection.call('ASKING');
        await connection.call('DEL', `${name}{${tagForSlot(17)}}`);
      }
      connection.close();
      await other.call('CLUSTER', 'SETSLOT', 17, 'STABLE');
    });

    test('measures load where the server does, and says nothing of it where it does not', async () => {
      const measured = async () =>
        reports(await observe({ measureSlots: 'load' }))
          .filter(({ self }) => self.role === 'primary')
          .flatMap(({ slotMeasures }) => Object.values(slotMeasures));
      assert.ok((await measured()).every(({ cpuUsec }) => cpuUsec === undefined));
      if (product === 'redis') return;
      for (const server of cluster.servers) await server.call('CONFIG', 'SET', 'cluster-slot-stats-enabled', 'yes');
      await fill(cluster, port, ['{load}1'], 'x');
      const all = await measured();
      assert.equal(all.length, 16384);
      assert.ok(all.every(({ cpuUsec, networkBytesIn }) => cpuUsec !== undefined && networkBytesIn !== undefined));
      assert.ok(all.some(({ cpuUsec }) => (cpuUsec ?? 0) > 0));
    });

    test('keeps open slots as the two ends see them', async () => {
      const [source, target] = cluster.primaries as [Server, Server];
      const [sourceId, targetId] = [await nodeId(source), await nodeId(target)];
      await target.call('CLUSTER', 'SETSLOT', 17, 'IMPORTING', sourceId);
      await source.call('CLUSTER', 'SETSLOT', 17, 'MIGRATING', targetId);
      const all = reports(await observe());
      const open = (id: string) => all.find(({ self }) => self.id === id)?.self;
      assert.deepEqual(open(sourceId)?.migrating, [{ slot: 17, peer: targetId }]);
      assert.deepEqual(open(targetId)?.importing, [{ slot: 17, peer: sourceId }]);
      await source.call('CLUSTER', 'SETSLOT', 17, 'STABLE');
      await target.call('CLUSTER', 'SETSLOT', 17, 'STABLE');
    });

    test('a member that does not answer is unknown, with the reason, and the rest is read', async () => {
      const victim = cluster.replicas[0] as Server;
      const id = await nodeId(victim);
      victim.pause();
      try {
        const view = await observe({ timeoutMs: 10_000 });
        const node = view.nodes.find((candidate) => candidate.id === id);
        assert.ok(node && !node.report.known);
        assert.match(node.report.why, /did not answer|no connection/);
        assert.equal(view.nodes.filter(({ report }) => report.known).length, 5);
      } finally {
        victim.resume();
      }
      await until('it is read again', async () => reports(await observe()).length === 6);
    });

    test('addresses where nobody, or no cluster node, answers are silent', async () => {
      const alone = await startServer({ product, clusterEnabled: false });
      try {
        const nobody = { host: '127.0.0.1', port: await freePort() };
        const view = await observe({ alsoAsk: [nobody, alone.endpoint] });
        assert.equal(view.nodes.length, 6);
        assert.deepEqual(view.silent.map(({ code }) => code).sort(), ['CLUSTER_DISABLED', 'REDIS_UNREACHABLE']);
      } finally {
        await alone.stop();
      }
    });

    test('a name and an address of one server are one node', async () => {
      const [first] = cluster.endpoints;
      const view = await observeCluster(port, ports, [{ host: 'localhost', port: first?.port ?? 0 }], {});
      assert.equal(view.nodes.length, 6);
      assert.ok(view.nodes.every((node) => node.endpoint.host === '127.0.0.1'));
    });
  });
}

for (const product of PRODUCTS) {
  test(`a cluster of ${product} behind TLS and a user: all members are found and read`, async () => {
    const certificates = await makeCertificates();
    const users = ['user default off', 'user admin on >s3cret ~* &* +@all'];
    const login = { username: 'admin', password: 's3cret' };
    const cluster = await startCluster({ product, primaries: 3, tls: certificates, users, ...login });
    const { ca, cert, key } = certificates;
    const port = connectRedis({ ...login, tls: { ca, cert, key } }, ports);
    try {
      const [seed] = cluster.endpoints;
      assert.ok(seed);
      const view = await observeCluster(port, ports, [seed], {});
      assert.equal(reports(view).length, 3);
      assert.deepEqual(view.silent, []);
      const unreadable = connectRedis({ tls: { ca, cert, key } }, ports);
      const outside = await observeCluster(unreadable, ports, [seed], {});
      await unreadable.close();
      assert.deepEqual([outside.nodes, outside.silent.map(({ code }) => code)], [[], ['REDIS_AUTH']]);
    } finally {
      await port.close();
      await cluster.stop();
    }
  });
}

test('a user without CONFIG and FUNCTION reads the rest', async () => {
  const users = ['user default on nopass ~* &* +@all', 'user eyes on >look ~* &* +cluster +info +ping'];
  const server = await startServer({ product: 'valkey', users });
  const port = connectRedis({ username: 'eyes', password: 'look' }, ports);
  try {
    const view = await observeCluster(port, ports, [server.endpoint], {});
    const [report] = reports(view);
    assert.ok(report && !report.server.nodeTimeoutMs.known && !report.functionLibraries.known);
    assert.match(report.functionLibraries.why, /does not permit FUNCTION LIST/);
  } finally {
    await port.close();
    await server.stop();
  }
});

test('a copied nodes.conf: two servers with one id', async () => {
  const first = await startServer({ product: 'valkey' });
  const second = await startServer({ product: 'valkey' });
  const port = connectRedis({}, ports);
  try {
    await second.kill9();
    writeFileSync(second.nodesFile, readFileSync(first.nodesFile)); // the file stays the server's own
    await second.restart();
    const view = await observeCluster(port, ports, [first.endpoint, second.endpoint], {});
    assert.equal(view.nodes.length, 1);
    assert.equal(view.nodes[0]?.report.known, false);
    assert.deepEqual(
      view.silent.map(({ code }) => code),
      ['REDIS_ID_TWICE', 'REDIS_ID_TWICE'],
    );
  } finally {
    await port.close();
    await first.stop();
    await second.stop();
  }
});

test('several databases of Valkey 9: keys are counted in all of them', async () => {
  const server = await startServer({ product: 'valkey', extraConfig: ['cluster-databases 4'] });
  const port = connectRedis({}, ports);
  try {
    await server.call('CLUSTER', 'ADDSLOTSRANGE', 0, 16383);
    await until('it serves', async () => (await server.call('SET', '{a}0', 'x')) === 'OK');
    await port.transaction(server.endpoint, [
      ['SELECT', '2'],
      ['SET', '{a}2', 'y'.repeat(5000)],
      ['SET', '{a}3', 'y'.repeat(5000)],
      ['SELECT', '0'],
    ]);
    const slot = slotOfKey('a');
    const counted = reports(await observeCluster(port, ports, [server.endpoint], { countKeysIn: [[slot, slot]] }))[0];
    assert.deepEqual(counted?.keyspace, { 0: 1, 2: 2 });
    assert.equal(counted?.slotMeasures[slot]?.keys, 3);
    const needs: ObserveOptions = { measureSlots: 'bytes', keysBeyondSlots: true };
    const measured = reports(await observeCluster(port, ports, [server.endpoint], needs))[0];
    assert.ok((measured?.slotMeasures[slot]?.bytes ?? 0) > 10_000);
    assert.deepEqual(measured?.keysBeyondSlots, { known: true, value: 0 });
    assert.equal(await port.call(server.endpoint, ['DBSIZE']), 1, 'our connection is still in database 0');
  } finally {
    await port.close();
    await server.stop();
  }
});
