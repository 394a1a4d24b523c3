/** The rig judged by itself: servers of both products form a cluster, every kind of damage is made and seen, nothing is left behind. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  breakReplicaLink,
  type Cluster,
  entriesIn,
  epochCollision,
  fillSlot,
  halfFinishedMigration,
  importingOnly,
  invariants,
  loseQuorum,
  makeCertificates,
  meetAll,
  migratingOnly,
  nodeId,
  once,
  oneMigratingTwoImporting,
  ownerOf,
  type Product,
  parseNodes,
  restartAllElsewhere,
  type Server,
  serverCheck,
  severalOwners,
  splitInHalves,
  startCluster,
  startServer,
  startTraffic,
  strayKeys,
  uncover,
  uncoverWithKeysOnSeveral,
  until,
  waitUntilAgreed,
} from './index.ts';

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function violations(cluster: Cluster): Promise<string> {
  return (await invariants(cluster.endpoints, { access: cluster.access })).join('\n');
}

/** `server index, state` of every server whose own line has the slot open. */
async function openAt(cluster: Cluster, slot: number): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [index, server] of cluster.servers.entries()) {
    const own = parseNodes(String(await server.call('CLUSTER', 'NODES'))).find((line) => line.myself);
    for (const open of own?.open ?? []) if (open.slot === slot) found.push(`${index} ${open.state}`);
  }
  return found;
}

function keysIn(server: Server, slot: number): Promise<number> {
  return server.call('CLUSTER', 'COUNTKEYSINSLOT', slot).then(Number);
}

for (const product of ['valkey', 'redis'] satisfies Product[]) {
  describe(`rig with ${product}`, () => {
    it('starts, pauses, restarts and stops a server without leaving anything', async () => {
      const server = await startServer({ product });
      const { pid: first, dir } = server;
      const id = await nodeId(server);
      server.pause();
      await assert.rejects(once(server.endpoint, { connectTimeoutMs: 300, timeoutMs: 300 }, 'PING'));
      server.resume();
      assert.equal(await once(server.endpoint, {}, 'PING'), 'PONG');
      await server.restart({ port: 0 });
      assert.notEqual(server.pid, first);
      assert.equal(await nodeId(server), id, 'the same node at another address');
      const second = server.pid;
      await server.stop();
      assert.deepEqual([isAlive(first), isAlive(second), existsSync(dir)], [false, false, false]);
    });

    it('forms a cluster over several hosts that passes both oracles under traffic', async () => {
      const hosts = ['127.0.0.11', '127.0.0.12', '127.0.0.13'];
      // A replica's host is the next one after its primary's.
      const hostOf = (index: number) => hosts[(index < 3 ? index : index + 1) % 3] as string;
      const cluster = await startCluster({ product, primaries: 3, replicas: 1, hostOf });
      try {
        const traffic = await startTraffic(cluster.endpoints, { keys: 400 });
        await until('some writes', () => traffic.writes > 500);
        const result = await traffic.stop();
        assert.deepEqual([result.errors, result.regressions], [[], []]);
        assert.ok(result.acknowledged.size > 300 && result.reads > 100);
        const check = await serverCheck(product, cluster.endpoints[0] as Server['endpoint']);
        assert.equal(check.code, 0, check.output);
        const expected = { replicasPerPrimary: 1, hostOf: ({ host }: { host: string }) => host };
        assert.deepEqual(await invariants(cluster.endpoints, { ...expected, acknowledged: result.acknowledged }), []);

        const lost = new Map([...result.acknowledged].slice(0, 1).map(([key]) => [key, 'never written']));
        assert.match((await invariants(cluster.endpoints, { acknowledged: lost })).join(), /acknowledged write lost/);
        assert.match((await invariants(cluster.endpoints, { replicasPerPrimary: 2 })).join(), /has 1 replicas, not 2/);
        const bunched = ({ host, port }: { host: string; port: number }) =>
          cluster.primaries.slice(0, 2).some(({ endpoint }) => endpoint.port === port) ? 'one' : host;
        assert.match((await invariants(cluster.endpoints, { hostOf: bunched })).join(), /host one has 2 primaries/);
        assert.match((await invariants(cluster.endpoints.slice(1))).join(), /knows 6 members, not 5/);
      } finally {
        await cluster.stop();
      }
    });

    it('opens slots in every way, strays keys and takes slots from their owner', async () => {
      const cluster = await startCluster({ product, primaries: 4 });
      try {
        const written = await fillSlot(cluster, 1, 6);
        const { source, target } = await halfFinishedMigration(cluster, 1, 'some-keys');
        assert.deepEqual(await openAt(cluster, 1), ['0 migrating', '1 importing']);
        assert.deepEqual([await keysIn(source, 1), await keysIn(target, 1)], [3, 3]);
        assert.match(await violations(cluster), /slot 1 is open, migrating/);
        assert.match(
          (await invariants(cluster.endpoints, { acknowledged: written })).join(),
          /acknowledged write lost/,
        );
        assert.notEqual((await serverCheck(product, source.endpoint)).code, 0);

        await fillSlot(cluster, 2, 4);
        await halfFinishedMigration(cluster, 2, 'target-told');
        await until('the source has heard', async () => (await ownerOf(cluster, 2)) === cluster.servers[1]);

        await fillSlot(cluster, 3, 6);
        await importingOnly(cluster, 3, 2);
        assert.deepEqual(await openAt(cluster, 3), ['1 importing', '2 importing']);
        assert.deepEqual(await Promise.all(cluster.servers.map((server) => keysIn(server, 3))), [2, 2, 2, 0]);

        await oneMigratingTwoImporting(cluster, 4, { recorded: 'target' });
        await oneMigratingTwoImporting(cluster, 5, { recorded: 'elsewhere' });
        await fillSlot(cluster, 6, 6);
        await oneMigratingTwoImporting(cluster, 6, { recorded: 'target', keys: true });
        for (const slot of [4, 5, 6])
          assert.deepEqual(await openAt(cluster, slot), ['0 migrating', '1 importing', '2 importing']);
        assert.deepEqual(await Promise.all(cluster.servers.map((server) => keysIn(server, 6))), [2, 2, 2, 0]);

        await migratingOnly(cluster, 7);
        assert.deepEqual(await openAt(cluster, 7), ['0 migrating']);

        const stray = await strayKeys(cluster, 8, entriesIn(8, 1, 'stray'));
        assert.equal(await keysIn(stray, 8), 1);
        assert.match(await violations(cluster), /holds \d+ keys outside its slots/);

        const spread = await uncoverWithKeysOnSeveral(cluster, 9, await fillSlot(cluster, 9, 4), {
          equal: 1,
          conflicting: 1,
          foreign: 2,
        });
        assert.deepEqual([await keysIn(spread.former, 9), await keysIn(spread.other, 9)], [4, 4]);
        await uncover(cluster, [10, 11]);
        assert.match(await violations(cluster), /3 slots have no owner: 9, 10, 11/);
        assert.match(await violations(cluster), /cluster_state is not ok/);
      } finally {
        await cluster.stop();
      }
    });

    it('holds states that gossip would settle, breaks links, moves and splits the cluster, loses the quorum', async () => {
      const cluster = await startCluster({ product, primaries: 3, replicas: 1, busProxy: true, nodeTimeoutMs: 10_000 });
      try {
        const collision = await epochCollision(cluster);
        assert.match(await violations(cluster), /config epoch \d+ is shared by/);
        collision.heal();
        await waitUntilAgreed(cluster.servers);
        assert.equal(await violations(cluster), '');

        const owners = await severalOwners(cluster, 0);
        assert.match(await violations(cluster), /1 slots have several owners: 0/);
        owners.heal();
        await waitUntilAgreed(cluster.servers);

        const link = await breakReplicaLink(cluster);
        assert.match(await violations(cluster), /the link to its primary is down/);
        await link.repair();
        await waitUntilAgreed(cluster.servers);

        await restartAllElsewhere(cluster);
        assert.match(await violations(cluster), /views differ/);
        // The addresses that the nodes still have are of nobody: only a MEET from outside brings them together.
        await meetAll(cluster.servers);
        await waitUntilAgreed(cluster.servers);
        assert.equal(await violations(cluster), '');

        const [left, right] = await splitInHalves(cluster);
        assert.deepEqual([left.length, right.length], [4, 2]);
        assert.match(await violations(cluster), /knows 4 members, not 6/);
        const victims = await loseQuorum(cluster);
        assert.equal(victims.length, 2);
        assert.match(await violations(cluster), /does not answer/);
      } finally {
        await cluster.stop();
      }
    });

    it('runs with TLS and ACL users, and lets nobody else in', async () => {
      const tls = await makeCertificates();
      const users = ['user default off', 'user admin on >secret ~* &* +@all'];
      const cluster = await startCluster({
        product,
        primaries: 3,
        replicas: 1,
        tls,
        users,
        username: 'admin',
        password: 'secret',
      });
      try {
        assert.equal(await violations(cluster), '');
        const [endpoint] = cluster.endpoints;
        assert.ok(endpoint);
        const check = await serverCheck(product, endpoint, { ...cluster.access, files: tls });
        assert.equal(check.code, 0, check.output);
        await assert.rejects(once(endpoint, { ...cluster.access, password: 'wrong' }, 'PING'), /WRONGPASS/);
        await assert.rejects(once(endpoint, {}, 'PING'));
      } finally {
        await cluster.stop();
      }
    });
  });
}
