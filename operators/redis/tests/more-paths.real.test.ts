/**
 * More capabilities on real servers, one path each, through the command line: what needs no clients meanwhile. The steps
 * of a product share one cluster of three primaries and three replicas, so they come in this order.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  addressOf,
  type Cluster,
  loseQuorum,
  type Product,
  parseNodes,
  restartAllElsewhere,
  type Server,
  tagForSlot,
  until,
} from '@reeve/rig';
import { slotOfKey } from '../src/api/crc16.ts';
import { SLOT_COUNT } from '../src/api/slots.ts';
import { isPrimary, nodeId, World } from './scenarios/world.ts';

/** What the fill of the cluster may have cost a slot. */
const MOST_COLD_USEC = 20_000;

/** Two primaries on one host, though a failover to one of the replicas would spread them. Primaries first. */
const HOSTS = [1, 1, 2, 3, 2, 3];

async function primariesOf(servers: readonly Server[]): Promise<readonly Server[]> {
  const roles = await Promise.all(servers.map(isPrimary));
  return servers.filter((_, index) => roles[index]);
}

/** The first `count` slots that a server owns, by its own word. */
async function firstSlots(server: Server, count: number): Promise<readonly number[]> {
  const own = parseNodes(String(await server.call('CLUSTER', 'NODES'))).find((line) => line.myself);
  const slots = (own?.slots ?? []).flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index),
  );
  assert.ok(slots.length >= count, `${addressOf(server.endpoint)} has ${slots.length} slots`);
  return slots.slice(0, count);
}

/** How many keys of that name each of the servers holds. */
function holding(servers: readonly Server[], pattern: string): Promise<readonly number[]> {
  return Promise.all(servers.map(async (server) => ((await server.call('KEYS', pattern)) as string[]).length));
}

/** What the commands on each slot of a server took, in microseconds. */
async function loads(server: Server): Promise<ReadonlyMap<number, number>> {
  const order = ['ORDERBY', 'cpu-usec', 'LIMIT', SLOT_COUNT, 'DESC'];
  const rows = (await server.call('CLUSTER', 'SLOT-STATS', ...order)) as unknown as readonly [
    number,
    readonly unknown[],
  ][];
  return new Map(rows.map(([slot, fields]) => [slot, Number(fields[fields.indexOf('cpu-usec') + 1])]));
}

/**
 * Commands on these keys until their slots are those with most load, and about equal. The server measures time that
 * passes: on a busy machine a single command that waited for a processor outweighs hundreds.
 */
async function loadEvenly(primaries: readonly Server[], server: Server, keys: readonly string[]): Promise<void> {
  const hot = new Map(keys.map((key) => [slotOfKey(key), key]));
  await until('the load is on these keys', async () => {
    const all = (await Promise.all(primaries.map(loads))).flatMap((each) => [...each]);
    const most = Math.max(MOST_COLD_USEC, ...all.filter(([slot]) => !hot.has(slot)).map(([, usec]) => usec));
    const usecs = all.filter(([slot]) => hot.has(slot));
    const goal = Math.max(most, ...usecs.map(([, usec]) => usec / 2));
    const lighter = usecs.filter(([, usec]) => usec < goal).map(([slot]) => hot.get(slot) ?? '');
    await Promise.all(lighter.flatMap((key) => Array.from({ length: 50 }, () => server.call('BITCOUNT', key))));
    return lighter.length === 0;
  });
}

function assertEven(counts: readonly number[], most: number): void {
  assert.ok(Math.max(...counts) - Math.min(...counts) <= most, `not even: ${counts.join(', ')}`);
}

for (const product of ['valkey', 'redis'] satisfies Product[]) {
  describe(`more of reeve redis on ${product}`, () => {
    const world = new World(product);
    const written = new Map<string, string>();
    let cluster: Cluster;

    before(async () => {
      cluster = await world.cluster({
        primaries: 3,
        replicas: 1,
        nodeTimeoutMs: 3000,
        appendOnly: true,
        hostOf: (index) => `127.0.6.${HOSTS[index]}`,
        // Valkey measures the load of slots only when it is told to.
        ...(product === 'valkey' ? { extraConfig: ['cluster-slot-stats-enabled yes'] } : {}),
      });
    });
    after(() => world.close());

    const entry = (): Server => cluster.servers[0] as Server;

    /** One key with this value in each of the first slots of a primary; they must be there at the end. */
    async function fill(server: Server, name: string, slots: number, value: string): Promise<readonly string[]> {
      const keys = (await firstSlots(server, slots)).map((slot) => `${name}:{${tagForSlot(slot)}}`);
      await Promise.all(keys.map((key) => server.call('SET', key, value)));
      for (const key of keys) written.set(key, value);
      return keys;
    }

    it('failover --spread puts primaries that share a host apart', async () => {
      await world.reeve(entry(), 'failover', '--spread');
      const hosts = (await primariesOf(cluster.servers)).map(({ endpoint }) => endpoint.host);
      assert.equal(new Set(hosts).size, 3, hosts.join(', '));
      assert.match((await world.reeve(entry(), 'failover', '--spread')).stdout, /"nothing-to-do"/);
    });

    it('rebalance by keys evens out keys, not slots', async () => {
      const primaries = await primariesOf(cluster.servers);
      await fill(primaries[0] as Server, 'small', 300, 'x');
      await world.reeve(entry(), 'rebalance', '--by', 'keys', '--fast');
      assertEven(await holding(primaries, 'small:*'), 6);
    });

    it('rebalance by bytes evens out memory, not keys', async () => {
      const primaries = await primariesOf(cluster.servers);
      await fill(primaries[1] as Server, 'big', 30, 'x'.repeat(200_000));
      assert.deepEqual((await holding(primaries, 'big:*')).filter(Boolean), [30]);
      await world.reeve(entry(), 'rebalance', '--by', 'bytes', '--fast');
      assertEven(await holding(primaries, 'big:*'), 1);
    });

    it('rebalance by load evens out what clients ask for, where servers measure it', async () => {
      const primaries = await primariesOf(cluster.servers);
      const [, , busy] = primaries as [Server, Server, Server];
      const keys = await fill(busy, 'hot', 12, 'x'.repeat(2_000_000));
      const line = ['--by', 'load', '--fast'] as const;
      if (product === 'redis') {
        const { code, stdout } = await world.tryReeve(entry(), 'rebalance', ...line);
        assert.equal(code, 3, stdout);
        assert.match(stdout, /MEASURE_UNAVAILABLE/);
        return;
      }
      await loadEvenly(primaries, busy, keys);
      await world.reeve(entry(), 'rebalance', ...line);
      const counts = await holding(primaries, 'hot:*');
      assert.ok(
        counts.every((count) => count >= 2),
        `the load is still on few: ${counts.join(', ')}`,
      );
    });

    it('fix finds nodes that all came back at new addresses, with their data', async () => {
      const before = cluster.servers.map(({ endpoint }) => addressOf(endpoint));
      const ids = await Promise.all(cluster.servers.map(nodeId));
      await restartAllElsewhere(cluster, (index) => `127.0.7.${index + 1}`);
      const now = cluster.servers.map(({ endpoint }) => addressOf(endpoint));
      assert.ok(now.every((address) => !before.includes(address)));
      await world.reeve(entry(), 'fix', ...now.slice(1));
      assert.deepEqual(await Promise.all(cluster.servers.map(nodeId)), ids);
      await world.judge(cluster.servers, { replicasPerPrimary: 1, acknowledged: written });
    });

    it('with the majority of primaries dead, fix refuses without --takeover and mends with it', async () => {
      await world.permitLossOf(await primariesOf(cluster.servers));
      const dead = await loseQuorum(cluster);
      const alive = cluster.servers.filter((server) => !dead.includes(server));
      const [survivor] = alive as [Server];
      await until(
        'the survivors have noticed',
        async () => String(await survivor.call('CLUSTER', 'INFO')).includes('cluster_state:fail'),
        { timeoutMs: 60_000 },
      );
      assert.notEqual((await world.tryReeve(survivor, 'fix')).code, 0);
      assert.equal((await primariesOf(alive)).length, 1, 'nobody is promoted without votes by default');
      await world.reeve(survivor, 'fix', '--takeover');
      assert.equal((await primariesOf(alive)).length, 3);
      // The dead come back and find that they are replicas now.
      await Promise.all(dead.map((server) => server.restart()));
      await world.judge(cluster.servers, { replicasPerPrimary: 1, acknowledged: written });
    });
  });
}
