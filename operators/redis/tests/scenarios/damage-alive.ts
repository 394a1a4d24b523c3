/** Nodes that are alive and change, by themselves or by hand, while our tool works: addresses, primaries, a vote that is due. */
import assert from 'node:assert/strict';
import {
  addressOf,
  type Cluster,
  type ClusterOptions,
  fillSlot,
  nodeId,
  parseNodes,
  type Server,
  until,
  waitUntilAgreed,
} from '@reeve/rig';
import { primaryOf, tables } from './damage-members.ts';
import { setUp } from './mending.ts';
import { type Scenario, scenario } from './topology.ts';
import { type Figures, isPrimary, slotCounts, type World } from './world.ts';

function ownHost(index: number): string {
  return `127.0.3.${10 + index}`;
}

/** The servers' default, which the rig otherwise switches off. Each node is a host of its own: wherever one goes, it is welcome. */
const WANDERING: Partial<ClusterOptions> = {
  extraConfig: ['cluster-allow-replica-migration yes'],
  hostOf: ownHost,
};

async function wandering(world: World, options: { readonly primaries: number; readonly nodeTimeoutMs?: number }) {
  const cluster = await world.cluster({ replicas: 1, ...WANDERING, ...options });
  await world.startTraffic(cluster.servers);
  const [entry, target] = cluster.primaries;
  const [last, itsReplica] = [cluster.primaries.at(-1), cluster.replicas.at(-1)];
  assert.ok(entry && target && last && itsReplica);
  return { cluster, entry, target, last, itsReplica };
}

/** A primary that loses its last slot becomes a replica of who got it, and its replicas follow (redis#13174). */
async function emptiedByReshard(world: World): Promise<Figures> {
  const { cluster, entry, target, last, itsReplica } = await wandering(world, { primaries: 4 });
  const id = await nodeId(target);
  const all = ['--slots', '4096', '--fast'];
  await world.reeve(entry, 'reshard', '--from', await nodeId(last), '--to', id, ...all);
  assert.deepEqual(await slotCounts([target]), [8192]);
  await until('both follow the new owner', async () => {
    return (await primaryOf(last)) === id && (await primaryOf(itsReplica)) === id;
  });
  await waitUntilAgreed(cluster.servers);
  await world.reeve(entry, 'fix');
  // What redis-cli failed at: the next change.
  await world.reeve(last, 'reshard', '--from', id, '--to', await nodeId(entry), '--slots', '500');
  await world.reeve(entry, 'del-node', '--node', addressOf(last.endpoint));
  return world.end(cluster.servers.filter((server) => server !== last));
}

/** It turns into a replica in the middle of its own deletion, and takes its replica along. */
async function emptiedByDeletion(world: World): Promise<Figures> {
  const { cluster, entry, last, itsReplica } = await wandering(world, { primaries: 4 });
  await world.reeve(entry, 'del-node', '--node', addressOf(last.endpoint), '--fast');
  assert.match(String(await last.call('CLUSTER', 'INFO')), /cluster_known_nodes:1\r/);
  assert.ok(!(await isPrimary(itsReplica)), 'its replica has another primary');
  await world.reeve(entry, 'rebalance', '--fast');
  return world.end(cluster.servers.filter((server) => server !== last));
}

/**
 * A spare replica of another primary goes to the one that has lost its only one. Our tool is asked to mend while it is on
 * its way, and deletes the dead one after that: a primary that knows of no replica at all is sent none.
 */
async function lostOnlyReplica(world: World): Promise<Figures> {
  const { cluster, entry, last, itsReplica } = await wandering(world, { primaries: 3, nodeTimeoutMs: 2000 });
  const [spare] = await world.servers(1, { ...WANDERING, hostOf: () => ownHost(20), nodeTimeoutMs: 2000 });
  assert.ok(spare);
  await world.reeve(entry, 'add-node', '--node', addressOf(spare.endpoint), '--replica', '--of', await nodeId(entry));
  const alive = [...cluster.servers, spare].filter((server) => server !== itsReplica);
  const dead = await nodeId(itsReplica);
  await itsReplica.kill9();
  await untilFailed(alive, dead);
  const orphan = await nodeId(last);
  const arrived = until(
    'a spare replica has come to the orphan',
    async () => (await Promise.all(alive.map(primaryOf))).includes(orphan),
    { timeoutMs: 60_000 },
  );
  await Promise.all([world.reeve(entry, 'fix'), arrived]);
  // A fix that had nothing to do may be over before everybody has heard of it.
  await until('all know whom each of them follows', async () => {
    const pictures = await Promise.all(alive.map(followers));
    return new Set(pictures).size === 1;
  });
  await world.reeve(entry, 'del-node', '--node', dead);
  return world.end(alive, { replicasPerPrimary: 1 });
}

/** Who follows whom in the eyes of a server. */
async function followers(server: Server): Promise<string> {
  const lines = parseNodes(String(await server.call('CLUSTER', 'NODES')));
  return lines
    .map(({ id, primaryId }) => `${id} ${primaryId ?? ''}`)
    .sort()
    .join('\n');
}

/** Every one of them calls it failed. */
async function untilFailed(by: readonly Server[], id: string): Promise<void> {
  const calls = async (server: Server) =>
    parseNodes(String(await server.call('CLUSTER', 'NODES'))).some(
      (line) => line.id === id && line.flags.includes('fail'),
    );
  await until('all call it failed', async () => (await Promise.all(by.map(calls))).every(Boolean), {
    timeoutMs: 60_000,
  });
}

/**
 * A primary and a replica say from now on that they are elsewhere. The servers pass that on by themselves: our tool runs
 * while they do, must not be led astray, and must reach the nodes where they say they are.
 */
async function announcedElsewhere(world: World): Promise<Figures> {
  const later = (index: number) => `127.0.4.${10 + index}`;
  const indices = Array.from({ length: 6 }, (_, index) => index);
  // Each listens at both of its addresses from the beginning, and, being given one list for all, at those of the others.
  const bind = `bind ${[...indices.map(ownHost), ...indices.map(later)].join(' ')}`;
  const cluster = await world.cluster({ primaries: 3, replicas: 1, hostOf: ownHost, extraConfig: [bind] });
  await world.startTraffic(cluster.servers);
  const written = await fillSlot(cluster, 100, 30);
  const [entry, primary] = cluster.primaries;
  assert.ok(entry && primary);
  const moved = [1, 5].map((index) => ({ server: cluster.servers[index] as Server, host: later(index) }));
  await Promise.all(moved.map(({ server, host }) => server.call('CONFIG', 'SET', 'cluster-announce-ip', host)));
  await world.reeve(entry, 'fix');
  await until('everybody knows where they are', async () => namesAll(cluster, moved));
  const check = await world.look(entry, 'check');
  assert.equal(check.code, 0, check.stdout);
  const pace = ['--slots', '300', '--fast', '--engine', 'windowed'];
  await world.reeve(entry, 'reshard', '--from', await nodeId(entry), '--to', await nodeId(primary), ...pace);
  await world.reeve(primary, 'reshard', '--from', await nodeId(primary), '--to', await nodeId(entry), ...pace);
  return world.end(cluster.servers, { replicasPerPrimary: 1, written });
}

async function namesAll(
  cluster: Cluster,
  moved: readonly { readonly server: Server; readonly host: string }[],
): Promise<boolean> {
  for (const { server, host } of moved) {
    const id = await nodeId(server);
    for (const other of cluster.servers) {
      const lines = parseNodes(String(await other.call('CLUSTER', 'NODES')));
      if (lines.find((line) => line.id === id)?.host !== host) return false;
    }
  }
  return true;
}

/** The replica asks for votes, but hears nobody: until it does, its dead primary must not be forgotten. */
async function failoverPending(world: World): Promise<Figures> {
  const { cluster, entry } = await setUp(world, { busProxy: true, nodeTimeoutMs: 2000 });
  const [dead] = cluster.primaries;
  const [heir] = cluster.replicas;
  assert.ok(dead && heir?.busProxy);
  const alive = cluster.servers.filter((server) => server !== dead);
  await world.permitLossOf([dead]);
  heir.busProxy.cut();
  const id = await nodeId(dead);
  await dead.kill9();
  await untilFailed(alive, id);
  const before = await tables({ ...cluster, servers: alive });
  const refused = await world.tryReeve(entry, 'del-node', '--node', id);
  assert.equal(refused.code, 3, `${refused.stdout}${refused.stderr}`);
  assert.match(refused.stdout, /FAILOVER_PENDING/);
  assert.deepEqual(await tables({ ...cluster, servers: alive }), before, 'nobody has forgotten it');
  assert.ok(!(await isPrimary(heir)), 'it was pending all the time');
  heir.busProxy.heal();
  await until('the replica has taken over', () => isPrimary(heir), { timeoutMs: 60_000 });
  await waitUntilServing(alive);
  await world.reeve(entry, 'del-node', '--node', id);
  return world.end(alive);
}

async function waitUntilServing(servers: readonly Server[]): Promise<void> {
  await until(
    'all serve again',
    async () => {
      const states = await Promise.all(servers.map(async (server) => String(await server.call('CLUSTER', 'INFO'))));
      return states.every((state) => state.includes('cluster_state:ok'));
    },
    { timeoutMs: 60_000 },
  );
}

export const changedWhileAlive: readonly Scenario[] = [
  scenario('replica migration on: a reshard empties a primary with a replica', emptiedByReshard),
  scenario('replica migration on: a primary with a replica is deleted', emptiedByDeletion),
  scenario('replica migration on: a primary loses its only replica', lostOnlyReplica, { patienceMs: 120_000 }),
  scenario('fix: announced addresses changed while the nodes run', announcedElsewhere),
  scenario('del-node of a dead primary whose failover is pending is refused', failoverPending, { patienceMs: 120_000 }),
];
