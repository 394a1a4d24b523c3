/** Scenarios of `reeve redis fix` about whole nodes: lost sight of, lost for good, following the wrong one. */
import assert from 'node:assert/strict';
import {
  addressOf,
  breakReplicaLink,
  type Cluster,
  cutBus,
  evenShares,
  fillSlot,
  loseQuorum,
  meetAll,
  nodeId,
  parseNodes,
  type Server,
  splitInHalves,
  until,
  waitUntilAgreed,
} from '@reeve/rig';
import { seen, setUp } from './mending.ts';
import { type Scenario, scenario } from './topology.ts';
import { type Figures, isPrimary, type World } from './world.ts';

/**
 * With data on disk, as a cluster that lost power and got other addresses. Clients know where the nodes will be, as from
 * a name service; nobody else does.
 */
async function newAddresses(world: World): Promise<Figures> {
  const cluster = await world.cluster({
    primaries: 3,
    replicas: 1,
    appendOnly: true,
    hostOf: (index) => `127.0.3.${10 + index}`,
  });
  const { servers } = cluster;
  const later = servers.map(({ endpoint }, index) => ({ host: `127.0.3.${30 + index}`, port: endpoint.port }));
  await world.startTraffic(servers, later);
  const written = await fillSlot(cluster, 100, 30);
  await Promise.all(servers.map((server) => server.shutdown()));
  await Promise.all(servers.map((server, index) => server.restart(later[index])));
  const addresses = servers.slice(1).map(({ endpoint }) => addressOf(endpoint));
  await world.reeve(servers[0] as Server, 'fix', ...addresses);
  return world.end(servers, { replicasPerPrimary: 1, written });
}

/** Its keys are gone with it: only a person can say that the slots go to others without them. */
async function deadWithoutReplica(world: World): Promise<Figures> {
  const { cluster, entry } = await setUp(world, { nodeTimeoutMs: 2000 });
  const dead = [cluster.primaries[0], cluster.replicas[0]] as [Server, Server];
  await world.permitTotalLossOf(dead[0]);
  const ids = await Promise.all(dead.map(nodeId));
  await Promise.all(dead.map((server) => server.kill9()));
  await until('both are failed', async () => {
    const lines = parseNodes(String(await entry.call('CLUSTER', 'NODES')));
    return ids.every((id) => lines.some((line) => line.id === id && line.flags.includes('fail')));
  });
  const refused = await world.tryReeve(entry, 'fix');
  assert.equal(refused.code, 3);
  assert.match(refused.stdout, /PRIMARIES_UNREACHABLE/);
  await world.reeve(entry, 'fix', '--allow-unreachable');
  await world.moreTraffic(200);
  // The replica first: nobody can tell a dead replica that its primary is gone.
  for (const server of dead.toReversed()) await world.reeve(entry, 'del-node', '--node', addressOf(server.endpoint));
  const alive = cluster.servers.filter((server) => !dead.includes(server));
  return world.end(alive, { replicasPerPrimary: 1 });
}

/** 4 primaries with slots, and one without that has a replica all the same. */
async function withSpareShard(world: World, options: { readonly busProxy?: boolean; readonly nodeTimeoutMs: number }) {
  const cluster = await world.cluster({ primaries: 5, replicas: 1, slots: evenShares(4), ...options });
  await world.startTraffic(cluster.servers);
  const [leader] = cluster.primaries;
  const [spare, follower] = [cluster.primaries[4], cluster.replicas[4]];
  assert.ok(leader && spare && follower);
  return { cluster, entry: leader, leader, spare, follower };
}

export async function primaryOf(server: Server): Promise<string | undefined> {
  return parseNodes(String(await server.call('CLUSTER', 'NODES'))).find((line) => line.myself)?.primaryId;
}

async function replicaOfReplica(world: World): Promise<Figures> {
  const { cluster, leader, spare, follower, entry } = await withSpareShard(world, {
    busProxy: true,
    nodeTimeoutMs: 20_000,
  });
  const held = cutBus(cluster);
  const id = await nodeId(leader);
  await spare.call('CLUSTER', 'REPLICATE', id);
  assert.equal(await primaryOf(follower), await nodeId(spare));
  await seen({ world, entry }, 'ROLES_DIFFER');
  // Servers that hear each other mend this by themselves: they do so only after our tool has.
  const healed = until('it follows the primary', async () => (await primaryOf(follower)) === id).then(held.heal);
  await Promise.all([world.reeve(entry, 'fix'), healed]);
  return world.end(cluster.servers);
}

async function replicaOfDead(world: World): Promise<Figures> {
  const { cluster, spare, follower, entry } = await withSpareShard(world, { nodeTimeoutMs: 2000 });
  const id = await nodeId(spare);
  // Valkey elects the replica of a node without slots, too.
  await follower.call('CONFIG', 'SET', 'cluster-replica-no-failover', 'yes');
  await spare.kill9();
  await until('it is failed', async () =>
    parseNodes(String(await entry.call('CLUSTER', 'NODES'))).some(
      (line) => line.id === id && line.flags.includes('fail'),
    ),
  );
  await seen({ world, entry }, 'NODE_FAILED');
  assert.equal(await primaryOf(follower), id);
  await world.reeve(entry, 'fix');
  const leaders = await Promise.all(cluster.primaries.slice(0, 4).map(nodeId));
  assert.ok(leaders.includes(String(await primaryOf(follower))), 'it follows one that has slots');
  await world.reeve(entry, 'del-node', '--node', addressOf(spare.endpoint));
  return world.end(cluster.servers.filter((server) => server !== spare));
}

/** One member was told to forget another, which was not told anything. */
async function oneSidedForget(world: World): Promise<Figures> {
  const scene = await setUp(world);
  const { cluster, entry } = scene;
  const [by, forgotten] = cluster.primaries;
  assert.ok(by && forgotten);
  await by.call('CLUSTER', 'FORGET', await nodeId(forgotten));
  await seen(scene, 'MEMBERSHIP_DIFFERS');
  await world.reeve(entry, 'fix');
  return world.end(cluster.servers, { replicasPerPrimary: 1 });
}

async function lostQuorum(world: World): Promise<Figures> {
  const { servers, primaries, ...cluster } = await world.cluster({ primaries: 3, replicas: 1, nodeTimeoutMs: 2000 });
  await world.startTraffic(servers);
  await world.permitLossOf(primaries);
  const dead = await loseQuorum({ servers, primaries, ...cluster });
  const alive = servers.filter((server) => !dead.includes(server));
  const entry = alive[0] as Server;
  await until(
    'the survivors have noticed',
    async () => String(await entry.call('CLUSTER', 'INFO')).includes('cluster_state:fail'),
    { timeoutMs: 60_000 },
  );
  const refused = await world.tryReeve(entry, 'fix');
  assert.notEqual(refused.code, 0, 'without --takeover nobody is promoted without votes');
  assert.equal((await Promise.all(alive.map(isPrimary))).filter(Boolean).length, 1);
  await world.reeve(entry, 'fix', '--takeover');
  assert.equal((await Promise.all(alive.map(isPrimary))).filter(Boolean).length, 3);
  await world.moreTraffic(200);
  // The dead come back and find that they are replicas now.
  await Promise.all(dead.map((server) => server.restart()));
  await until('they follow', async () => !(await Promise.all(dead.map(isPrimary))).includes(true));
  await waitUntilAgreed(servers);
  // Who was left to be promoted shares a host with another primary.
  await world.reeve(entry, 'failover', '--spread');
  return world.end(servers, { replicasPerPrimary: 1 });
}

/**
 * Who was forgotten is banned for a minute, and so long every server tells all others to forget it, too: introductions
 * before that come to nothing, or hold for a moment.
 */
const FORGOTTEN_FOR_MS = 65_000;
const AGREE_MS = 20_000;

/** Two clusters with a part of the slots each: joining them could overwrite data, so a person must say. Then the halves are brought together. */
async function halves(world: World): Promise<Figures> {
  const cluster = await world.cluster({ primaries: 3, replicas: 1 });
  await world.startTraffic(cluster.servers);
  const [left, right] = await splitInHalves(cluster);
  const bannedUntil = performance.now() + FORGOTTEN_FOR_MS;
  const [one] = left;
  const [other] = right;
  assert.ok(one && other);
  const before = await tables(cluster);
  const run = await world.tryReeve(one, 'fix', `${other.endpoint.host}:${other.endpoint.port}`);
  assert.notEqual(run.code, 0);
  assert.match(`${run.stdout}${run.stderr}`, /SPLIT_CLUSTER/);
  assert.deepEqual(await tables(cluster), before, 'nothing was changed');
  const areOneForGood = async (): Promise<boolean> => {
    await meetAll(cluster.servers);
    await waitUntilAgreed(cluster.servers, AGREE_MS);
    return performance.now() > bannedUntil;
  };
  await until('the halves are one again', areOneForGood, { timeoutMs: 240_000 });
  return world.end(cluster.servers, { replicasPerPrimary: 1 });
}

/** Who each node knows, with which slots. */
export async function tables(cluster: Cluster): Promise<readonly string[]> {
  return Promise.all(
    cluster.servers.map(async (server) => {
      const lines = parseNodes(String(await server.call('CLUSTER', 'NODES')));
      return lines
        .map(({ id, role, slotText }) => `${id} ${role} ${slotText}`)
        .sort()
        .join('\n');
    }),
  );
}

export const members: readonly Scenario[] = [
  scenario('fix: all nodes restarted at new addresses', newAddresses, { patienceMs: 120_000 }),
  scenario('fix: a replica that cannot reach its primary', async (world) => {
    const scene = await setUp(world);
    const { repair } = await breakReplicaLink(scene.cluster);
    await seen(scene, 'REPLICA_LINK_DOWN');
    // No command of ours changes a password: a person must, and is told so.
    const said = await world.reeve(scene.entry, 'fix');
    assert.equal(said.json?.status, 'nothing-to-do');
    assert.match(said.stdout, /not mended by this: [^"]* is not in step with [^"]*log of the replica/);
    await repair();
    await world.reeve(scene.entry, 'fix');
    return world.end(scene.cluster.servers, { replicasPerPrimary: 1 });
  }),
  scenario('fix: a primary and its only replica dead, given up', deadWithoutReplica, { patienceMs: 180_000 }),
  scenario('fix: a replica of a replica', replicaOfReplica, { patienceMs: 120_000 }),
  scenario('fix: a replica of a node that is dead', replicaOfDead, { patienceMs: 120_000 }),
  scenario('fix: a member that another one was told to forget', oneSidedForget, { patienceMs: 240_000 }),
  scenario('fix: the majority of primaries dead', lostQuorum, { patienceMs: 180_000 }),
  scenario('fix: two halves that do not know each other are refused', halves, { patienceMs: 240_000 }),
];
