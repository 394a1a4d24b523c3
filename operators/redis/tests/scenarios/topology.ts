/** Scenarios that change a sound cluster: create, reshard, scale, rebalance, add, delete, fail over. */
import assert from 'node:assert/strict';
import { addressOf, makeCertificates, type Product, type Server, tagForSlot, until } from '@reeve/rig';
import { type Figures, isPrimary, nodeId, slotCounts, World, type WorldOptions } from './world.ts';

export interface Scenario {
  readonly name: string;
  run(product: Product): Promise<Figures>;
}

/** A scenario in a world of its own, cleaned up whatever happens. */
export function scenario(
  name: string,
  play: (world: World) => Promise<Figures>,
  options: WorldOptions & { readonly tls?: boolean } = {},
): Scenario {
  return {
    name,
    run: async (product) => {
      const world = new World(product, options, options.tls ? await makeCertificates() : undefined);
      try {
        return await play(world);
      } finally {
        await world.close();
      }
    },
  };
}

function at(servers: readonly Server[], index: number): Server {
  const server = servers[index];
  assert.ok(server);
  return server;
}

function create(count: number, hosts: number) {
  return async (world: World): Promise<Figures> => {
    const servers = await world.servers(count, {
      hostOf: (index) => `127.0.1.${10 + (index % hosts)}`,
      nodeTimeoutMs: 10_000,
    });
    const others = servers.slice(1).map(({ endpoint }) => addressOf(endpoint));
    await world.reeve(at(servers, 0), 'create', ...others, '--replicas', '1');
    await world.startTraffic(servers);
    return world.end(servers, { replicasPerPrimary: 1 });
  };
}

async function reshard(world: World): Promise<Figures> {
  const { servers } = await world.cluster({ primaries: 3, replicas: 1 });
  await world.startTraffic(servers);
  const target = at(servers, 0);
  const [before = 0] = await slotCounts([target]);
  await world.reeve(at(servers, 1), 'reshard', '--to', await nodeId(target), '--slots', '3000', '--fast');
  assert.deepEqual(await slotCounts([target]), [before + 3000]);
  await world.reeve(
    target,
    'reshard',
    '--to',
    addressOf(at(servers, 1).endpoint),
    '--from',
    addressOf(target.endpoint),
    '--slots',
    '300',
  );
  assert.deepEqual(await slotCounts([target]), [before + 2700]);
  return world.end(servers, { replicasPerPrimary: 1 });
}

async function scale(world: World): Promise<Figures> {
  const { servers: old } = await world.cluster({ primaries: 3 });
  await world.startTraffic(old);
  const added = await world.servers(3);
  const entry = at(old, 0);
  for (const server of added) await world.reeve(entry, 'add-node', '--node', addressOf(server.endpoint));
  await world.reeve(entry, 'rebalance', '--use-empty', '--fast');
  const counts = await slotCounts([...old, ...added]);
  assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, `slots are not even: ${counts.join(', ')}`);
  await world.judge([...old, ...added]);
  for (const server of added) await world.reeve(entry, 'del-node', '--node', addressOf(server.endpoint), '--fast');
  for (const server of added) assert.match(String(await server.call('CLUSTER', 'INFO')), /cluster_known_nodes:1\r/);
  return world.end(old);
}

async function weighted(world: World): Promise<Figures> {
  const { servers } = await world.cluster({ primaries: 3 });
  await world.startTraffic(servers);
  const heavy = at(servers, 1);
  await world.reeve(heavy, 'rebalance', '--weight', `${addressOf(heavy.endpoint)}=2`, '--fast');
  const counts = await slotCounts(servers);
  assert.deepEqual(
    [...counts].sort((a, b) => a - b).map((count) => Math.round(count / 4096)),
    [1, 1, 2],
  );
  assert.ok(Math.abs((counts[1] ?? 0) - 8192) <= 1, `slots: ${counts.join(', ')}`);
  return world.end(servers);
}

/** Half a megabyte each in slots of the first primary: equal slots, unequal memory. */
async function byBytes(world: World): Promise<Figures> {
  const { servers } = await world.cluster({ primaries: 3 });
  await world.startTraffic(servers);
  const rich = at(servers, 0);
  const value = 'x'.repeat(500_000);
  for (let slot = 0; slot < 60; slot++) await rich.call('SET', `big:{${tagForSlot(slot * 50)}}`, value);
  const bytes = async () =>
    Promise.all(
      servers.map(async (server) =>
        Number(/used_memory_dataset:(\d+)/.exec(String(await server.call('INFO', 'memory')))?.[1]),
      ),
    );
  const before = await bytes();
  assert.ok(Math.max(...before) > 5 * Math.min(...before));
  await world.reeve(rich, 'rebalance', '--by', 'bytes', '--fast');
  const after = await until('memory of moved keys is free', async () => {
    const now = await bytes();
    return Math.max(...now) <= 1.35 * Math.min(...now) ? now : undefined;
  });
  assert.ok(after);
  return world.end(servers);
}

async function addAndDelete(world: World): Promise<Figures> {
  const { servers } = await world.cluster({ primaries: 3, replicas: 1 });
  await world.startTraffic(servers);
  const entry = at(servers, 0);
  const [primary, replica] = await world.servers(2);
  assert.ok(primary && replica);
  await world.reeve(entry, 'add-node', '--node', addressOf(primary.endpoint));
  await world.reeve(entry, 'rebalance', '--use-empty', '--fast');
  await world.reeve(entry, 'add-node', '--node', addressOf(replica.endpoint), '--replica');
  const all = [...servers, primary, replica];
  await world.judge(all, { replicasPerPrimary: 1 });
  // An old primary goes: its slots and its replica must find new places.
  await world.reeve(primary, 'del-node', '--node', await nodeId(entry), '--fast');
  const left = all.filter((server) => server !== entry);
  await world.judge(left);
  // And one of two replicas of one primary, so that each has one again.
  const spare = await replicaOfTheRichest(left);
  await world.reeve(primary, 'del-node', '--node', addressOf(spare.endpoint));
  return world.end(
    left.filter((server) => server !== spare),
    { replicasPerPrimary: 1 },
  );
}

async function replicaOfTheRichest(servers: readonly Server[]): Promise<Server> {
  const byPrimary = new Map<string, Server[]>();
  for (const server of servers) {
    if (await isPrimary(server)) continue;
    const text = String(await server.call('CLUSTER', 'NODES'));
    const primaryId =
      text
        .split('\n')
        .find((line) => line.includes('myself'))
        ?.split(' ')[3] ?? '';
    byPrimary.set(primaryId, [...(byPrimary.get(primaryId) ?? []), server]);
  }
  const pair = [...byPrimary.values()].find((replicas) => replicas.length > 1);
  assert.ok(pair, 'no primary has two replicas');
  return at(pair, 0);
}

async function failover(world: World): Promise<Figures> {
  const { servers, primaries, replicas } = await world.cluster({ primaries: 3, replicas: 1 });
  await world.startTraffic(servers);
  const replica = at(replicas, 0);
  await world.reeve(at(servers, 1), 'failover', '--node', addressOf(replica.endpoint));
  assert.ok(await isPrimary(replica));
  // Named by the primary that is to leave: its replica takes over.
  await world.reeve(at(servers, 1), 'failover', '--node', await nodeId(replica));
  assert.ok(await isPrimary(at(primaries, 0)));
  return world.end(servers, { replicasPerPrimary: 1 });
}

/** Six nodes on three hosts; one host dies with a primary and another's replica. */
async function lossOfAHost(world: World): Promise<Figures> {
  const host = (index: number) => `127.0.2.${10 + ((index < 3 ? index : index + 1) % 3)}`;
  const { servers, primaries } = await world.cluster({ primaries: 3, replicas: 1, hostOf: host, nodeTimeoutMs: 2000 });
  await world.startTraffic(servers);
  const dead = servers.filter(({ endpoint }) => endpoint.host === '127.0.2.10');
  assert.equal(dead.length, 2);
  await world.permitLossOf(dead.filter((server) => primaries.includes(server)));
  await Promise.all(dead.map((server) => server.kill9()));
  const alive = servers.filter((server) => !dead.includes(server));
  const entry = at(alive, 0);
  await until(
    'the servers have elected a new primary',
    async () => {
      const states = await Promise.all(alive.map(async (server) => String(await server.call('CLUSTER', 'INFO'))));
      return (
        states.every((state) => state.includes('cluster_state:ok')) &&
        (await Promise.all(alive.map(isPrimary))).filter(Boolean).length === 3
      );
    },
    { timeoutMs: 60_000 },
  );
  // The host is gone for good: its nodes leave, a new host with two servers takes their place.
  for (const server of dead) await world.reeve(entry, 'del-node', '--node', addressOf(server.endpoint));
  const fresh = await world.servers(2, { hostOf: () => '127.0.2.20', nodeTimeoutMs: 2000 });
  for (const server of fresh) await world.reeve(entry, 'add-node', '--node', addressOf(server.endpoint), '--replica');
  const members = [...alive, ...fresh];
  await world.reeve(entry, 'failover', '--spread');
  return world.end(members, { replicasPerPrimary: 1 });
}

const ACCESS = {
  users: ['user default off', 'user reeve on >opensesame ~* &* +@all'],
  username: 'reeve',
  password: 'opensesame',
} as const;

async function tlsAndAcl(world: World): Promise<Figures> {
  const servers = await world.servers(7, ACCESS);
  const six = servers.slice(0, 6);
  const fresh = at(servers, 6);
  await world.reeve(
    at(six, 0),
    'create',
    ...six.slice(1).map(({ endpoint }) => addressOf(endpoint)),
    '--replicas',
    '1',
  );
  await world.startTraffic(six);
  await world.reeve(at(six, 0), 'add-node', '--node', addressOf(fresh.endpoint));
  await world.reeve(at(six, 0), 'reshard', '--to', addressOf(fresh.endpoint), '--slots', '600');
  await world.reeve(
    at(six, 0),
    'reshard',
    '--to',
    addressOf(at(six, 0).endpoint),
    '--from',
    addressOf(fresh.endpoint),
    '--slots',
    '300',
    '--engine',
    'windowed',
  );
  const [replica] = (await Promise.all(six.map(async (server) => ((await isPrimary(server)) ? [] : [server])))).flat();
  assert.ok(replica);
  await world.reeve(at(six, 0), 'failover', '--node', addressOf(replica.endpoint));
  await world.reeve(at(six, 0), 'del-node', '--node', addressOf(fresh.endpoint));
  return world.end(six, { replicasPerPrimary: 1 });
}

export const topologyScenarios: readonly Scenario[] = [
  scenario('create 3+3 over three hosts', create(6, 3)),
  scenario('create 10+10 over five hosts', create(20, 5)),
  scenario('reshard 3,000 slots from all at full speed, 300 from one gently', reshard),
  scenario('scale 3 → 6 → 3', scale),
  scenario('rebalance by weight', weighted),
  scenario('rebalance by bytes', byBytes),
  scenario('add and delete nodes', addAndDelete),
  scenario('failover of a primary and back', failover),
  scenario('loss of a host with two nodes', lossOfAHost, { patienceMs: 120_000 }),
  scenario('TLS and ACL: create, add, reshard, fail over, delete', tlsAndAcl, { tls: true }),
];
