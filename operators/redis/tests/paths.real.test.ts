/**
 * One real path per capability, through the command line, on both products, with clients writing and reading all the time.
 * The steps of a product share one cluster, in the order in which an operator would take them; the long matrix is
 * `npm run proof -- redis-scenarios`.
 */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import {
  addressOf,
  entriesIn,
  fillSlot,
  halfFinishedMigration,
  makeCertificates,
  nodeId,
  type Product,
  type Server,
  strayKeys,
  uncover,
} from '@reeve/rig';
import { isPrimary, quietSlots, slotCounts, World } from './scenarios/world.ts';

for (const product of ['valkey', 'redis'] satisfies Product[]) {
  describe(`reeve redis on ${product}`, () => {
    const world = new World(product);
    const written = new Map<string, string>();
    let servers: readonly Server[] = [];
    let fresh: Server;
    const at = (index: number): Server => {
      const server = servers[index];
      assert.ok(server, 'create failed');
      return server;
    };
    const rigCluster = () => {
      const endpoints = servers.map(({ endpoint }) => endpoint);
      return {
        servers,
        primaries: servers.slice(0, 3),
        replicas: servers.slice(3),
        endpoints,
        access: {},
        stop: async () => undefined,
      };
    };
    after(() => world.close());

    it('create makes a cluster of three primaries with a replica each, on other hosts', async () => {
      const [spare, ...six] = await world.servers(7, { hostOf: (index) => `127.0.4.${10 + (index % 3)}` });
      assert.ok(spare);
      fresh = spare;
      servers = six;
      const others = six.slice(1).map(({ endpoint }) => addressOf(endpoint));
      await world.reeve(at(0), 'create', ...others, '--replicas', '1');
      await world.judge(six, { replicasPerPrimary: 1 });
      await world.startTraffic(six);
    });

    it('reshard moves the slots asked for, with their keys', async () => {
      const primaries = await primariesOf(servers);
      const [target] = primaries;
      assert.ok(target);
      const [before = 0] = await slotCounts([target]);
      await world.reeve(at(1), 'reshard', '--to', await nodeId(target), '--slots', '900', '--fast');
      // And at the default pace, which yields to clients: a few.
      await world.reeve(at(1), 'reshard', '--to', await nodeId(target), '--slots', '24');
      assert.deepEqual(await slotCounts([target]), [before + 924]);
    });

    it('add-node and rebalance give a new primary its share', async () => {
      await world.reeve(at(0), 'add-node', '--node', addressOf(fresh.endpoint));
      await world.reeve(at(0), 'rebalance', '--use-empty', '--fast');
      assert.deepEqual(await slotCounts(await primariesOf([...servers, fresh])), [4096, 4096, 4096, 4096]);
    });

    it('del-node drains a primary and lets all forget it', async () => {
      await world.reeve(at(0), 'del-node', '--node', addressOf(fresh.endpoint), '--fast');
      assert.match(String(await fresh.call('CLUSTER', 'INFO')), /cluster_known_nodes:1\r/);
      await world.judge(servers, { replicasPerPrimary: 1 });
    });

    it('failover makes a replica the primary without losing anything', async () => {
      const [replica] = await replicasOf(servers);
      assert.ok(replica);
      await world.reeve(at(0), 'failover', '--node', addressOf(replica.endpoint));
      assert.ok(await isPrimary(replica));
    });

    it('fix finishes a half-done migration, covers slots without owner and collects keys that lie outside their slot', async () => {
      const [owner] = await primariesOf(servers);
      assert.ok(owner);
      const [half = 0, bare = 0, strayed = 0] = await quietSlots(owner, 3);
      const cluster = rigCluster();
      for (const [key, value] of await fillSlot(cluster, half, 30)) written.set(key, value);
      await halfFinishedMigration(cluster, half, 'some-keys');
      for (const [key, value] of entriesIn(strayed, 5, 'stray')) written.set(key, value);
      await strayKeys(cluster, strayed, entriesIn(strayed, 5, 'stray'));
      for (const [key, value] of await fillSlot(cluster, bare, 10)) written.set(key, value);
      await uncover(cluster, [bare]);
      const check = await world.look(at(0), 'check', '--keys');
      const found = new Set(((check.json?.findings ?? []) as { readonly code: string }[]).map(({ code }) => code));
      for (const code of ['SLOT_OPEN', 'SLOT_UNCOVERED', 'KEYS_OUTSIDE_SLOT'])
        assert.ok(found.has(code), `${code} is not found`);
      await world.reeve(at(0), 'fix');
    });

    it('has lost no acknowledged write, and both judges are content', async () => {
      // The failover above put two primaries on one host, as it was told.
      await world.reeve(at(0), 'failover', '--spread');
      await world.end(servers, { replicasPerPrimary: 1, written });
    });
  });

  it(`TLS and ACL users on ${product}: create, reshard, check; nobody else is let in`, async () => {
    const world = new World(product, {}, await makeCertificates());
    try {
      const users = ['user default off', 'user operator on >opensesame ~* &* +@all'];
      const servers = await world.servers(3, { users, username: 'operator', password: 'opensesame' });
      const [first, second] = servers;
      assert.ok(first && second);
      await world.reeve(first, 'create', ...servers.slice(1).map(({ endpoint }) => addressOf(endpoint)));
      await world.startTraffic(servers);
      await world.reeve(first, 'reshard', '--to', addressOf(second.endpoint), '--slots', '60', '--fast');
      assert.equal((await world.look(first, 'check')).code, 0);
      await world.end(servers, { replicasPerPrimary: 0 });
    } finally {
      await world.close();
    }
  });
}

async function primariesOf(servers: readonly Server[]): Promise<readonly Server[]> {
  const roles = await Promise.all(servers.map(isPrimary));
  return servers.filter((_, index) => roles[index]);
}

async function replicasOf(servers: readonly Server[]): Promise<readonly Server[]> {
  const roles = await Promise.all(servers.map(isPrimary));
  return servers.filter((_, index) => !roles[index]);
}
