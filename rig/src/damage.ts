/**
 * Damage made on purpose on real servers, with raw commands: every kind that a fix must understand.
 * Each function needs a healthy cluster and leaves it in the state its name says.
 */
import { connect } from './servers/connection.ts';
import { type Cluster, nodeId } from './servers/cluster.ts';
import { parseNodes } from './servers/nodes.ts';
import type { Server } from './servers/server.ts';
import { until } from './servers/until.ts';
import { tagForSlot } from './slot.ts';

/** Key → value as written. */
export type Written = ReadonlyMap<string, string>;

/** `count` keys that lie in the slot, and a value for each. */
export function entriesIn(slot: number, count: number, prefix = 'key'): Written {
  const tag = tagForSlot(slot);
  return new Map(
    Array.from({ length: count }, (_, index) => [`${prefix}:${index}:{${tag}}`, `${prefix} value ${index}`]),
  );
}

/** Writes `count` keys of a slot to its owner. */
export async function fillSlot(cluster: Cluster, slot: number, count: number, prefix = 'key'): Promise<Written> {
  const owner = await ownerOf(cluster, slot);
  const written = entriesIn(slot, count, prefix);
  await Promise.all([...written].map(([key, value]) => owner.call('SET', key, value)));
  return written;
}

/** The server whose own line claims the slot. */
export async function ownerOf(cluster: Cluster, slot: number): Promise<Server> {
  for (const server of cluster.servers) {
    if (!server.running) continue;
    const own = parseNodes(String(await server.call('CLUSTER', 'NODES'))).find((line) => line.myself);
    if (own?.role === 'primary' && own.slots.some(([first, last]) => first <= slot && slot <= last)) return server;
  }
  throw new Error(`nobody owns slot ${slot}`);
}

/** The other primaries, in the order they were started. */
async function othersThan(cluster: Cluster, owner: Server): Promise<readonly Server[]> {
  const others: Server[] = [];
  for (const server of cluster.servers) {
    if (server === owner || !server.running) continue;
    if (String(await server.call('INFO', 'replication')).includes('role:master')) others.push(server);
  }
  return others;
}

async function parties(
  cluster: Cluster,
  slot: number,
): Promise<{ owner: Server; others: readonly Server[]; at: (index: number) => Server }> {
  const owner = await ownerOf(cluster, slot);
  const others = await othersThan(cluster, owner);
  const at = (index: number) => {
    const server = others[index];
    if (!server) throw new Error('this damage needs more primaries');
    return server;
  };
  return { owner, others, at };
}

async function importing(server: Server, slot: number, from: Server): Promise<void> {
  await server.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', await nodeId(from));
}

async function migrating(server: Server, slot: number, to: Server): Promise<void> {
  await server.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', await nodeId(to));
}

/** Moves up to `count` keys of the slot; the target must be importing. Returns the keys. */
async function moveKeys(from: Server, to: Server, slot: number, count: number): Promise<readonly string[]> {
  const keys = ((await from.call('CLUSTER', 'GETKEYSINSLOT', slot, count)) as string[]).sort();
  const { username, password } = from.access;
  const auth =
    password === undefined ? [] : username === undefined ? ['AUTH', password] : ['AUTH2', username, password];
  const { host, port } = to.endpoint;
  if (keys.length > 0) await from.call('MIGRATE', host, port, '', 0, 5000, ...auth, 'KEYS', ...keys);
  return keys;
}

/** Writes keys to a node that does not own their slot, by way of an import that is opened for it. */
async function writeWhereNotOwned(
  server: Server,
  owner: Server,
  slot: number,
  entries: Written,
  close: boolean,
): Promise<void> {
  await importing(server, slot, owner);
  const connection = await connect(server.endpoint, server.access);
  try {
    for (const [key, value] of entries) {
      await connection.call('ASKING');
      await connection.call('SET', key, value);
    }
  } finally {
    connection.close();
  }
  if (close) await server.call('CLUSTER', 'SETSLOT', slot, 'STABLE');
}

// Open slots (the cases of the server tools' own fix)

/** Case 1, a half-finished migration: how far it came before whoever drove it died. */
export async function halfFinishedMigration(
  cluster: Cluster,
  slot: number,
  stage: 'opened' | 'some-keys' | 'all-keys' | 'target-told',
): Promise<{ source: Server; target: Server }> {
  const { owner, at } = await parties(cluster, slot);
  const target = at(0);
  await importing(target, slot, owner);
  await migrating(owner, slot, target);
  if (stage === 'some-keys') {
    const count = Number(await owner.call('CLUSTER', 'COUNTKEYSINSLOT', slot));
    await moveKeys(owner, target, slot, Math.ceil(count / 2));
  }
  if (stage === 'all-keys' || stage === 'target-told') await moveKeys(owner, target, slot, 1_000_000);
  if (stage === 'target-told') await target.call('CLUSTER', 'SETSLOT', slot, 'NODE', await nodeId(target));
  return { source: owner, target };
}

/** Case 2: nobody migrating; one or more importing, each with some of the keys. */
export async function importingOnly(cluster: Cluster, slot: number, importers = 1): Promise<readonly Server[]> {
  const { owner, at } = await parties(cluster, slot);
  const count = Number(await owner.call('CLUSTER', 'COUNTKEYSINSLOT', slot));
  const servers = Array.from({ length: importers }, (_, index) => at(index));
  for (const server of servers) {
    await importing(server, slot, owner);
    await moveKeys(owner, server, slot, Math.floor(count / (importers + 1)));
  }
  return servers;
}

/**
 * Case 3: one migrating, two importing. `target`: one of the two is the recorded target; `elsewhere`: neither is (needs
 * four primaries). With `keys` each importer holds some: the case the server tools leave to a person.
 */
export async function oneMigratingTwoImporting(
  cluster: Cluster,
  slot: number,
  options: { readonly recorded: 'target' | 'elsewhere'; readonly keys?: boolean },
): Promise<void> {
  const { owner, at } = await parties(cluster, slot);
  const importers = [at(0), at(1)];
  for (const server of importers) await importing(server, slot, owner);
  await migrating(owner, slot, options.recorded === 'target' ? at(0) : at(2));
  if (!options.keys) return;
  const count = Number(await owner.call('CLUSTER', 'COUNTKEYSINSLOT', slot));
  for (const server of importers) await moveKeys(owner, server, slot, Math.max(1, Math.floor(count / 3)));
}

/** Case 4: the owner migrates, nobody imports. */
export async function migratingOnly(cluster: Cluster, slot: number): Promise<void> {
  const { owner, at } = await parties(cluster, slot);
  await migrating(owner, slot, at(0));
}

// Slots nobody owns

/** DELSLOTS on every node, so that no view has an owner for them. Keys stay where they are. */
export async function uncover(cluster: Cluster, slots: readonly number[]): Promise<void> {
  // A packet of the owner from before brings a slot back: until a whole round finds none.
  await until('nobody owns the slots', async () => {
    let isFree = true;
    for (const server of cluster.servers) {
      if (!server.running) continue;
      const owned = parseNodes(String(await server.call('CLUSTER', 'NODES'))).flatMap((line) => line.slots);
      const known = slots.filter((slot) => owned.some(([first, last]) => first <= slot && slot <= last));
      if (known.length === 0) continue;
      isFree = false;
      await server.call('CLUSTER', 'DELSLOTS', ...known);
    }
    return isFree;
  });
}

/**
 * A slot without owner whose keys lie on several nodes: `ownKeys` on the former owner (written before), `equal` of them
 * copied with the same value to another node, `conflicting` of them there with another value, `foreign` only there.
 */
export async function uncoverWithKeysOnSeveral(
  cluster: Cluster,
  slot: number,
  written: Written,
  share: { readonly equal?: number; readonly conflicting?: number; readonly foreign?: number },
): Promise<{ former: Server; other: Server; conflicting: readonly string[]; foreign: Written }> {
  const { owner, at } = await parties(cluster, slot);
  const other = at(0);
  const entries = [...written];
  const equal = entries.slice(0, share.equal ?? 0);
  const conflicting = entries.slice(equal.length, equal.length + (share.conflicting ?? 0));
  const foreign = entriesIn(slot, share.foreign ?? 0, 'foreign');
  const there = new Map([
    ...equal,
    ...conflicting.map(([key]) => [key, `another value of ${key}`] as const),
    ...foreign,
  ]);
  await writeWhereNotOwned(other, owner, slot, there, true);
  await uncover(cluster, [slot]);
  return { former: owner, other, conflicting: conflicting.map(([key]) => key), foreign };
}

/** Keys on a node that does not own their slot, while the owner is well known: unreachable for clients. */
export async function strayKeys(cluster: Cluster, slot: number, entries: Written, on?: Server): Promise<Server> {
  const { owner, at } = await parties(cluster, slot);
  const server = on ?? at(0);
  await writeWhereNotOwned(server, owner, slot, entries, true);
  return server;
}

// States that gossip settles by itself: the bus is cut while they last (cluster with `busProxy`)

export interface Held {
  /** Lets the nodes talk again; the servers then settle it their own way, whoever loses drops the keys. */
  heal(): void;
}

export function cutBus(cluster: Cluster): Held {
  const proxies = cluster.servers.map(({ busProxy }) => {
    if (!busProxy) throw new Error('start the cluster with busProxy');
    return busProxy;
  });
  for (const proxy of proxies) proxy.cut();
  return {
    heal: () => {
      for (const proxy of proxies) proxy.heal();
    },
  };
}

/** Another primary claims the slot, too, and holds these keys of it. */
export async function severalOwners(
  cluster: Cluster,
  slot: number,
  keys: Written = new Map(),
): Promise<Held & { owner: Server; claimant: Server }> {
  const { owner, at } = await parties(cluster, slot);
  const claimant = at(0);
  if (keys.size > 0) await writeWhereNotOwned(claimant, owner, slot, keys, true);
  const held = cutBus(cluster);
  await claimant.call('CLUSTER', 'DELSLOTS', slot);
  await claimant.call('CLUSTER', 'ADDSLOTS', slot);
  return { ...held, owner, claimant };
}

/** Two primaries with the same config epoch: both took the next one without hearing of each other. */
export async function epochCollision(cluster: Cluster): Promise<Held & { servers: readonly [Server, Server] }> {
  const [first, second] = cluster.primaries;
  if (!first || !second) throw new Error('needs two primaries');
  const held = cutBus(cluster);
  // A node takes a new epoch only if it has not the highest already: the loop ends with both on one number.
  const epochs = async () =>
    Promise.all(
      [first, second].map(async (server) =>
        Number(/cluster_my_epoch:(\d+)/.exec(String(await server.call('CLUSTER', 'INFO')))?.[1]),
      ),
    );
  await first.call('CLUSTER', 'BUMPEPOCH');
  await second.call('CLUSTER', 'BUMPEPOCH');
  const [a, b] = await epochs();
  if (a !== b) throw new Error(`no collision: ${a} and ${b}`);
  return { ...held, servers: [first, second] };
}

// Whole nodes

/** All nodes restart at other addresses; their nodes.conf still names the old ones. */
export async function restartAllElsewhere(cluster: Cluster, hostOf?: (index: number) => string): Promise<void> {
  await Promise.all(cluster.servers.map((server) => server.shutdown()));
  await Promise.all(
    cluster.servers.map((server, index) => server.restart({ port: 0, ...(hostOf ? { host: hostOf(index) } : {}) })),
  );
}

/** The replica cannot log in to its primary: gossip says all is well, but nothing is replicated. */
export async function breakReplicaLink(cluster: Cluster): Promise<{ replica: Server; repair(): Promise<void> }> {
  const replica = cluster.replicas[0];
  if (!replica) throw new Error('needs a replica');
  const { username = '', password = '' } = replica.access;
  await replica.call('CONFIG', 'SET', 'masteruser', 'nobody-of-this-name', 'masterauth', 'wrong');
  const primaryId = parseNodes(String(await replica.call('CLUSTER', 'NODES'))).find((line) => line.myself)?.primaryId;
  for (const server of cluster.servers) {
    if ((await nodeId(server)) === primaryId) await server.call('CLIENT', 'KILL', 'TYPE', 'replica');
  }
  await until('the link is down', async () =>
    String(await replica.call('INFO', 'replication')).includes('master_link_status:down'),
  );
  return {
    replica,
    repair: async () => {
      await replica.call('CONFIG', 'SET', 'masteruser', username, 'masterauth', password);
    },
  };
}

/** The majority of primaries dies at once: nobody is left to vote for their replicas. */
export async function loseQuorum(cluster: Cluster): Promise<readonly Server[]> {
  const primaries: Server[] = [];
  for (const server of cluster.servers) {
    if (String(await server.call('INFO', 'replication')).includes('role:master')) primaries.push(server);
  }
  const victims = primaries.slice(0, Math.floor(primaries.length / 2) + 1);
  await Promise.all(victims.map((server) => server.kill9()));
  return victims;
}

/** The nodes of each half forget those of the other: two clusters, each with a part of the slots. Shards stay whole. */
export async function splitInHalves(cluster: Cluster): Promise<readonly [readonly Server[], readonly Server[]]> {
  const ids = new Map<Server, string>();
  const shards = new Map<Server, string>();
  for (const server of cluster.servers) {
    const own = parseNodes(String(await server.call('CLUSTER', 'NODES'))).find((line) => line.myself);
    ids.set(server, own?.id ?? '');
    shards.set(server, own?.role === 'replica' ? own.primaryId : (own?.id ?? ''));
  }
  // Who is a primary now: a failover may have changed it since the start.
  const primaryIds = [...new Set(shards.values())];
  const firstIds = primaryIds.slice(0, Math.ceil(primaryIds.length / 2));
  const halves: [Server[], Server[]] = [[], []];
  for (const [server, shard] of shards) halves[firstIds.includes(shard) ? 0 : 1].push(server);
  const [left, right] = halves;
  const forget = (from: readonly Server[], whom: readonly Server[]) =>
    from.flatMap((server) => whom.map((other) => server.call('CLUSTER', 'FORGET', ids.get(other) as string)));
  await Promise.all([...forget(left, right), ...forget(right, left)]);
  return halves;
}
